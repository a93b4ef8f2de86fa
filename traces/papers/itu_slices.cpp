// SPDX-License-Identifier: BSD-3-Clause
// itu-slices measures products on one GPU in the schedule of Itu et al., and for comparison Tessera's gemm, all from
// the same operands in pinned memory. C is not read (β = 0).
//
// With n slices, A is cut into n slices of rows and B into n slices of columns, which gives n² products. One stream
// copies the first slices and computes, row by row of C. Another stream copies the other slices, those of B first, and
// copies back each row of C when it is complete.
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include <tessera/error.hpp>
#include <tessera/runtime.hpp>

#include "bench/timing.hpp"
#include "common/of_type.hpp"
#include "devices/cuda/resources.hpp"
#include "shared/command_line.hpp"
#include "shared/exit_code.hpp"
#include "shared/formatting.hpp"
#include "shared/json_lines.hpp"
#include "shared/runtime_options.hpp"
#include "workload/found_machine.hpp"
#include "workload/libraries.hpp"
#include "workload/memory.hpp"
#include "workload/problem_options.hpp"

namespace {

using namespace tessera;
using namespace tessera::bench;
using bench::require;  // checks a status of cuBLAS
using device::gpu::require;

void record(const device::gpu::Event& event, const device::gpu::Stream& stream) {
  require(cudaEventRecord(event.get(), stream.get()), "an event");
}
/// Makes a stream wait for an event of another stream.
void hold(const device::gpu::Event& event, const device::gpu::Stream& stream) {
  require(cudaStreamWaitEvent(stream.get(), event.get(), 0), "waiting for an event");
}
std::vector<device::gpu::Event> create_events(int count) {
  std::vector<device::gpu::Event> events;
  for (int i = 0; i < count; i++) events.push_back(device::gpu::create_event(cudaEventDisableTiming));
  return events;
}

class CublasHandle {
 public:
  explicit CublasHandle(const device::gpu::Stream& stream) {
    require(cublasCreate(&handle_), "starting cuBLAS");
    require(cublasSetStream(handle_, stream.get()), "cuBLAS's stream");
  }
  ~CublasHandle() { cublasDestroy(handle_); }
  CublasHandle(const CublasHandle&) = delete;
  CublasHandle& operator=(const CublasHandle&) = delete;
  cublasHandle_t get() const { return handle_; }

 private:
  cublasHandle_t handle_{};
};

struct Options : ChosenProblems {
  std::vector<int> slices{1, 2, 4, 8};
  int repeat = 5, warmup = 1;
  std::string json;
};

/// @return  empty if --help was given, after printing the help
std::optional<Options> parse_options(int argc, char** argv) {
  CLI::App app("Measures gemm on one GPU in N slices of A and B on two streams, as in Itu et al.", "itu-slices");
  Options options;
  TypedProblem typed;
  add_problem_options(app, typed);
  add_list(app, "--slices", options.slices, "numbers of slices (1,2,4,8)")->check(tools::whole_number(1, 1024));
  app.add_option("--repeat", options.repeat, "measured calls (5)")->check(tools::whole_number(1, 1000000));
  app.add_option("--warmup", options.warmup, "unmeasured calls after the first (1)")
      ->check(tools::whole_number(0, 1000));
  app.add_option("--json", options.json, "write one JSON object per measurement; '-': to standard output");
  if (!tools::parse_command_line(app, argc, argv)) return std::nullopt;
  parse_problem_options(app, typed, options);
  for (const char* other : {"--routine", "--beta", "--memory", "--trans-a", "--trans-b", "--chain"})
    if (app.count(other) > 0) throw tools::BadArgument(std::string(other) + ": the schedule has no such choice");
  for (const auto& problem : options.problems)
    for (const int slices : options.slices)
      if (problem.k < 1 || slices > std::min(problem.m, problem.n))
        throw tools::BadArgument("--slices", std::to_string(slices), "is more than the matrix has rows or columns");
  return options;
}

/// The operands on the GPU, and the schedule. Slices of A and rows of C are contiguous on the GPU.
template <Scalar T>
class Schedule {
 public:
  Schedule(const Problem& problem, const Shapes& shapes, const Operands& host, int slices, int device)
      : p_(problem), shapes_(shapes), host_(host), slices_(slices), first_(device::gpu::create_stream(device)),
        second_(device::gpu::create_stream(device)), A_(allocate(device, p_.m * p_.k)),
        B_(allocate(device, p_.k * p_.n)), C_(allocate(device, p_.m * p_.n)), has_a_(create_events(slices)),
        has_b_(create_events(slices)), row_done_(create_events(slices)) {}

