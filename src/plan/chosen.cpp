// SPDX-License-Identifier: BSD-3-Clause
#include "chosen.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "common/of_type.hpp"
#include "tiling/planning.hpp"
#include "tiling/tile_size.hpp"

namespace tessera::plan {

namespace {

constexpr std::array<Index, 5> tiles{4096, 2048, 1024, 512, 256};

double element_size(char type) { return static_cast<double>(size_of(type)); }

/// The model if it covers a call: GPUs own tiles, and the operands fit into their memory. Otherwise null.
/// @param bytes  size of the operands
const Machine* model_for(const detail::Machine& machine, char type, double bytes) {
  constexpr int most_gpus = 32;
  if (!machine.has_owners() || machine.gpu_count() == 0 || machine.gpu_count() > most_gpus || bytes <= 0)
    return nullptr;
  const auto& model = model_of(machine, type);
  if (model.gpus.empty()) return nullptr;
  const bool in_core = model.memory <= 0 || bytes <= detail::most_of_memory * model.memory * machine.gpu_count();
  return in_core ? &model : nullptr;
}

bool fits(const Machine& model, const Candidate& candidate, double bytes) {
  return model.memory <= 0 || bytes <= detail::most_of_memory * model.memory * candidate.gpus;
}

/// Cache of choices, keyed by call and machine.
template <typename Candidate>
class Memory {
 public:
  using Key = std::tuple<char, char, int, Index, Index, Index, Index, std::vector<int>, double, int>;

  /// @param candidates  (): returns a Search over the candidates
  /// @return  empty if no candidate could be rehearsed
  template <typename Candidates>
  std::optional<ChoiceOf<Candidate>> find(const detail::Machine& machine, const Key& key, Candidates candidates) {
    if (machine.considered != nullptr) candidates().explain(*machine.considered);
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = choices_.find(key); found != choices_.end()) return found->second;
    }
    const auto made = candidates().best();
    if (made.seconds == never) return std::nullopt;
    const std::lock_guard lock(mutex_);
    if (choices_.size() >= most) choices_.clear();
    return choices_[key] = made;
  }

 private:
  static constexpr std::size_t most = 1000;  ///< programs hardly use calls of more shapes
  std::mutex mutex_;
  std::map<Key, ChoiceOf<Candidate>> choices_;
};

template <typename Candidate>
Memory<Candidate>& memory() {
  static auto& all = *new Memory<Candidate>;  // other threads may plan while the process exits
  return all;
}

/// Whether half the tile size would also cover the whole extent.
bool too_large(Index tile, Index extent) { return tile > tiles.back() && tile / 2 >= extent; }

template <typename Call>
Search<Call> search_square(const Machine& model, const detail::Machine& machine, const Call& call, Index longest,
                           double bytes) {
  Search<Call> search(model, machine, call);
  for (int gpus = 1; gpus <= machine.gpu_count(); gpus++)
    for (const Index tile : tiles) {
      const Candidate candidate{tile, tile, gpus};
      const bool one_tile = tile >= longest;
      if ((one_tile && gpus > 1) || too_large(tile, call.order()) || !fits(model, candidate, bytes)) continue;
      search.add(candidate);
    }
  return search;
}

Search<Triangular> search_triangular(const Machine& model, const detail::Machine& machine, const Triangular& call,
                                     std::span<const Candidate> panels, double bytes) {
  Search<Triangular> search(model, machine, call);
  for (int gpus = 1; gpus <= machine.gpu_count(); gpus++)
    for (const Index tile : tiles)
      for (const Index width : tiles) {
        const Candidate candidate{tile, width, gpus};
        if (too_large(tile, call.order()) || too_large(width, call.columns())) continue;
        const bool cut = tile < call.order() && width < call.columns(), slim = 4 * width < tile || 4 * tile < width;
        if ((cut && slim) || !fits(model, candidate, bytes)) continue;
        search.add(candidate, call.estimate(model, candidate, machine.has_copies()));
      }
  for (const auto& candidate : panels) search.add(candidate);  // these are rehearsed first: they are few
  return search;
}

/// @param height  (width): rows of a tile
template <typename Call, typename Height>
Search<Call> search_panels(const Machine& model, const detail::Machine& machine, const Call& call, Height height,
                           double bytes) {
  Search<Call> search(model, machine, call);
  for (int gpus = 1; gpus <= machine.gpu_count(); gpus++)
    for (const Index width : tiles) {
      const Candidate candidate{height(width), width, gpus};
      const bool is_legal = detail::panel_fits(detail::machine_model(machine, call.type), call.m, width);
      if (is_legal && !too_large(width, call.order()) && fits(model, candidate, bytes)) search.add(candidate);
    }
  return search;
}

