// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

/// A recorded run. Times are seconds after the first event shown. A "node" is a memory node: the host's memory or a
/// GPU's. All indices refer to the vectors of Run.
namespace tessera::trace {

inline constexpr int none = -1;
inline constexpr double never = std::numeric_limits<double>::infinity();

enum class Kind { Host, Gpu };

struct Node {
  std::string name;  ///< "host", "GPU 0"
  Kind kind = Kind::Host;
};

struct Worker {
  std::string name;  ///< "CPU 0", "GPU 0", or "GPU 0.1" if several workers drive the GPU
  Kind kind = Kind::Host;
  int node = 0;
};

/// A piece of data that StarPU moves as a whole, from its registration to its unregistration.
struct Tile {
  /// The letter of the matrix in Tessera's first call with it (A, B or C); later calls may use another. '-': unknown.
  char operand = '-';
  int row = none, column = none;
  std::uint64_t bytes = 0;
  bool temporary = false;  ///< has no place in host memory
};

struct Access {
  int tile = none;
  char operand = '-';  ///< the letter of the tile
  bool read = false, write = false;
  bool scratch = false;  ///< a workspace, which is neither copied nor kept
};

struct Task {
  long job = 0;  ///< StarPU's job number
  int routine = none;
  int worker = none;                           ///< none: not started before the end of the trace
  int row = none, column = none, step = none;  ///< position of the tile that it writes, and the index of the added term
  char output = '-';                           ///< operand letter of that tile
  double submitted = 0, ready = 0, start = 0, end = 0;
  double flops = 0;
  std::vector<Access> accesses;
  std::vector<int> after;  ///< tasks that it depends on
};

/// A kind of task.
struct Routine {
  std::string name;          ///< name of the codelet: "gemm"
  std::uint32_t colour = 0;  ///< 0xRRGGBB
};

struct Transfer {
  enum class Reason { Fetch, Prefetch, WriteBack };  ///< for a waiting task; ahead of a task; out of a full memory
  int from = 0, to = 0;                              ///< nodes
  int tile = none;
  char operand = '-';  ///< the letter of the tile in the task that needs it or wrote it
  Reason reason = Reason::Fetch;
  std::uint64_t bytes = 0;
  double start = 0, end = 0;  ///< when it used the link; transfers of a link do not overlap
  double asked = 0;           ///< when it was requested
};

/// Bytes that StarPU has allocated on a node; each value holds until the next time.
struct MemoryUse {
  int node = 0;
  std::vector<double> time, bytes;
};

/// StarPU's own statistics of the run, to be compared with the trace. Empty if unknown.
struct Counted {
  struct Link {
    int from = 0, to = 0;
    std::uint64_t bytes = 0;
    double rate = 0;  ///< bytes/s of the link in StarPU's model
  };
  std::vector<Link> links;
  std::vector<std::uint64_t> tasks;  ///< by worker
};

struct Run {
  std::string title;    ///< what ran, in one line
  std::string command;  ///< words separated by spaces
  std::string machine;  ///< "4 NVIDIA H200, 64 cores"
  std::string policy;
  bool simulated = false;
  std::vector<std::string> warnings;  ///< sentences: why the report is incomplete or inexact
  double span = 0;                    ///< everything shown lies between 0 and span
  std::vector<Node> nodes;
  std::vector<Worker> workers;
  std::vector<Routine> routines;
  std::vector<Tile> tiles;
  std::vector<Task> tasks;          ///< in the order of submission
  std::vector<Transfer> transfers;  ///< in the order of their starts; only between different nodes
  std::vector<MemoryUse> memory;
  Counted counted;
};

/// "gemm C(3,5) k=7"
std::string name_of(const Run& run, const Task& task);
/// "A(3,7)"
std::string name_of(const Run& run, int tile, char operand);
/// "host → GPU 1"
std::string link_name(const Run& run, int from, int to);

}  // namespace tessera::trace