  /// Runs the whole schedule as the paper describes it.
  void run() {
    copy_a(0, first_), copy_b(0, first_);
    for (int j = 1; j < slices_; j++) copy_b(j, second_), record(at(has_b_, j), second_);
    for (int i = 1; i < slices_; i++) copy_a(i, second_), record(at(has_a_, i), second_);
    for (int i = 0; i < slices_; i++) {
      if (i > 0) hold(at(has_a_, i), first_);
      for (int j = 0; j < slices_; j++) {
        if (i == 0 && j > 0) hold(at(has_b_, j), first_);
        multiply(i, j);
      }
      record(at(row_done_, i), first_);
      hold(at(row_done_, i), second_);
      copy_c(i, second_);
    }
    wait();
  }
  void run_kernels() {
    for (int i = 0; i < slices_; i++)
      for (int j = 0; j < slices_; j++) multiply(i, j);
    wait();
  }
  void run_copies() {
    for (int i = 0; i < slices_; i++) copy_a(i, second_), copy_b(i, second_);
    for (int i = 0; i < slices_; i++) copy_c(i, second_);
    wait();
  }

 private:
  static device::gpu::DeviceMemory allocate(int device, Index elements) {
    return device::gpu::allocate(device, static_cast<std::size_t>(elements) * sizeof(T));
  }
  static T* data(const device::gpu::DeviceMemory& memory) { return static_cast<T*>(memory.get()); }

  struct Range {
    Index first, count;
  };
  Range slice(Index extent, int i) const {
    const Index first = extent * i / slices_;
    return {first, extent * (i + 1) / slices_ - first};
  }
  static const device::gpu::Event& at(const std::vector<device::gpu::Event>& events, int i) {
    return events[static_cast<std::size_t>(i)];
  }

  static void copy(void* to, Index to_ld, const void* from, Index from_ld, Index rows, Index columns,
                   cudaMemcpyKind kind, const device::gpu::Stream& stream) {
    const auto bytes = [](Index elements) { return static_cast<std::size_t>(elements) * sizeof(T); };
    require(cudaMemcpy2DAsync(to, bytes(to_ld), from, bytes(from_ld), bytes(rows), static_cast<std::size_t>(columns),
                              kind, stream.get()),
            "a copy");
  }
  void copy_a(int i, const device::gpu::Stream& stream) const {
    const auto rows = slice(p_.m, i);
    copy(data(A_) + rows.first * p_.k, rows.count, static_cast<const T*>(host_.A) + rows.first, shapes_.A.ld,
         rows.count, p_.k, cudaMemcpyHostToDevice, stream);
  }
  void copy_b(int j, const device::gpu::Stream& stream) const {
    const auto columns = slice(p_.n, j);
    copy(data(B_) + columns.first * p_.k, p_.k, static_cast<const T*>(host_.B) + columns.first * shapes_.B.ld,
         shapes_.B.ld, p_.k, columns.count, cudaMemcpyHostToDevice, stream);
  }
  void copy_c(int i, const device::gpu::Stream& stream) const {
    const auto rows = slice(p_.m, i);
    copy(static_cast<T*>(host_.C) + rows.first, shapes_.C.ld, data(C_) + rows.first * p_.n, rows.count, rows.count,
         p_.n, cudaMemcpyDeviceToHost, stream);
  }
  void multiply(int i, int j) const {
    const auto rows = slice(p_.m, i), columns = slice(p_.n, j);
    const auto whole = [](Index x) { return static_cast<int>(x); };
    require(device::cuda::gemm<T>(cublas_.get(), Op::NoTrans, Op::NoTrans, whole(rows.count), whole(columns.count),
                                  whole(p_.k), scalar_cast<T>(p_.alpha), data(A_) + rows.first * p_.k,
                                  whole(rows.count), data(B_) + columns.first * p_.k, whole(p_.k), T{},
                                  data(C_) + rows.first * p_.n + columns.first * rows.count, whole(rows.count)),
            "a product");
  }
  void wait() const {
    for (const auto* stream : {&first_, &second_})
      require(cudaStreamSynchronize(stream->get()), "waiting for a stream");
  }

