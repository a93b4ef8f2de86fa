// SPDX-License-Identifier: BSD-3-Clause
#include "blacs_grids.hpp"

#include <string>
#include <vector>

#include <tessera/error.hpp>

#include "common/not_copyable.hpp"

// The program's BLACS. They are resolved when a program with ScaLAPACK is loaded; other programs do not need them.
extern "C" {
[[gnu::weak]] void Cblacs_gridinfo(int context, int* p, int* q, int* row, int* column);
[[gnu::weak]] void Cblacs_get(int context, int what, int* value);
[[gnu::weak]] int Cblacs_pnum(int context, int row, int column);
[[gnu::weak]] MPI_Comm Cblacs2sys_handle(int handle);
}

namespace tessera::distributed {

namespace {

/// A group that is freed by the destructor.
struct Group : common::NotCopyable {
  MPI_Group group = MPI_GROUP_NULL;
  ~Group() {
    if (group != MPI_GROUP_NULL) MPI_Group_free(&group);
  }
};

int size_of(MPI_Group group) {
  int size = 0;
  MPI_Group_size(group, &size);
  return size;
}

bool same(MPI_Group a, MPI_Group b) {
  int result = MPI_UNEQUAL;
  MPI_Group_compare(a, b, &result);
  return result == MPI_IDENT;
}

/// The number of processes that two groups have in common.
int common(MPI_Group a, MPI_Group b) {
  Group both;
  MPI_Group_intersection(a, b, &both.group);
  return size_of(both.group);
}

}  // namespace

BlacsGrids& BlacsGrids::of_process() {
  static auto* const all = new BlacsGrids;  // never destroyed: MPI_Finalize clears it
  return *all;
}

const Grid& BlacsGrids::of(int context) {
  if (Cblacs_gridinfo == nullptr || Cblacs_get == nullptr || Cblacs_pnum == nullptr || Cblacs2sys_handle == nullptr)
    throw RuntimeError("the descriptor names a BLACS context, but the program has no BLACS");
  int p = 0, q = 0, row = -1, column = -1;
  Cblacs_gridinfo(context, &p, &q, &row, &column);
  if (row < 0)
    throw RuntimeError("this process is not in the grid of BLACS context " + std::to_string(context) +
                       ", or the context has ended");
  constexpr int system_handle = 10;
  int handle = 0;
  Cblacs_get(context, system_handle, &handle);
  std::vector<int> ranks;
  for (int i = 0; i < p; i++)
    for (int j = 0; j < q; j++) ranks.push_back(Cblacs_pnum(context, i, j));
  MPI_Comm all = Cblacs2sys_handle(handle), of_grid = MPI_COMM_NULL;
  int mine = -1;
  MPI_Comm_rank(all, &mine);
  if (mine != ranks[static_cast<std::size_t>(row * q + column)])
    throw RuntimeError("the program's BLACS number the processes in an unknown way");
  Group group, of_context;
  MPI_Comm_group(all, &group.group);
  MPI_Group_incl(group.group, p * q, ranks.data(), &of_context.group);
  for (const auto& known : all_)
    if (known.grid.p() == p && known.grid.q() == q && same(known.processes, of_context.group)) return known.grid;
  make_room(of_context.group);
  constexpr int tag = 7331;
  MPI_Comm_create_group(all, of_context.group, tag, &of_grid);
  try {
    all_.push_back({MPI_GROUP_NULL, Grid(p, q, of_grid)});
  } catch (...) {
    MPI_Comm_free(&of_grid);
    throw;
  }
  clear_in_finalize();
  MPI_Comm_group(of_grid, &all_.back().processes);
  MPI_Comm_free(&of_grid);  // the grid has its own communicator
  return all_.back().grid;
}

void BlacsGrids::make_room(MPI_Group processes) {
  if (all_.empty()) return;
  const auto& ours = all_.front().processes;  // all grids have the same processes
  const int shared = common(ours, processes);
  if (shared == size_of(ours) && shared == size_of(processes)) return;
  if (shared < size_of(ours))
    throw RuntimeError("this BLACS context lacks " + std::to_string(size_of(ours) - shared) + " of the " +
                       std::to_string(size_of(ours)) + " processes of an earlier one: later grids may have any shape " +
                       "and order, but need all of these processes");
  clear();  // all processes of these grids are here
}

void BlacsGrids::clear() {
  for (auto& known : all_) MPI_Group_free(&known.processes);
  all_.clear();
}

void BlacsGrids::clear_in_finalize() {
  if (finalize_is_watched_) return;
  finalize_is_watched_ = true;
  // MPI_Finalize deletes the attributes of MPI_COMM_SELF first, while messages can still be sent. The last attribute is
  // deleted first: before that with which a Grid refuses to be finalized.
  const auto finalizes = [](MPI_Comm, int, void* grids, void*) {
    static_cast<BlacsGrids*>(grids)->clear();
    return MPI_SUCCESS;
  };
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalizes, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, this);
}

}  // namespace tessera::distributed
