// SPDX-License-Identifier: BSD-3-Clause
// The reference for 15_training.cpp: the same network in plain cuBLAS, on one GPU that holds all data.
#include <cublas_v2.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

#include "15_training.hpp"

namespace training {

namespace {

void require(bool succeeded, const char* what) {
  if (!succeeded) throw std::runtime_error(std::string(what) + " failed");
}

/// A matrix in the GPU's memory.
class DeviceMatrix {
 public:
  DeviceMatrix(std::ptrdiff_t m, std::ptrdiff_t n) : m_(m), n_(n) {
    float* data = nullptr;
    require(cudaMalloc(reinterpret_cast<void**>(&data), bytes()) == cudaSuccess, "cudaMalloc");
    data_.reset(data);
    require(cudaMemset(data, 0, bytes()) == cudaSuccess, "cudaMemset");
  }
  DeviceMatrix(const std::vector<float>& values, std::ptrdiff_t m)
      : DeviceMatrix(m, static_cast<std::ptrdiff_t>(values.size()) / m) {
    require(cudaMemcpy(data_.get(), values.data(), bytes(), cudaMemcpyHostToDevice) == cudaSuccess, "cudaMemcpy");
  }
  void copy_to(float* values) const {
    require(cudaMemcpy(values, data_.get(), bytes(), cudaMemcpyDeviceToHost) == cudaSuccess, "cudaMemcpy");
  }
  float* data() const { return data_.get(); }
  Tile columns(std::ptrdiff_t first, std::ptrdiff_t count) const {
    return {data_.get() + first * m_, static_cast<int>(m_), static_cast<int>(count), m_};
  }
  Tile all() const { return columns(0, n_); }

 private:
  struct Free {
    void operator()(float* data) const { cudaFree(data); }
  };
  std::size_t bytes() const { return static_cast<std::size_t>(m_ * n_) * sizeof(float); }
  std::ptrdiff_t m_, n_;
  std::unique_ptr<float, Free> data_;
};

/// A cuBLAS handle, and the stream on which all operations run.
class Gpu {
 public:
  Gpu() {
    require(cublasCreate(&handle_) == CUBLAS_STATUS_SUCCESS, "cublasCreate");
    require(cudaStreamCreate(&stream_) == cudaSuccess, "cudaStreamCreate");
    require(cublasSetStream(handle_, stream_) == CUBLAS_STATUS_SUCCESS, "cublasSetStream");
  }
  ~Gpu() { cublasDestroy(handle_), cudaStreamDestroy(stream_); }
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  cudaStream_t stream() const { return stream_; }
  /// C <- alpha op(A) op(B) + beta C, where k is the number of columns of op(A)
  void gemm(cublasOperation_t op_a, cublasOperation_t op_b, float alpha, Tile A, Tile B, int k, float beta,
            Tile C) const {
    require(cublasSgemm(handle_, op_a, op_b, C.m, C.n, k, &alpha, A.data, static_cast<int>(A.ld), B.data,
                        static_cast<int>(B.ld), &beta, C.data, static_cast<int>(C.ld)) == CUBLAS_STATUS_SUCCESS,
            "cublasSgemm");
  }
  void wait() const { require(cudaStreamSynchronize(stream_) == cudaSuccess, "a kernel"); }

 private:
  cublasHandle_t handle_{};
  cudaStream_t stream_{};
};

}  // namespace

Trained train_with_cublas(const Settings& settings, const Model& start, const Data& data) {
  const auto& sizes = settings.sizes;
  const std::size_t layers = sizes.size() - 1;
  const Gpu gpu;
  const DeviceMatrix features(data.features, sizes.front()), classes(data.classes, sizes.back()),
      losses(settings.epochs, 1);
  std::vector<DeviceMatrix> W, b, A, D;  // D[l] is the gradient with respect to the output of layer l
  for (std::size_t l = 0; l < layers; l++) {
    W.emplace_back(start.weights[l], sizes[l + 1]), b.emplace_back(start.biases[l], sizes[l + 1]);
    A.emplace_back(sizes[l + 1], settings.batch), D.emplace_back(sizes[l + 1], settings.batch);
  }
  const float scale = 1 / static_cast<float>(settings.batch);
  Trained result{start, std::vector<float>(static_cast<std::size_t>(settings.epochs)), {}};
  for (int epoch = 0; epoch < settings.epochs; epoch++) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::ptrdiff_t batch = 0; batch < settings.batches; batch++) {
      const auto columns = [&](const DeviceMatrix& all) { return all.columns(batch * settings.batch, settings.batch); };
      const auto input = [&](std::size_t l) { return l == 0 ? columns(features) : A[l - 1].all(); };
      for (std::size_t l = 0; l < layers; l++) {
        gpu.gemm(CUBLAS_OP_N, CUBLAS_OP_N, 1, W[l].all(), input(l), static_cast<int>(sizes[l]), 0, A[l].all());
        if (l + 1 < layers) device::activate(A[l].all(), b[l].data(), gpu.stream());
      }
      device::softmax(A.back().all(), b.back().data(), columns(classes), scale, losses.data() + epoch, gpu.stream());
      for (std::size_t l = layers; l-- > 0;) {
        const auto gradient = l + 1 == layers ? A[l].all() : D[l].all();
        if (l > 0) {
          gpu.gemm(CUBLAS_OP_T, CUBLAS_OP_N, 1, W[l].all(), gradient, static_cast<int>(sizes[l + 1]), 0,
                   D[l - 1].all());
          device::pass_back(D[l - 1].all(), A[l - 1].all(), gpu.stream());
        }
        gpu.gemm(CUBLAS_OP_N, CUBLAS_OP_T, -settings.rate, gradient, input(l), static_cast<int>(settings.batch), 1,
                 W[l].all());
        device::update_bias(b[l].data(), gradient, settings.rate, gpu.stream());
      }
    }
    gpu.wait();
    result.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  for (std::size_t l = 0; l < layers; l++)
    W[l].copy_to(result.model.weights[l].data()), b[l].copy_to(result.model.biases[l].data());
  losses.copy_to(result.losses.data());
  for (float& loss : result.losses) loss /= static_cast<float>(settings.batches);
  return result;
}

}  // namespace training
