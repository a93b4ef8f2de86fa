// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sinks/loader.hpp"
#include "sinks/submit.hpp"
#include "tile/ops.hpp"

/// Two ways to execute an algorithm: submit its tasks, or load its inputs.
namespace tessera::algorithms {

/// Submits the tasks of an algorithm.
/// @param algorithm  (tile::Ops<Sink>&)
template <typename Algorithm>
void submit(sinks::Submitter& submitter, const Algorithm& algorithm) {
  tile::Ops<sinks::Submitter> to(submitter.machine(), submitter, submitter.type());
  algorithm(to);
}

/// Requests the tiles that an algorithm reads, in the order of first use. Without these requests the links would be
/// idle until the first results exist, because StarPU shows the policy only tasks whose inputs exist.
/// @param type       letter of the elements
/// @param on, delay  see Loader
/// @pre  the GPUs have room for all tiles, and no submitted task writes one of them
template <typename Algorithm>
void load(const detail::Session& session, char type, const Algorithm& algorithm,
          sinks::LoadOn on = sinks::LoadOn::FirstUser, Index delay = 0) {
  sinks::Loader loader(session, on, delay);
  tile::Ops<sinks::Loader> to(session.machine(), loader, type);
  algorithm(to);
  loader.finish();
}

/// Loads the inputs of an algorithm and submits its tasks. Without owners, nothing is loaded.
/// @param gpus  see Submitter
template <typename Algorithm>
void load_and_submit(const detail::Session& session, const tile::Stored& output, const Algorithm& algorithm,
                     int gpus = 0) {
  if (session.machine().has_owners()) load(session, output.type(), algorithm);
  sinks::Submitter submitter(session, output, gpus);
  submit(submitter, algorithm);
}

/// Submits the task that delivers what a factorization has found out. The task runs after the last diagonal tile that
/// this process factorizes.
/// @param A      (Index i, Index j): the factorized matrix
/// @param steps  number of diagonal tiles
/// @return  false if this process factorizes no tile and has nothing to deliver
template <typename View>
bool submit_outcome(sinks::Submitter& submitter, const View& A, Index steps, starpu_data_handle_t result,
                    codelets::OutcomeValue* value) {
  Index last = steps - 1;
  while (last >= 0 && !submitter.runs(A(last, last).handle)) last--;
  if (last < 0) return false;
  submit(submitter, [&](auto& to) { to.outcome(A(last, last), result, value); });
  return true;
}

}  // namespace tessera::algorithms
