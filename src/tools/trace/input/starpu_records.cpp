// SPDX-License-Identifier: BSD-3-Clause
#include "trace/input/starpu_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <string_view>

#include <tessera/error.hpp>

#include "trace/input/fields.hpp"

namespace tessera::trace {

namespace {

namespace fs = std::filesystem;

/// Whether this key may follow a name. StarPU writes names without escapes.
bool comes_after_a_name(std::string_view key) {
  constexpr std::array<std::string_view, 10> keys = {"Name", "Model", "File",        "Line",     "JobId",
                                                     "Tag",  "Size",  "SubmitOrder", "Priority", "Control"};
  return std::ranges::count(keys, key) > 0;
}

/// A paragraph of "Key: value" lines. A name may continue in further lines, even empty ones.
class Record {
 public:
  explicit Record(const fs::path& file) : file_(file) {}

  void clear() { text_.clear(), lines_.clear(); }
  bool empty() const { return lines_.empty(); }
  void add(std::string_view line) {
    const auto colon = line.find(':');
    if (in_name() && !comes_after_a_name(line.substr(0, std::min(colon, line.size())))) {
      text_ += '\n';
      lines_.back().size += line.size() + 1;
    } else {
      if (colon == line.npos) complain(line);
      lines_.push_back({text_.size(), colon, line.size()});
    }
    text_ += line;
  }
  /// Whether the last line is a name.
  bool in_name() const {
    constexpr std::array<std::string_view, 4> names = {"Name", "Model", "File", "DepLabels"};
    return !lines_.empty() && std::ranges::count(names, key_of(lines_.back())) > 0;
  }

  /// "" if the key is missing. The last line with the key counts: StarPU writes names before everything else, and a
  /// line of a name may look like another key.
  std::string_view operator[](std::string_view key) const {
    const auto line = std::find_if(lines_.rbegin(), lines_.rend(), [&](const Line& l) { return key_of(l) == key; });
    return line == lines_.rend() ? std::string_view() : value_of(*line);
  }
  /// The first line with the key.
  std::string_view name() const {
    const auto line = std::ranges::find(lines_, "Name", [&](const Line& l) { return key_of(l); });
    return line == lines_.end() ? std::string_view() : value_of(*line);
  }
  template <typename Number>
  Number as(std::string_view key, Number otherwise) const {
    const auto text = (*this)[key];
    if (text.empty()) return otherwise;
    const auto value = number<Number>(text);
    if (!value) complain(text);
    return *value;
  }
  /// -1 if there is none
  int worker() const {
    const auto text = (*this)["WorkerId"];
    const auto number = text.empty() || text == "-1" ? -1 : place(text);
    if (!number) complain(text);
    return *number;
  }
  double seconds(std::string_view key) const {
    const auto milliseconds = as<double>(key, -1);
    return milliseconds < 0 ? -1 : milliseconds / 1e3;
  }
  std::uint64_t address(std::string_view text) const {
    const auto value = hexadecimal<std::uint64_t>(text);
    if (!value) complain(text);
    return *value;
  }
  /// Visits the words of a line.
  template <typename Add>
  void each(std::string_view key, Add&& add) const {
    std::vector<std::string_view> words;
    split((*this)[key], words);
    for (const auto word : words) add(word);
  }
  [[noreturn]] void complain(std::string_view text) const {
    throw RuntimeError(fmt::format("{}: '{}' is not what StarPU writes", file_.string(), text));
  }

 private:
  struct Line {
    std::size_t begin, colon, size;
  };
  std::string_view key_of(const Line& line) const { return std::string_view(text_).substr(line.begin, line.colon); }
  std::string_view value_of(const Line& line) const {
    const auto value = std::string_view(text_).substr(line.begin + line.colon + 1, line.size - line.colon - 1);
    return value.starts_with(' ') ? value.substr(1) : value;  // further blanks belong to a name
  }

  const fs::path& file_;
  std::string text_;
  std::vector<Line> lines_;
};

void for_each_record(const fs::path& file, const std::function<void(const Record&)>& use) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw RuntimeError(file.string() + ": cannot be read");
  Record record(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() || record.in_name()) {
      record.add(line);
    } else if (!record.empty()) {
      use(record);
      record.clear();
    }
  }
  if (!record.empty()) use(record);
}

/// Whether the program submitted the task. Tasks that StarPU submits have no place in the order of submission, except
/// for wrappers that run once on each worker. These have neither a name nor data, whereas a program's task has at least
/// data.
bool of_the_program(const Record& record) {
  return record.as<long>("SubmitOrder", 0) > 0 && (record.name() != "unknown" || !record["Handles"].empty());
}

void read_buffers(const Record& record, RecordedTask& task) {
  record.each("Handles", [&](std::string_view word) { task.buffers.push_back({record.address(word)}); });
  std::size_t i = 0;
  record.each("Modes", [&](std::string_view mode) {
    if (i >= task.buffers.size()) return;
    auto& buffer = task.buffers[i++];
    const bool reduces = mode.find('X') != mode.npos;
    buffer.read = mode.find('R') != mode.npos || reduces;
    buffer.write = mode.find('W') != mode.npos || reduces;
    buffer.scratch = mode.find('S') != mode.npos;
  });
  i = 0;
  record.each("Sizes", [&](std::string_view size) {
    if (i < task.buffers.size()) task.buffers[i++].bytes = number<std::uint64_t>(size).value_or(0);
  });
}

}  // namespace

std::vector<RecordedTask> read_tasks(const fs::path& file) {
  std::vector<RecordedTask> tasks;
  for_each_record(file, [&](const Record& record) {
    if (!record["Control"].empty()) return;  // not a task
    auto& task = tasks.emplace_back();
    task.job = record.as<long>("JobId", 0);
    task.name = record.name();
    task.of_the_program = of_the_program(record);
    task.worker = record.worker();
    task.submitted = record.seconds("SubmitTime");
    task.start = record.seconds("StartTime"), task.end = record.seconds("EndTime");
    task.flops = 1e9 * record.as<double>("GFlop", 0);
    if (const auto tag = record["Tag"]; !tag.empty()) task.tag = record.address(tag);
    read_buffers(record, task);
    record.each("DependsOn", [&](std::string_view word) {
      if (const auto job = number<long>(word)) task.after.push_back(*job);
    });
  });
  return tasks;
}

std::vector<RecordedData> read_data(const fs::path& file) {
  std::vector<RecordedData> all;
  for_each_record(file, [&](const Record& record) {
    auto& data = all.emplace_back();
    data.handle = record.address(record["Handle"]);
    data.bytes = record.as<std::uint64_t>("Size", 0);
    data.name = record.name();
    data.temporary = record.as<int>("HomeNode", 0) < 0;
    record.each("Coordinates",
                [&](std::string_view word) { data.coordinates.push_back(number<int>(word).value_or(0)); });
  });
  return all;
}

std::unordered_map<long, double> read_pushes(const fs::path& file) {
  std::unordered_map<long, double> pushes;
  for_each_record(file, [&](const Record& record) {
    if (record["Type"] == "push") pushes.try_emplace(record.as<long>("JobId", 0), record.seconds("Time"));
  });
  return pushes;
}

}  // namespace tessera::trace
