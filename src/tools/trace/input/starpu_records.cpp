// SPDX-License-Identifier: BSD-3-Clause
#include "trace/input/starpu_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <string_view>

#include <tessera/error.hpp>

#include "trace/input/fields.hpp"

namespace tessera::trace {

namespace {

namespace fs = std::filesystem;

/// A paragraph of "Key: value" lines.
class Record {
 public:
  explicit Record(const fs::path& file) : file_(file) {}

  void clear() { text_.clear(), lines_.clear(); }
  bool empty() const { return lines_.empty(); }
  void add(std::string_view line) {
    const auto colon = line.find(':');
    if (colon == line.npos) complain(line);
    const auto value = std::min(line.size(), line.find_first_not_of(' ', colon + 1));
    lines_.push_back({text_.size(), colon, value, line.size()});
    text_ += line;
  }

  /// "" if the key is missing.
  std::string_view operator[](std::string_view key) const {
    for (const auto& line : lines_)
      if (const auto text = std::string_view(text_).substr(line.begin, line.size); text.substr(0, line.colon) == key)
        return text.substr(line.value);
    return {};
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
    std::size_t begin, colon, value, size;
  };
  const fs::path& file_;
  std::string text_;
  std::vector<Line> lines_;
};

void for_each_record(const fs::path& file, const std::function<void(const Record&)>& use) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw RuntimeError(file.string() + ": cannot be read");
  Record record(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) {
      record.add(line);
    } else if (!record.empty()) {
      use(record);
      record.clear();
    }
  }
  if (!record.empty()) use(record);
}

/// Tasks that StarPU submits itself have no place in the order of submission. Wrappers that run once on each worker
/// have neither that nor data.
bool of_the_program(const Record& record) {
  return record.as<long>("SubmitOrder", 0) > 0 && record["Name"] != "unknown";
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
    task.name = record["Name"];
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
    data.name = record["Name"];
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
