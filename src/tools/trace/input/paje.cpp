// SPDX-License-Identifier: BSD-3-Clause
#include "trace/input/paje.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <unordered_map>
#include <unordered_set>

#include <tessera/error.hpp>

#include "trace/input/fields.hpp"
#include "trace/input/paje_lines.hpp"

namespace tessera::trace {

namespace {

enum Field {
  Time,
  Alias,
  Type,
  Container,
  Name,
  Color,
  Value,
  StartContainer,
  EndContainer,
  Key,
  Handle,
  X,
  Y,
  fields
};
constexpr std::array<std::string_view, fields> field_names = {
    "Time",           "Alias",        "Type", "Container", "Name", "Color", "Value",
    "StartContainer", "EndContainer", "Key",  "Handle",    "X",    "Y"};

class Reader;

/// A kind of line. The definitions at the start of the file name its columns.
struct Definition {
  void (Reader::*understand)() = nullptr;
  std::array<int, fields> column;
  int columns = 1;  // the first one is the number of the definition

  Definition() { column.fill(-1); }
  void add(std::string_view field) {
    if (const auto known = std::ranges::find(field_names, field); known != field_names.end())
      column[static_cast<std::size_t>(known - field_names.begin())] = columns;
    columns++;
  }
};

class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : file_(file) {}