/// @param factorization  the operation on a panel
/// @param height         (width): rows of a tile
template <typename Call, typename Height>
std::optional<Choice> choose_panels(const detail::Machine& machine, const char* factorization, const Call& call,
                                    Height height) {
  const double bytes = element_size(call.type) * static_cast<double>(call.m) * static_cast<double>(call.n);
  const auto* const model = model_for(machine, call.type, bytes);
  const auto is_timed = [&](const Gpu& gpu) { return gpu.panels.contains(factorization); };
  if (model == nullptr || !std::ranges::all_of(model->gpus, is_timed)) return std::nullopt;
  constexpr int panels = 8;  // triangular calls, whose letter may be the same, have 0 to 7
  return memory<Candidate>().find(
      machine,
      {factorization[2], call.type, panels, call.m, call.n, 0, 0, machine.gpus, machine.gpu_memory, machine.operands},
      [&] { return search_panels(*model, machine, call, height, bytes); });
}

/// What the formulas would choose, which others must clearly surpass, and what they compare with it.
Search<Sums> search_sums(const Machine& model, const detail::Machine& machine, const Sums& call,
                         const CompareTiles& compare, double bytes) {
  Search<Sums> search(model, machine, call);
  const int all = machine.gpu_count();
  for (int gpus = machine.tile > 0 ? all : 1; gpus <= all; gpus = gpus < all ? std::min(2 * gpus, all) : all + 1)
    for (bool first = gpus == all; auto& [plan, seconds] : compare(gpus)) {
      const bool fits = model.memory <= 0 || bytes <= detail::most_of_memory * model.memory * gpus;
      const bool by_formula = std::exchange(first, false);
      if (fits && by_formula) search.add(plan, 0);
      else if (fits) search.add(plan, seconds, clear_gain_of_sums);
    }
  return search;
}

}  // namespace

std::optional<ChoiceOf<detail::Plan>> choose_sums(const detail::Machine& machine, const Sums& call,
                                                  const CompareTiles& compare) {
  const double bytes = call.bytes();
  const auto* const model = model_for(machine, call.type, bytes);
  if (model == nullptr) return std::nullopt;
  const int what =
      static_cast<int>(call.what) + 8 * (call.op_a == Op::NoTrans ? 0 : 1) + 16 * (call.op_b == Op::NoTrans ? 0 : 1);
  return memory<detail::Plan>().find(
      machine,
      {'p', call.type, what, call.m, call.n, call.k, machine.tile, machine.gpus, machine.gpu_memory, machine.operands},
      [&] { return search_sums(*model, machine, call, compare, bytes); });
}

std::optional<Choice> choose_cholesky(const detail::Machine& machine, char type, Index n) {
  const double bytes = element_size(type) / 2 * static_cast<double>(n) * static_cast<double>(n);
  const auto* const model = model_for(machine, type, bytes);
  if (model == nullptr) return std::nullopt;
  const Cholesky call{type, n};
  return memory<Candidate>().find(machine,
                                  {'c', type, 0, n, n, 0, 0, machine.gpus, machine.gpu_memory, machine.operands},
                                  [&] { return search_square(*model, machine, call, n, bytes); });
}

std::optional<Choice> choose_lu_nopiv(const detail::Machine& machine, char type, Index m, Index n) {
  const double bytes = element_size(type) * static_cast<double>(m) * static_cast<double>(n);
  const auto* const model = model_for(machine, type, bytes);
  if (model == nullptr) return std::nullopt;
  const LuNoPiv call{{type, m, n}};
  return memory<Candidate>().find(machine,
                                  {'l', type, 0, m, n, 0, 0, machine.gpus, machine.gpu_memory, machine.operands},
                                  [&] { return search_square(*model, machine, call, std::max(m, n), bytes); });
}

std::optional<Choice> choose_lu(const detail::Machine& machine, char type, Index m, Index n) {
  return choose_panels(machine, "getrf", Lu{{type, m, n}}, [&](Index width) {
    return detail::choose_lu_panel(detail::machine_model(machine, type), m, std::min(m, n), width).m;
  });
}

std::optional<Choice> choose_qr(const detail::Machine& machine, char type, Index m, Index n) {
  return choose_panels(machine, "geqrf", Qr{{type, m, n}}, [m](Index /*width*/) { return m; });
}

std::optional<Choice> choose_triangular(const detail::Machine& machine, char type, Side side, bool inverse, Index order,
                                        Index columns, std::span<const Candidate> panels) {
  const double bytes =
      element_size(type) * static_cast<double>(order) * (static_cast<double>(order) / 2 + static_cast<double>(columns));
  const auto* const model = model_for(machine, type, bytes);
  if (model == nullptr || columns < 1) return std::nullopt;
  const int which = (side == Side::Left ? 1 : 0) + (inverse ? 2 : 0) + (panels.empty() ? 0 : 4);
  const Triangular call{type, side, inverse, order, columns};
  return memory<Candidate>().find(
      machine, {'t', type, which, order, columns, 0, 0, machine.gpus, machine.gpu_memory, machine.operands},
      [&] { return search_triangular(*model, machine, call, panels, bytes); });
}

}  // namespace tessera::plan
