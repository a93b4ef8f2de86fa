// SPDX-License-Identifier: BSD-3-Clause
// Trains a dense network on generated data as a single task graph: Tessera's products, and between them the program's
// own codelets, which run on GPUs and on CPU workers. The forward pass, the backward pass and the update of all batches
// of an epoch are submitted without a wait. For small networks, the result is compared with that of a plain
// implementation.
//
//   15_training [--network 64,128,128,10] [--batch N] [--batches N] [--epochs N] [--tile N] [--compare]
//
// --compare also trains with plain cuBLAS on one GPU, which must hold all data, and compares times and results. The
// network of the BLASX paper: 15_training --network 3072,16384,16384,10 --batch 4096 --batches 4 --epochs 4 --compare
#include "15_training.hpp"

#include <starpu.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <tessera/blas3.hpp>
#include <tessera/runtime.hpp>

namespace training {
namespace {

using tessera::Index, tessera::Op;
using Matrix = tessera::Matrix<float>;

// --- The element-wise operations on the host

namespace host {

/// Z <- max(0, Z + bias)
void activate(Tile Z, const float* bias) {
  for (int j = 0; j < Z.n; j++)
    for (int i = 0; i < Z.m; i++) Z.data[i + j * Z.ld] = std::max(0.0F, Z.data[i + j * Z.ld] + bias[i]);
}

/// Adds the cross-entropy loss of Z + bias to `loss`, and replaces Z by the gradient of the loss. Each column of Z +
/// bias has the logarithms of the classes' probabilities, up to a constant, so the tile Z must have all rows.
void softmax(Tile Z, const float* bias, Tile classes, float scale, float* loss) {
  for (int j = 0; j < Z.n; j++) {
    float *z = Z.data + j * Z.ld, largest = z[0] + bias[0], total = 0;
    const float* y = classes.data + j * classes.ld;
    for (int i = 0; i < Z.m; i++) largest = std::max(largest, z[i] += bias[i]);
    for (int i = 0; i < Z.m; i++) total += std::exp(z[i] - largest);
    for (int i = 0; i < Z.m; i++) {
      const float logarithm = z[i] - largest - std::log(total);
      *loss -= scale * y[i] * logarithm;
      z[i] = scale * (std::exp(logarithm) - y[i]);
    }
  }
}

/// D <- D where A > 0, else 0. This is the gradient of `activate`, whose result is A.
void pass_back(Tile D, Tile A) {
  for (int j = 0; j < D.n; j++)
    for (int i = 0; i < D.m; i++)
      if (!(A.data[i + j * A.ld] > 0)) D.data[i + j * D.ld] = 0;
}

/// bias <- bias - rate D (1 … 1)ᵀ
void update_bias(float* bias, Tile D, float rate) {
  for (int j = 0; j < D.n; j++)
    for (int i = 0; i < D.m; i++) bias[i] -= rate * D.data[i + j * D.ld];
}

}  // namespace host

// --- Codelets

Tile tile_of(void* buffer) {
  return {reinterpret_cast<float*>(STARPU_MATRIX_GET_PTR(buffer)), static_cast<int>(STARPU_MATRIX_GET_NX(buffer)),
          static_cast<int>(STARPU_MATRIX_GET_NY(buffer)), static_cast<std::ptrdiff_t>(STARPU_MATRIX_GET_LD(buffer))};
}

float number_in(void* arguments) {
  float number = 0;
  starpu_codelet_unpack_args(arguments, &number);
  return number;
}

/// Each function applies its operation to the tiles of a task. `stream` is empty on a CPU worker.
struct Operations {
  static void activate(auto operation, void** tiles, void* /*arguments*/, auto... stream) {
    operation(tile_of(tiles[0]), tile_of(tiles[1]).data, stream...);
  }
  static void softmax(auto operation, void** tiles, void* arguments, auto... stream) {
    operation(tile_of(tiles[0]), tile_of(tiles[1]).data, tile_of(tiles[2]), number_in(arguments),
              reinterpret_cast<float*>(STARPU_VARIABLE_GET_PTR(tiles[3])), stream...);
  }
  static void pass_back(auto operation, void** tiles, void* /*arguments*/, auto... stream) {
    operation(tile_of(tiles[0]), tile_of(tiles[1]), stream...);
  }
  static void update_bias(auto operation, void** tiles, void* arguments, auto... stream) {
    operation(tile_of(tiles[0]).data, tile_of(tiles[1]), number_in(arguments), stream...);
  }
};

starpu_codelet make_codelet(const char* name, starpu_cpu_func_t on_cpu, [[maybe_unused]] starpu_cuda_func_t on_gpu) {
  starpu_codelet codelet{};
  codelet.name = name;
  codelet.nbuffers = STARPU_VARIABLE_NBUFFERS;
  codelet.cpu_funcs[0] = on_cpu;
#ifdef TRAINING_WITH_CUDA
  codelet.cuda_funcs[0] = on_gpu;
  codelet.cuda_flags[0] = STARPU_CUDA_ASYNC;
  if (tessera::gpu_count() > 0) codelet.where = STARPU_CUDA;  // the products leave the tiles there
#endif
  return codelet;
}

#ifdef TRAINING_WITH_CUDA
#define ON_GPU(name)                                                                  \
  [](void* tiles[], void* arguments) {                                                \
    Operations::name(device::name, tiles, arguments, starpu_cuda_get_local_stream()); \
  }
#else
#define ON_GPU(name) nullptr
#endif
#define CODELET(name) \
  make_codelet(       \
      #name, [](void* tiles[], void* arguments) { Operations::name(host::name, tiles, arguments); }, ON_GPU(name))

/// The program's codelets. They must exist until their tasks have run.
struct Codelets {
  starpu_codelet activate = CODELET(activate), softmax = CODELET(softmax), pass_back = CODELET(pass_back),
                 update_bias = CODELET(update_bias);
};

template <typename... Arguments>
void insert(starpu_codelet& codelet, Arguments... arguments) {
  if (starpu_task_insert(&codelet, arguments..., 0) != 0) throw std::runtime_error("no worker for the codelets");
}

// --- The graph

/// The matrices of a network and the tasks on them.
class Graph {
 public:
  Graph(const Settings& settings, Model& model, const Data& data) : settings_(settings) {
    const auto& sizes = settings.sizes;
    const Index hidden = *std::ranges::max_element(sizes);
    const Index tile = settings.tile > 0 ? settings.tile : std::clamp<Index>(hidden / 2, 64, 4096);
    const auto extent = [&](std::size_t l) { return l + 1 == sizes.size() ? sizes[l] : std::min(tile, sizes[l]); };
    const Index columns = std::min(tile, settings.batch);
    for (Index batch = 0; batch < settings.batches; batch++) {
      const auto input = [&](const std::vector<float>& values, std::size_t l) {
        const float* first = values.data() + batch * settings.batch * sizes[l];
        return Matrix(first, sizes[l], settings.batch, sizes[l], {extent(l), columns});
      };
      features_.push_back(input(data.features, 0));
      classes_.push_back(input(data.classes, sizes.size() - 1));
    }
    for (std::size_t l = 0; l + 1 < sizes.size(); l++) {
      const Index outputs = sizes[l + 1], rows = extent(l + 1);
      const auto between = [&] {
        auto& memory = memory_.emplace_back(static_cast<std::size_t>(outputs * settings.batch));
        return Matrix(memory.data(), outputs, settings.batch, outputs, {rows, columns});
      };
      W_.emplace_back(model.weights[l].data(), outputs, sizes[l], outputs, tessera::TileSize{rows, extent(l)});
      b_.emplace_back(model.biases[l].data(), outputs, 1, outputs, tessera::TileSize{rows, 1});
      A_.push_back(between()), D_.push_back(between());
    }
  }

  /// Submits the forward pass, the backward pass and the update for a batch.
  /// @param loss  the handle of a number to which the loss is added
  void submit(Index batch, starpu_data_handle_t loss) {
    const auto input = [&](std::size_t l) -> const Matrix& {
      return l == 0 ? features_[static_cast<std::size_t>(batch)] : A_[l - 1];
    };
    const auto& Y = classes_[static_cast<std::size_t>(batch)];
    const std::size_t last = W_.size() - 1;
    const float scale = 1 / static_cast<float>(settings_.batch);
    for (std::size_t l = 0; l <= last; l++) {
      const auto& Z = A_[l];
      gemm(Op::NoTrans, Op::NoTrans, 1.0F, W_[l], input(l), 0.0F, Z);
      for (Index j = 0; j < Z.nt(); j++)
        for (Index i = 0; i < Z.mt(); i++)
          if (l < last) insert(codelets_.activate, STARPU_RW, Z.handle(i, j), STARPU_R, b_[l].handle(i, 0));
          else
            insert(codelets_.softmax, STARPU_RW, Z.handle(i, j), STARPU_R, b_[l].handle(i, 0), STARPU_R, Y.handle(i, j),
                   STARPU_RW, loss, STARPU_VALUE, &scale, sizeof scale);
    }
    for (std::size_t l = last + 1; l-- > 0;) {
      const auto& gradient = l == last ? A_[l] : D_[l];
      if (l > 0) {
        const auto& D = D_[l - 1];
        gemm(Op::Trans, Op::NoTrans, 1.0F, W_[l], gradient, 0.0F, D);
        for (Index j = 0; j < D.nt(); j++)
          for (Index i = 0; i < D.mt(); i++)
            insert(codelets_.pass_back, STARPU_RW, D.handle(i, j), STARPU_R, A_[l - 1].handle(i, j));
      }
      gemm(Op::NoTrans, Op::Trans, -settings_.rate, gradient, input(l), 1.0F, W_[l]);
      for (Index j = 0; j < gradient.nt(); j++)
        for (Index i = 0; i < gradient.mt(); i++)
          insert(codelets_.update_bias, STARPU_RW, b_[l].handle(i, 0), STARPU_R, gradient.handle(i, j), STARPU_VALUE,
                 &settings_.rate, sizeof settings_.rate);
    }
  }

 private:
  const Settings& settings_;
  Codelets codelets_;
  std::vector<std::vector<float>> memory_;  // holds A and D
  std::vector<Matrix> features_, classes_;  // for each batch
  std::vector<Matrix> W_, b_, A_, D_;       // for each layer; D is the gradient with respect to the layer's output
};

Trained train(const Settings& settings, const Model& start, const Data& data) {
  Trained result{start, std::vector<float>(static_cast<std::size_t>(settings.epochs)), {}};
  {
    Graph graph(settings, result.model, data);
    for (float& loss : result.losses) {
      starpu_data_handle_t handle{};
      starpu_variable_data_register(&handle, STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(&loss), sizeof loss);
      const auto begin = std::chrono::steady_clock::now();
      for (Index batch = 0; batch < settings.batches; batch++) graph.submit(batch, handle);
      tessera::wait();  // the weights stay on the devices
      result.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
      starpu_data_unregister(handle);
      loss /= static_cast<float>(settings.batches);
    }
  }  // the tiles return to the memory of the model
  return result;
}

// --- The reference implementations

/// Trains in plain loops, in double precision.
Trained train_plainly(const Settings& settings, const Model& start, const Data& data) {
  using Values = std::vector<double>;
  const auto& sizes = settings.sizes;
  const std::size_t layers = sizes.size() - 1;
  std::vector<Values> W(layers), b(layers), a(layers + 1), d(layers + 1);
  for (std::size_t l = 0; l < layers; l++)
    W[l].assign(start.weights[l].begin(), start.weights[l].end()),
        b[l].assign(start.biases[l].begin(), start.biases[l].end());
  Trained result{start, {}, {}};
  for (int epoch = 0; epoch < settings.epochs; epoch++) {
    double loss = 0;
    for (std::ptrdiff_t batch = 0; batch < settings.batches; batch++) {
      auto W_new = W, b_new = b;
      for (std::ptrdiff_t sample = batch * settings.batch; sample < (batch + 1) * settings.batch; sample++) {
        const float *x = data.features.data() + sample * sizes.front(),
                    *y = data.classes.data() + sample * sizes.back();
        a[0].assign(x, x + sizes.front());
        for (std::size_t l = 0; l < layers; l++) {
          a[l + 1] = b[l];
          for (std::size_t k = 0; k < a[l].size(); k++)
            for (std::size_t i = 0; i < a[l + 1].size(); i++) a[l + 1][i] += W[l][i + k * a[l + 1].size()] * a[l][k];
          if (l + 1 < layers)
            for (double& value : a[l + 1]) value = std::max(0.0, value);
        }
        double total = 0;
        for (const double z : a[layers]) total += std::exp(z);
        d[layers].clear();
        for (std::size_t i = 0; i < a[layers].size(); i++) {
          const double probability = std::exp(a[layers][i]) / total;
          if (y[i] > 0) loss -= std::log(probability);
          d[layers].push_back((probability - y[i]) / static_cast<double>(settings.batch));
        }
        for (std::size_t l = layers; l-- > 0;) {
          const auto& gradient = d[l + 1];
          d[l].assign(a[l].size(), 0);
          for (std::size_t k = 0; k < a[l].size(); k++)
            for (std::size_t i = 0; i < gradient.size(); i++) {
              if (a[l][k] > 0) d[l][k] += W[l][i + k * gradient.size()] * gradient[i];
              W_new[l][i + k * gradient.size()] -= settings.rate * gradient[i] * a[l][k];
            }
          for (std::size_t i = 0; i < gradient.size(); i++) b_new[l][i] -= settings.rate * gradient[i];
        }
      }
      W = W_new, b = b_new;
    }
    result.losses.push_back(static_cast<float>(loss / static_cast<double>(settings.batch * settings.batches)));
  }
  for (std::size_t l = 0; l < layers; l++)
    std::ranges::copy(W[l], result.model.weights[l].begin()), std::ranges::copy(b[l], result.model.biases[l].begin());
  return result;
}

/// The largest difference between two trainings, relative to the largest weight or loss. NaN if either contains a NaN.
double difference(const Trained& one, const Trained& other) {
  double worst = 0;
  const auto compare = [&](const std::vector<float>& x, const std::vector<float>& y) {
    double largest = 0, apart = 0;
    for (std::size_t i = 0; i < x.size(); i++) {
      largest = std::max<double>(largest, std::abs(y[i]));
      const double distance = std::abs(static_cast<double>(x[i]) - y[i]);
      if (!(distance <= apart) && !std::isnan(apart)) apart = distance;
    }
    if (!(apart / largest <= worst) && !std::isnan(worst)) worst = apart / largest;
  };
  for (std::size_t l = 0; l < one.model.weights.size(); l++) {
    compare(one.model.weights[l], other.model.weights[l]);
    compare(one.model.biases[l], other.model.biases[l]);
  }
  compare(one.losses, other.losses);
  return worst;
}

// --- The program

class Random {
 public:
  /// Returns a number from -1 to 1.
  float operator()() {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return static_cast<float>(state_ >> 40) * 0x1p-23F - 1;
  }

 private:
  unsigned long long state_ = 88172645463325252ULL;
};

Model make_model(const Settings& settings) {
  Random random;
  Model model;
  for (std::size_t l = 0; l + 1 < settings.sizes.size(); l++) {
    const auto inputs = settings.sizes[l], outputs = settings.sizes[l + 1];
    auto& W = model.weights.emplace_back(static_cast<std::size_t>(inputs * outputs));
    model.biases.emplace_back(static_cast<std::size_t>(outputs));
    const float bound = std::sqrt(6 / static_cast<float>(inputs));
    std::ranges::generate(W, [&] { return bound * random(); });
  }
  return model;
}

/// Generates samples that lie around the center of their class.
Data make_data(const Settings& settings) {
  Random random;
  const auto features = settings.sizes.front(), classes = settings.sizes.back();
  const auto samples = settings.batch * settings.batches;
  std::vector<float> centers(static_cast<std::size_t>(features * classes));
  const float spread =
      4 / std::sqrt(static_cast<float>(features));  // makes distances independent of the number of features
  std::ranges::generate(centers, [&] { return spread * random(); });
  Data data{std::vector<float>(static_cast<std::size_t>(features * samples)),
            std::vector<float>(static_cast<std::size_t>(classes * samples))};
  for (std::ptrdiff_t sample = 0; sample < samples; sample++) {
    const auto of_class = sample * 7 % classes;
    data.classes[static_cast<std::size_t>(sample * classes + of_class)] = 1;
    for (std::ptrdiff_t i = 0; i < features; i++)
      data.features[static_cast<std::size_t>(sample * features + i)] =
          centers[static_cast<std::size_t>(of_class * features + i)] + spread * random();
  }
  return data;
}

/// The flops of an epoch, without the gradient with respect to the features, which is not needed.
double flops(const Settings& settings) {
  double sum = 0;
  for (std::size_t l = 0; l + 1 < settings.sizes.size(); l++)
    sum += (l == 0 ? 4.0 : 6.0) * static_cast<double>(settings.sizes[l] * settings.sizes[l + 1]);
  return sum * static_cast<double>(settings.batch * settings.batches);
}

/// The median time of the epochs after the first, which also loads kernels and copies the weights.
double typical_seconds(const Trained& trained) {
  auto seconds = trained.seconds;
  if (seconds.size() > 1) seconds.erase(seconds.begin());
  std::ranges::sort(seconds);
  return seconds[seconds.size() / 2];
}

/// @return whether the results agree
bool report(const char* name, const Trained& ours, const Trained& theirs, double allowed) {
  const double apart = difference(ours, theirs);
  std::printf("%s: the weights differ by %.1e of the largest, must be less than %.0e\n", name, apart, allowed);
  return apart < allowed;  // false for NaN
}

int run(const Settings& settings, bool compare) {
  const tessera::Runtime runtime;
  const auto start = make_model(settings);
  const auto data = make_data(settings);
  const auto ours = train(settings, start, data);
  for (std::size_t epoch = 0; epoch < ours.losses.size(); epoch++)
    std::printf("epoch %zu: loss %.4f, %.4f s, %.1f GFLOP/s\n", epoch + 1, static_cast<double>(ours.losses[epoch]),
                ours.seconds[epoch], 1e-9 * flops(settings) / ours.seconds[epoch]);
  bool right = settings.epochs == 1 || ours.losses.back() < ours.losses.front() / 2;
  if (!right) std::printf("the loss does not fall to half of what it was\n");
  constexpr double enough_for_loops = 5e9;
  if (settings.epochs * flops(settings) < enough_for_loops)
    right &= report("plain loops", ours, train_plainly(settings, start, data), 1e-3);
  else std::printf("too large for plain loops\n");
#ifdef TRAINING_WITH_CUDA
  if (compare) {
    const auto theirs = train_with_cublas(settings, start, data);
    right &= report("cuBLAS", ours, theirs, 1e-2);
    const double our_time = typical_seconds(ours), their_time = typical_seconds(theirs);
    std::printf("an epoch on %d GPU%s: %.4f s, with cuBLAS on data in one GPU %.4f s: %.2f times as fast\n",
                tessera::gpu_count(), tessera::gpu_count() == 1 ? "" : "s", our_time, their_time,
                their_time / our_time);
  }
#else
  if (compare) return std::puts("--compare needs a build with CUDA"), 1;
#endif
  return right ? 0 : 1;
}

/// @return the integers of a comma-separated list, all of them positive
std::vector<std::ptrdiff_t> numbers(const std::string& text) {
  std::vector<std::ptrdiff_t> all;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(',', begin), text.size());
    std::size_t used = 0;
    all.push_back(std::stoll(text.substr(begin, end - begin), &used));
    if (used != end - begin || all.back() < 1) throw std::invalid_argument(text);
    begin = end + 1;
  }
  return all;
}

}  // namespace
}  // namespace training

int main(int argc, char** argv) {
  training::Settings settings;
  bool compare = false;
  try {
    for (int i = 1; i < argc; i++) {
      const std::string word = argv[i];
      if (word == "--compare") {
        compare = true;
        continue;
      }
      if (++i == argc) throw std::invalid_argument(word);
      const auto values = training::numbers(argv[i]);
      if (word == "--network" && values.size() >= 2) settings.sizes = values;
      else if (word == "--batch") settings.batch = values.front();
      else if (word == "--batches") settings.batches = values.front();
      else if (word == "--epochs") settings.epochs = static_cast<int>(values.front());
      else if (word == "--tile") settings.tile = values.front();
      else throw std::invalid_argument(word);
    }
  } catch (const std::logic_error&) {
    return std::puts(
               "usage: 15_training [--network 64,128,128,10] [--batch N] [--batches N] [--epochs N] [--tile N] "
               "[--compare]"),
           2;
  }
  try {
    return training::run(settings, compare);
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "15_training: %s\n", error.what()), 1;
  }
}