  PajeTrace read() {
    std::ifstream in(file_, std::ios::binary);
    if (!in) throw RuntimeError(file_.string() + ": cannot be read");
    std::vector<char> buffer(1 << 20);
    in.rdbuf()->pubsetbuf(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    PajeLines lines(in);
    while (lines.next()) {
      number_ = lines.number();
      if (lines.line().starts_with('%')) define(lines.line());
      else understand(lines.line());
    }
    if (definitions_.empty()) throw RuntimeError(file_.string() + ": is not a trace for ViTE");
    finish();
    return std::move(trace_);
  }

 private:
  void define(std::string_view line) {
    split(line.substr(1), words_);
    if (words_.empty() || words_[0] == "EndEventDef") return;
    if (words_[0] == "EventDef" && words_.size() == 3) {
      defined_ = std::string(words_[2]);
      auto& definition = definitions_[defined_] = {};
      for (const auto& [event, understand] : events)
        if (event == words_[1]) definition.understand = understand;
    } else if (const auto known = definitions_.find(defined_); known != definitions_.end()) {
      known->second.add(words_[0]);
    } else {
      complain();
    }
  }

  void understand(std::string_view line) {
    split(line, words_);
    if (words_.empty()) return;
    const auto known = definitions_.find(std::string(words_[0]));
    if (known == definitions_.end()) complain();
    definition_ = &known->second;
    if (definition_->column[Time] >= 0) trace_.end = std::max(trace_.end, time());
    if (definition_->understand != nullptr) (this->*definition_->understand)();
  }

  std::string_view operator[](Field field) const {
    const auto column = static_cast<std::size_t>(definition_->column[field]);
    if (column >= words_.size()) complain();  // also if the definition lacks the column
    return words_[column];
  }
  template <typename Number>
  Number as(Field field) const {
    const auto value = number<Number>((*this)[field]);
    if (!value) complain();
    return *value;
  }
  double time() const { return as<double>(Time) / 1e3; }
  /// The node of a memory manager's container: "mm3".
  int node(Field field) const {
    const auto alias = (*this)[field];
    const auto value = alias.starts_with("mm") ? place(alias.substr(2)) : std::nullopt;
    if (!value) complain();
    return *value;
  }
  std::uint64_t handle(Field field) const {
    const auto value = hexadecimal<std::uint64_t>((*this)[field]);
    if (!value) complain();
    return *value;
  }
  [[noreturn]] void complain() const {
    throw RuntimeError(fmt::format("{}: line {} is not what StarPU writes", file_.string(), number_));
  }

  void start_link() {
    constexpr std::array<std::string_view, 4> kinds = {"F", "TF", "PF", "IF"};
    const auto kind = std::ranges::find(kinds, (*this)[Type]);
    if (kind == kinds.end() || definition_->column[Handle] < 0) return;
    const auto [known, is_new] = open_.try_emplace(std::string((*this)[Key]), trace_.transfers.size());
    if (!is_new) return;  // StarPU repeats the start of a transfer that never ends, at time 0
    PajeTrace::Transfer transfer;
    transfer.kind = *kind;
    transfer.from = node(StartContainer);
    transfer.handle = handle(Handle), transfer.bytes = as<std::uint64_t>(Value);
    transfer.x = as<int>(X), transfer.y = as<int>(Y);
    transfer.start = time();
    transfer.evicts = transfer.kind == "F" && std::ranges::count(states_[transfer.from], true) > 0;
    trace_.transfers.push_back(transfer);
  }

  void end_link() {
    const auto known = open_.find(std::string((*this)[Key]));
    if (known == open_.end()) return;  // its start was not recorded
    auto& transfer = trace_.transfers[known->second];
    transfer.to = node(EndContainer), transfer.end = time();
    open_.erase(known);
  }

  void set_variable() {
    if ((*this)[Type] != "use") return;
    trace_.memory.push_back({time(), node(Container), std::round(as<double>(Value) * (1 << 20))});
  }

  void new_event() {
    const auto type = (*this)[Type];
    if (type == "register" || type == "unregister")
      trace_.registrations.push_back({time(), handle(Value), type == "register"});
    else if (type == "prog_event" && (*this)[Value] == "fxt_start_flush") trace_.flushes++, trace_.flushing -= time();
    else if (type == "prog_event" && (*this)[Value] == "fxt_stop_flush") trace_.flushing += time();
  }

  /// Begins a state of a memory manager. "W" means that StarPU frees a full memory. States may be nested.
  void push_state() {
    if ((*this)[Type] == "MS") states_[node(Container)].push_back((*this)[Value] == "W");
  }
  void pop_state() {
    if ((*this)[Type] != "MS") return;
    if (auto& states = states_[node(Container)]; !states.empty()) states.pop_back();
  }

  void create_container() {
    const std::string alias((*this)[Alias]);
    const auto type = (*this)[Type], name = (*this)[Name], parent = (*this)[Container];
    if (type == "Mm") {
      trace_.nodes = std::max(trace_.nodes, node(Alias) + 1);
    } else if (type == "T") {
      node_of_thread_[alias] = parent.starts_with("mn") ? place(parent.substr(2)).value_or(0) : 0;
      alive_.insert(alias);
    } else if (type == "W") {
      const auto id = alias.starts_with('w') ? place(std::string_view(alias).substr(1)) : std::nullopt;
      if (!id) complain();
      const auto digits = std::min(name.size(), name.find_first_of("0123456789"));
      const auto end = std::min(name.size(), name.find('_'));
      trace_.workers[*id] = {std::string(name.substr(0, digits)),
                             number<int>(name.substr(digits, end - digits)).value_or(*id),
                             node_of_thread_[std::string(parent)]};
    }
  }

  /// The colour of a codelet. StarPU writes colours chosen by the program as three numbers from 0 to 255, and its own
  /// colours as numbers from 0 to 1, as Paje defines them.
  void define_value() {
    if ((*this)[Type] != "WS") return;
    std::vector<std::string_view> parts;
    split((*this)[Color], parts);
    double most = 0;
    std::uint32_t colour = 0;
    for (const auto part : parts) {
      const double component = std::clamp(number<double>(part).value_or(0), 0., 255.);
      most = std::max(most, component);
      colour = colour << 8 | static_cast<std::uint32_t>(std::lround(component));
    }
    if (parts.size() == 3 && most > 1) trace_.colours[std::string((*this)[Name])] = colour;
  }

  void destroy_container() { alive_.erase(std::string((*this)[Name])); }

  void finish() {
    std::erase_if(trace_.transfers, [](const auto& transfer) { return transfer.to < 0; });
    trace_.flushing = std::max(0., trace_.flushing);
    trace_.whole = !node_of_thread_.empty() && alive_.empty();
  }

  static constexpr std::pair<std::string_view, void (Reader::*)()> events[] = {
      {"PajeStartLink", &Reader::start_link},
      {"PajeEndLink", &Reader::end_link},
      {"PajeSetVariable", &Reader::set_variable},
      {"PajeNewEvent", &Reader::new_event},
      {"PajePushState", &Reader::push_state},
      {"PajePopState", &Reader::pop_state},
      {"PajeCreateContainer", &Reader::create_container},
      {"PajeDestroyContainer", &Reader::destroy_container},
      {"PajeDefineEntityValue", &Reader::define_value},
  };

  const std::filesystem::path file_;
  std::size_t number_ = 0;
  std::string defined_;
  std::unordered_map<std::string, Definition> definitions_;
  std::vector<std::string_view> words_;
  const Definition* definition_ = nullptr;
  PajeTrace trace_;
  std::unordered_map<std::string, std::size_t> open_;  ///< transfers without an end so far, by key
  std::unordered_map<int, std::vector<bool>> states_;
  std::unordered_map<std::string, int> node_of_thread_;
  std::unordered_set<std::string> alive_;  ///< threads of workers
};

}  // namespace

PajeTrace read_paje(const std::filesystem::path& file) { return Reader(file).read(); }

}  // namespace tessera::trace