  const Problem& p_;
  const Shapes& shapes_;
  const Operands host_;
  const int slices_;
  const device::gpu::Stream first_, second_;
  const CublasHandle cublas_{first_};
  const device::gpu::DeviceMemory A_, B_, C_;
  const std::vector<device::gpu::Event> has_a_, has_b_, row_done_;
};

/// Times in seconds. The row of Tessera has no parts.
struct Row {
  Problem problem;
  int slices = 0;
  double total = 0;
  std::optional<double> kernels{}, copies{};
  double flops = 0;
};

std::vector<tools::Column<Row>> columns() {
  const auto milliseconds = [](std::optional<double> seconds) {
    return seconds ? tools::significant(1e3 * *seconds, 4) : std::string("-");
  };
  return {{"routine", -8, [](const Row& r) { return fmt::format("{}gemm", r.problem.type); }},
          {"m", 7, [](const Row& r) { return std::to_string(r.problem.m); }},
          {"n", 7, [](const Row& r) { return std::to_string(r.problem.n); }},
          {"k", 7, [](const Row& r) { return std::to_string(r.problem.k); }},
          {"slices", 8, [](const Row& r) { return r.slices > 0 ? std::to_string(r.slices) : std::string("tessera"); }},
          {"total [ms]", 10, [=](const Row& r) { return milliseconds(r.total); }},
          {"kernels", 8, [=](const Row& r) { return milliseconds(r.kernels); }},
          {"copies", 8, [=](const Row& r) { return milliseconds(r.copies); }},
          {"hidden", 8,
           [=](const Row& r) {
             return r.kernels ? milliseconds(std::max(0.0, *r.kernels + *r.copies - r.total)) : std::string("-");
           }},
          {"real GFLOPS", 11, [](const Row& r) { return tools::significant(1e-9 * r.flops / r.total, 4); }}};
}

/// Requires that the results of the two libraries differ only by rounding.
template <Scalar T>
void compare(const Problem& problem, const Shape& C, const T* ours, const std::vector<T>& theirs) {
  double worst = 0, greatest = 0;
  for (Index j = 0; j < C.columns; j++)
    for (Index i = 0; i < C.rows; i++) {
      const auto at = static_cast<std::size_t>(i + j * C.ld);
      greatest = std::max(greatest, static_cast<double>(std::abs(theirs[at])));
      const double apart = static_cast<double>(std::abs(ours[at] - theirs[at]));
      if (!(apart <= worst)) worst = apart;
    }
  const double bound = static_cast<double>(problem.k) * std::numeric_limits<Real<T>>::epsilon() * greatest;
  if (!(worst <= bound))
    throw RuntimeError(
        fmt::format("the results of the slices and of Tessera differ by {:.2g}, more than {:.2g}", worst, bound));
}

template <Scalar T>
std::vector<Row> measure_problem(const Options& options, const Machine& machine, const Problem& problem,
                                 Progress& progress) {
  const auto& gemm = *options.routines.front();
  const auto shapes = gemm.shapes(problem);
  const auto bytes = operand_bytes(gemm, problem);
  const OperandMemory memory(bytes, Memory::Pinned);
  const auto operands = memory.get();
  memory.fill(problem, shapes);
  const auto seconds = [&](const auto& run) {
    return measure({run, {}, {}}, {options.warmup, options.repeat}, progress).median;
  };
  std::vector<Row> rows;
  {
    const device::gpu::KeepCurrentDevice keep;
    const int device = machine.ordinals(1).front();
    require(cudaSetDevice(device), "choosing the GPU");
    for (const int slices : options.slices) {
      progress.begin(fmt::format("{} slices", slices));
      Schedule<T> schedule(problem, shapes, operands, slices, device);
      Row row{.problem = problem, .slices = slices, .flops = gemm.flops(problem)};
      row.total = seconds([&] { schedule.run(); });
      row.kernels = seconds([&] { schedule.run_kernels(); });
      row.copies = seconds([&] { schedule.run_copies(); });
      rows.push_back(row);
    }
  }
  const auto* C = static_cast<const T*>(operands.C);
  const std::vector<T> theirs(C, C + shapes.C.elements());
  memory.fill_result(problem, shapes);
  RuntimeOptions start;
  start.gpus = 1, start.progress = false;
  const Runtime runtime(start);
  progress.begin("Tessera");
  Row ours{.problem = problem, .flops = gemm.flops(problem)};
  ours.total = seconds([&] { gemm.run_tessera(problem, operands); });
  rows.push_back(ours);
  compare<T>(problem, shapes.C, C, theirs);
  return rows;
}

nlohmann::ordered_json json_of(const Row& row) {
  const auto known = [](std::optional<double> value) { return value ? nlohmann::ordered_json(*value) : nullptr; };
  return {{"routine", "gemm"},
          {"type", std::string(1, row.problem.type)},
          {"m", row.problem.m},
          {"n", row.problem.n},
          {"k", row.problem.k},
          {"library", row.slices > 0 ? "slices" : "tessera"},
          {"slices", row.slices},
          {"total_s", row.total},
          {"kernels_s", known(row.kernels)},
          {"copies_s", known(row.copies)},
          {"gflops", 1e-9 * row.flops / row.total}};
}

int run(int argc, char** argv) {
  const auto options = parse_options(argc, argv);
  if (!options) return tools::Success;
  const auto machine = look_at_machine(true);
  if (!machine.has_cuda()) throw RuntimeError("there is no CUDA GPU (" + machine.why_not_more_gpus + ")");
  Progress progress(tools::with_environment({}).progress);
  tools::JsonLines json(options->json);
  const auto all = columns();
  progress.clear();
  json.note(tools::table_head(all));
  for (auto problem : options->problems) {
    problem.beta = 0;
    const auto rows = common::with_type(
        problem.type, [&]<Scalar T>(T) { return measure_problem<T>(*options, machine, problem, progress); });
    progress.clear();
    for (const auto& row : rows) {
      json.note(tools::table_line(all, row));
      json.write(json_of(row));
    }
  }
  return tools::Success;
}

}  // namespace

int main(int argc, char** argv) {
  return tools::exit_code_of("itu-slices", [&] { return run(argc, argv); });
}
