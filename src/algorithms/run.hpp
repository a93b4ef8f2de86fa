// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sinks/loader.hpp"
#include "sinks/submit.hpp"
#include "tile/ops.hpp"

/// How a routine lets an algorithm take effect.
namespace tessera::algorithms {

/// Submits the tasks of an algorithm.
/// @param algorithm  (tile::Ops<T, Sink>&)
template <Scalar T, typename Algorithm>
void submit(const detail::Session& session, sinks::Submitter& submitter, const Algorithm& algorithm) {
  tile::Ops<T, sinks::Submitter> to(session, submitter);
  algorithm(to);
}

/// Requests what an algorithm reads, in the order of its first use. Without that the links would wait for its first
/// results: StarPU shows the policy only tasks whose inputs exist.
/// @param on, delay  see Loader
/// @pre  the GPUs have room for all tiles, and no task writes one yet
template <Scalar T, typename Algorithm>
void load(const detail::Session& session, const Algorithm& algorithm, sinks::LoadOn on = sinks::LoadOn::FirstUser,
          Index delay = 0) {
  sinks::Loader loader(session, on, delay);
  tile::Ops<T, sinks::Loader> to(session, loader);
  algorithm(to);
  loader.finish();
}

/// Both, one after the other. Without owners, nothing is requested.
/// @param gpus  see Submitter
template <Scalar T, typename Algorithm>
void load_and_submit(const detail::Session& session, const Matrix<T>& output, const Algorithm& algorithm,
                     int gpus = 0) {
  if (session.machine().has_owners()) load<T>(session, algorithm);
  sinks::Submitter submitter(session, output, gpus);
  submit<T>(session, submitter, algorithm);
}

/// Submits the task that hands over what the tasks of a factorization have found out, after the last of them that this
/// process runs.
/// @param A      (Index i, Index j): the factorized matrix
/// @param steps  the tiles on its diagonal
/// @return  false if this process factorizes no tile: then there is nothing to tell
template <Scalar T, typename View>
bool submit_outcome(const detail::Session& session, sinks::Submitter& submitter, const View& A, Index steps,
                    starpu_data_handle_t result, codelets::OutcomeValue* value) {
  Index last = steps - 1;
  while (last >= 0 && !submitter.runs(A(last, last).handle)) last--;
  if (last < 0) return false;
  submit<T>(session, submitter, [&](auto& to) { to.outcome(A(last, last), result, value); });
  return true;
}

}  // namespace tessera::algorithms
