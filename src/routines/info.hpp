// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <tessera/lapack.hpp>

namespace tessera::detail {

class Session;

/// The info of a factorization: a StarPU variable that its last task writes.
class Outcome {
 public:
  explicit Outcome(std::shared_ptr<Session> session);
  /// Does not wait: StarPU releases the variable when its tasks have run.
  ~Outcome();
  Outcome(const Outcome&) = delete;
  Outcome& operator=(const Outcome&) = delete;

  starpu_data_handle_t handle() const noexcept { return handle_; }
  /// Sets it to 0, without a task. @pre no task uses it
  void succeed();
  /// @param caller  named by errors
  Index wait(const char* caller = "Info::wait") const;

 private:
  std::shared_ptr<Session> session_;  // keeps StarPU running while the handle exists
  starpu_data_handle_t handle_ = nullptr;
};

struct InfoAccess {
  static Info info(std::shared_ptr<Outcome> outcome) { return Info(std::move(outcome)); }
  /// @param bits  of a double; null: there is nothing to measure
  static Growth growth(std::shared_ptr<Outcome> bits) { return Growth(std::move(bits)); }
};

}  // namespace tessera::detail
