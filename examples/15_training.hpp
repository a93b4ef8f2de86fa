// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

/// @file
/// A dense network, its data, and the element-wise operations of its training. nvcc compiles this file, too.

#ifdef TRAINING_WITH_CUDA
#include <cuda_runtime.h>
#endif

namespace training {

/// The network to train, and the amount of data.
struct Settings {
  std::vector<std::ptrdiff_t> sizes{64, 128, 128, 10};  ///< features, hidden layers, classes
  std::ptrdiff_t batch = 64;                            ///< samples per update
  std::ptrdiff_t batches = 8;                           ///< batches per epoch
  int epochs = 5;
  std::ptrdiff_t tile = 0;  ///< rows and columns of a tile; 0: depends on the size of the network
  float rate = 0.1F;        ///< the step along the gradient
};

/// The weights and biases of each layer. Weights are column-major, with a row for each output.
struct Model {
  std::vector<std::vector<float>> weights, biases;
};

/// The training data. Each sample has a column of features, and a column of classes with a 1 at its class.
struct Data {
  std::vector<float> features, classes;
};

/// The result of a training.
struct Trained {
  Model model;
  std::vector<float> losses;    ///< the mean loss of each epoch
  std::vector<double> seconds;  ///< the time of each epoch
};

/// A column-major matrix, or a tile of one.
struct Tile {
  float* data;
  int m, n;
  std::ptrdiff_t ld;
};

#ifdef TRAINING_WITH_CUDA
/// The element-wise operations on a GPU. 15_training.cpp documents the functions of the same names.
namespace device {
void activate(Tile Z, const float* bias, cudaStream_t stream);
void softmax(Tile Z, const float* bias, Tile classes, float scale, float* loss, cudaStream_t stream);
void pass_back(Tile D, Tile A, cudaStream_t stream);
void update_bias(float* bias, Tile D, float rate, cudaStream_t stream);
}  // namespace device

/// Trains with cuBLAS on one GPU, with all data in its memory. Only the time in which the GPU computes is measured.
Trained train_with_cublas(const Settings& settings, const Model& start, const Data& data);
#endif

}  // namespace training
