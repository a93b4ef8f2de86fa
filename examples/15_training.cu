// SPDX-License-Identifier: BSD-3-Clause
// The element-wise operations of 15_training.cpp on a GPU.
#include "15_training.hpp"

namespace training::device {

namespace {

constexpr int threads = 256, lanes = 16, rows_at_once = 32;

dim3 blocks_for(Tile T) { return {static_cast<unsigned>((T.m + threads - 1) / threads), static_cast<unsigned>(T.n)}; }

__global__ void activate_kernel(Tile Z, const float* bias) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= Z.m) return;
  float& z = Z.data[i + blockIdx.y * Z.ld];
  z = fmaxf(0.0F, z + bias[i]);
}

__global__ void pass_back_kernel(Tile D, Tile A) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < D.m && !(A.data[i + blockIdx.y * A.ld] > 0)) D.data[i + blockIdx.y * D.ld] = 0;
}

/// A single block sums the losses, so the order of the sum, and its rounding, are always the same.
__global__ void softmax_kernel(Tile Z, const float* bias, Tile classes, float scale, float* loss) {
  __shared__ float sums[threads];
  float sum = 0;
  for (int j = static_cast<int>(threadIdx.x); j < Z.n; j += threads) {
    float *z = Z.data + j * Z.ld, largest = z[0] + bias[0], total = 0;
    const float* y = classes.data + j * classes.ld;
    for (int i = 0; i < Z.m; i++) largest = fmaxf(largest, z[i] += bias[i]);
    for (int i = 0; i < Z.m; i++) total += expf(z[i] - largest);
    for (int i = 0; i < Z.m; i++) {
      const float logarithm = z[i] - largest - logf(total);
      sum -= y[i] * logarithm;
      z[i] = scale * (expf(logarithm) - y[i]);
    }
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int t = 1; t < threads; t++) sum += sums[t];
  *loss += scale * sum;
}

/// Each block sums 32 rows, in 16 lanes.
__global__ void update_bias_kernel(float* bias, Tile D, float rate) {
  __shared__ float sums[lanes][rows_at_once];
  const int i = static_cast<int>(blockIdx.x * rows_at_once + threadIdx.x);
  float sum = 0;
  if (i < D.m)
    for (int j = static_cast<int>(threadIdx.y); j < D.n; j += lanes) sum += D.data[i + j * D.ld];
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || i >= D.m) return;
  for (int lane = 1; lane < lanes; lane++) sum += sums[lane][threadIdx.x];
  bias[i] -= rate * sum;
}

}  // namespace

void activate(Tile Z, const float* bias, cudaStream_t stream) {
  activate_kernel<<<blocks_for(Z), threads, 0, stream>>>(Z, bias);
}

void softmax(Tile Z, const float* bias, Tile classes, float scale, float* loss, cudaStream_t stream) {
  softmax_kernel<<<1, threads, 0, stream>>>(Z, bias, classes, scale, loss);
}

void pass_back(Tile D, Tile A, cudaStream_t stream) { pass_back_kernel<<<blocks_for(D), threads, 0, stream>>>(D, A); }

void update_bias(float* bias, Tile D, float rate, cudaStream_t stream) {
  const dim3 block(rows_at_once, lanes);
  update_bias_kernel<<<static_cast<unsigned>((D.m + rows_at_once - 1) / rows_at_once), block, 0, stream>>>(bias, D,
                                                                                                           rate);
}

}  // namespace training::device
