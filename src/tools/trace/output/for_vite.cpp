// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <tessera/error.hpp>

#include "common/whole_file.hpp"
#include "trace/input/paje_lines.hpp"
#include "trace/output/outputs.hpp"

namespace tessera::trace {

namespace {

// Event numbers of StarPU 1.4.10.
enum Event { DefineVariable = 4, DefineValue = 6, CreateContainer = 7, NewEvent = 9, SetVariable = 13, SetTask = 20 };

bool sets_a_state(int event) { return event == 10 || event == 11 || event == 12 || event == 20 || event == 26; }
bool is_a_link(int event) { return event == 18 || event == 19 || event == 23 || event == 24; }
bool is_an_event(int event) { return event == NewEvent || event == 22; }

constexpr std::string_view memory_used = "use";

/// Idle states have light colours, so that they look like gaps.
std::string_view colour_of_state(std::string_view name) {
  struct StateColour {
    std::string_view name, colour;
  };
  constexpr StateColour table[] = {
      {"Idle", "0.93 0.93 0.93"},          {"Sleeping", "0.93 0.93 0.93"},    {"FetchingInput", "0.84 0.37 0.00"},
      {"Initializing", "0.75 0.75 0.75"},  {"Progressing", "0.75 0.75 0.75"}, {"Deinitializing", "0.75 0.75 0.75"},
      {"Overhead", "0.55 0.55 0.55"},      {"Scheduling", "0.55 0.55 0.55"},  {"Callback", "0.55 0.55 0.55"},
      {"PushingOutput", "0.55 0.55 0.55"},
  };
  const auto* entry = std::ranges::find(table, name, &StateColour::name);
  return entry == std::end(table) ? "" : entry->colour;
}

std::vector<std::string> words_of(const std::string& line) {
  constexpr std::string_view white = " \t";
  std::vector<std::string> words;
  for (auto begin = line.find_first_not_of(white); begin != line.npos; begin = line.find_first_not_of(white, begin)) {
    const bool quoted = line[begin] == '"';
    auto end = quoted ? line.find('"', begin + 1) : line.find_first_of(white, begin);
    if (end == line.npos) end = line.size();
    else if (quoted) end++;
    words.push_back(line.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

std::string line_of(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, "\t")); }

class Filter {
 public:
  Filter(const Run& run, std::ostream& out) : out_(out) {
    for (const auto& task : run.tasks) names_.emplace(std::to_string(task.job), name_of(run, task));
    for (std::size_t node = 0; node < run.nodes.size(); node++)
      containers_[fmt::format("mn{}", node)] = run.nodes[node].name, containers_[fmt::format("mm{}", node)] = "memory";
    for (std::size_t w = 0; w < run.workers.size(); w++) containers_[fmt::format("w{}", w)] = run.workers[w].name;
    containers_["p"] = "run";
  }

  void pass(const std::string& line) {
    if (line.starts_with('%')) return define(line);
    auto words = words_of(line);
    const int event = words.empty() ? 0 : std::atoi(words.front().c_str());
    if (is_a_link(event) || is_an_event(event)) return;
    if (event == DefineVariable && words.at(1) != memory_used) return;
    if (event == SetVariable && words.at(3) != memory_used) return;
    // States of memory managers, of the program's threads and of drivers.
    if (sets_a_state(event) && (words.at(3) == "MS" || words.at(3) == "US" || words.at(3) == "S")) return;
    if ((event == CreateContainer || event == CreateContainer + 1) && leaves_out(words)) return;
    if (event == CreateContainer) words.back() = name_of_container(words);
    if (event == DefineValue) words.back() = colour(words);
    if (event == SetTask) words.at(tag_) = task(words);
    out_ << line_of(words) << '\n';
  }

 private:
  /// Turns the tag of a task's state into its name.
  void define(const std::string& line) {
    const auto words = words_of(line);
    if (words.size() == 3 && words[0] == "%EventDef") of_task_ = words[2] == "20";
    const bool is_tag = of_task_ && words.size() == 3 && words[1] == "Tag";
    out_ << (is_tag ? "%\tTask\tstring" : line) << '\n';
  }

  bool leaves_out(const std::vector<std::string>& words) {
    if (words.at(0) == "8") return gone_.contains(words.at(2));
    const bool gone = words.at(3) == "UT" || words.at(3) == "Sc";
    if (gone) gone_.insert(words.at(2));
    return gone;
  }

  std::string name_of_container(const std::vector<std::string>& words) const {
    const auto name = containers_.find(words.at(2));
    if (name != containers_.end()) return fmt::format("\"{}\"", in_quotes(name->second));
    return words.at(3) == "T" ? "driver" : words.back();
  }

  /// StarPU writes a task's colour as three numbers from 0 to 255. Paje defines them from 0 to 1.
  static std::string colour(const std::vector<std::string>& words) {
    auto name = std::string_view(words.at(3));
    if (name.starts_with('"')) name = name.substr(1, name.size() - 2);
    if (const auto ours = colour_of_state(name); !ours.empty()) return fmt::format("\"{}\"", ours);
    double red = 0, green = 0, blue = 0;
    if (std::sscanf(words.back().c_str(), "\"%lf %lf %lf\"", &red, &green, &blue) != 3 ||
        std::max({red, green, blue}) <= 1)
      return words.back();
    return fmt::format("\"{:.4f} {:.4f} {:.4f}\"", red / 255, green / 255, blue / 255);
  }

  std::string task(const std::vector<std::string>& words) const {
    const auto name = names_.find(words.at(job_));
    return fmt::format("\"{}\"", name == names_.end() ? "" : in_quotes(name->second));
  }

  static constexpr std::size_t tag_ = 8, job_ = 9;  // positions of the words in a task's state
  std::ostream& out_;
  std::unordered_map<std::string, std::string> names_;       ///< of tasks, by StarPU's job number
  std::unordered_map<std::string, std::string> containers_;  ///< by StarPU's alias
  std::set<std::string> gone_;
  bool of_task_ = false;
};

}  // namespace

void write_for_vite(const std::filesystem::path& file, const std::filesystem::path& starpus, const Run& run) {
  std::ifstream in(starpus);
  detail::WholeFile whole(file);
  Filter filter(run, whole.stream());
  PajeLines lines(in);
  while (lines.next()) filter.pass(lines.line());
  if (!in.eof()) throw RuntimeError(starpus.string() + " cannot be read");
  whole.commit();
}

}  // namespace tessera::trace
