// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

/// What was recorded of a run, in the words of the report. Times are seconds after the first event that is shown;
/// "node" is a memory node: the host's memory, or a GPU's. All indices are into the vectors of Run.
namespace tessera::trace {

inline constexpr int none = -1;
inline constexpr double never = std::numeric_limits<double>::infinity();

enum class Kind { Host, Gpu };

struct Node {
  std::string name;  ///< "host", "GPU 0"
  Kind kind = Kind::Host;
};

struct Worker {
  std::string name;  ///< "CPU 0", "GPU 0", "GPU 0.1" if several drive it
  Kind kind = Kind::Host;
  int node = 0;
};

/// What StarPU moves as one, for as long as it was registered.
struct Tile {
  char operand =
      '-';  ///< what Tessera's first call calls its matrix, A, B or C, whatever later ones do; '-': not known
  int row = none, column = none;
  std::uint64_t bytes = 0;
  bool temporary = false;  ///< it has no place in the host's memory
};

struct Access {
  int tile = none;
  char operand = '-';  ///< the tile's letter
  bool read = false, write = false;
  bool scratch = false;  ///< a workspace: neither is brought nor lasts
};

struct Task {
  long job = 0;  ///< StarPU's number
  int routine = none;
  int worker = none;                           ///< none: it had not started when the trace ends
  int row = none, column = none, step = none;  ///< of the tile that it writes, and which of its terms it adds
  char output = '-';                           ///< operand letter of that tile
  double submitted = 0, ready = 0, start = 0, end = 0;
  double flops = 0;
  std::vector<Access> accesses;
  std::vector<int> after;  ///< tasks that had to end first
};

/// A kind of task.
struct Routine {
  std::string name;          ///< of the codelet: "gemm"
  std::uint32_t colour = 0;  ///< 0xRRGGBB
};

struct Transfer {
  enum class Reason { Fetch, Prefetch, WriteBack };  ///< for a task that waits; ahead of one; out of a full memory
  int from = 0, to = 0;                              ///< nodes
  int tile = none;
  char operand = '-';  ///< what the tile is to the task that it comes for or from
  Reason reason = Reason::Fetch;
  std::uint64_t bytes = 0;
  double start = 0, end = 0;  ///< when it had the link; those of a link do not overlap
  double asked = 0;           ///< when it joined the queue of its link
};

/// Bytes that StarPU has allocated on a node, from each time on.
struct MemoryUse {
  int node = 0;
  std::vector<double> time, bytes;
};

/// StarPU's own counts of the same run, to be compared with what the trace adds up to. Empty: not known.
struct Counted {
  struct Link {
    int from = 0, to = 0;
    std::uint64_t bytes = 0;
    double rate = 0;  ///< bytes/s that StarPU takes the link for
  };
  std::vector<Link> links;
  std::vector<std::uint64_t> tasks;  ///< by worker
};

struct Run {
  std::string title;    ///< one line: what ran
  std::string command;  ///< its words
  std::string machine;  ///< "4 NVIDIA H200, 64 cores"
  std::string policy;
  bool simulated = false;
  std::vector<std::string> warnings;  ///< sentences: why this is not the whole run, or not to be trusted
  double span = 0;                    ///< all that is shown lies between 0 and span
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
