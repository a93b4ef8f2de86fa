// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <tessera/types.hpp>

struct cublasXtContext;

/// What it takes to run other libraries beside ours in one process.
namespace tessera::bench {

/// Keeps StarPU's workers off the cores while this object lives: a worker without a task polls.
class PauseWorkers {
 public:
  PauseWorkers();
  ~PauseWorkers();
  PauseWorkers(const PauseWorkers&) = delete;
  PauseWorkers& operator=(const PauseWorkers&) = delete;

 private:
  bool paused_ = false;
};

/// OpenBLAS on `threads` threads, StarPU paused, for as long as this object lives.
class OpenBlas {
 public:
  explicit OpenBlas(int threads);
  ~OpenBlas();
  OpenBlas(const OpenBlas&) = delete;
  OpenBlas& operator=(const OpenBlas&) = delete;

 private:
  PauseWorkers pause_;
  int before_;
};

/// cuBLAS-XT on some GPUs, StarPU paused, for as long as this object lives.
class CublasXt {
 public:
  /// False where this program is built without CUDA.
  static bool available();
  /// @param devices  CUDA ordinals
  /// @throws RuntimeError
  explicit CublasXt(std::vector<int> devices);
  ~CublasXt();
  CublasXt(const CublasXt&) = delete;
  CublasXt& operator=(const CublasXt&) = delete;

  void set_block(Index block);
  cublasXtContext* handle() const noexcept { return handle_; }

 private:
  PauseWorkers pause_;
  cublasXtContext* handle_ = nullptr;
};

}  // namespace tessera::bench
