// SPDX-License-Identifier: BSD-3-Clause
#include "trace/input/paje_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "shared/formatting.hpp"
#include "trace/input/fields.hpp"

namespace tessera::trace {

namespace {

/// The column with the name in each kind of event that has one.
constexpr std::pair<std::string_view, std::string_view> named_events[] = {{"PajeDefineEntityValue", "Name"},
                                                                          {"PajeSetState", "Value"},
                                                                          {"PajeNewEvent", "Value"},
                                                                          {"PajeStartLink", "HName"}};

std::string_view without_quotes(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return quoted ? text.substr(1, text.size() - 2) : text;
}

/// Repairs other parts of a line that are not valid UTF-8, such as descriptions of data, or damage.
void repair_characters(std::string& line) {
  if (std::ranges::all_of(line, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) return;
  std::string repaired;
  for (std::size_t begin = 0; begin <= line.size();) {
    const auto end = std::min(line.size(), line.find('\t', begin));
    if (begin > 0) repaired += '\t';
    if (end > begin) repaired += tools::readable(std::string_view(line).substr(begin, end - begin));
    begin = end + 1;
  }
  line = std::move(repaired);
}

}  // namespace

std::string in_quotes(std::string_view name) {
  auto text = tools::readable(name);
  std::ranges::replace(text, '"', '\'');
  return text;
}

bool PajeLines::read() {
  if (!std::getline(in_, ahead_) || in_.eof()) return false;
  read_++;
  return true;
}

bool PajeLines::next() {
  const bool known = std::exchange(has_ahead_, false);
  if (!known && !read()) return false;
  line_ = std::move(ahead_), number_ = read_;
  if (defining_ && line_.starts_with('%')) return define(), true;
  defining_ = false;
  const auto* const kind = known ? kind_ahead_ : kind_of(line_);
  if (kind == nullptr || kind->name == Kind::Name::None) return repair_characters(line_), true;
  while ((has_ahead_ = read()) && (kind_ahead_ = kind_of(ahead_)) == nullptr) line_ += '\n' + ahead_;
  if (kind->name == Kind::Name::Twice) repair_twice();
  else repair(*kind);
  repair_characters(line_);
  return true;
}

void PajeLines::define() {
  split(std::string_view(line_).substr(1), words_);
  if (words_.empty() || words_[0] == "EndEventDef") return;
  if (words_[0] == "EventDef" && words_.size() == 3) {
    auto& kind = kinds_[event_ = std::string(words_[2])] = {};
    const auto named = std::ranges::find(named_events, words_[1], [](const auto& event) { return event.first; });
    name_column_ = named == std::end(named_events) ? "" : named->second;
    if (words_[1] == "PajeDefineEntityValue") kind.name = Kind::Name::Twice;
    return;
  }
  auto& kind = kinds_[event_];
  if (words_[0] == "Time" && kind.columns == 1) kind.timed = true;
  if (words_[0] == name_column_ && kind.name == Kind::Name::None)
    kind.name = Kind::Name::Once, kind.place = kind.columns;
  kind.columns++;
}

/// The kind of event that begins here; null if none does. StarPU separates columns by a tab or several spaces.
const PajeLines::Kind* PajeLines::kind_of(std::string_view line) const {
  const auto digits = std::min(line.size(), line.find_first_not_of("0123456789"));
  const auto blanks = line.substr(digits);
  if (digits == 0 || !(blanks.starts_with('\t') || blanks.starts_with("  "))) return nullptr;
  const auto known = kinds_.find(std::string(line.substr(0, digits)));
  if (known == kinds_.end()) return nullptr;
  if (!known->second.timed) return &known->second;
  const auto begin = std::min(line.size(), line.find_first_not_of(" \t", digits));
  const auto end = std::min(line.size(), line.find_first_of(" \t", begin));
  return trace::number<double>(line.substr(begin, end - begin)) ? &known->second : nullptr;
}

/// Joins surplus columns to the name, to which they belong.
void PajeLines::repair(const Kind& kind) {
  const std::string_view line = line_;
  std::vector<std::size_t> tabs;
  for (auto at = line.find('\t'); at != line.npos; at = line.find('\t', at + 1)) tabs.push_back(at);
  if (tabs.size() + 1 < kind.columns) return;
  const auto begin = tabs[kind.place - 1] + 1, after = kind.columns - kind.place - 1;  // columns after the name
  const auto end = after == 0 ? line.size() : tabs[tabs.size() - after];
  const auto name = line.substr(begin, end - begin);
  const bool quoted = name.starts_with('"');
  if (!quoted && name.find_first_of(" \t\n\"") == name.npos && !name.empty()) return;
  line_ =
      std::string(line.substr(0, begin)) + '"' + in_quotes(without_quotes(name)) + '"' + std::string(line.substr(end));
}

/// A value is defined by an alias, a type, its name, and a colour in quotes. The alias is the name; if the type belongs
/// to a scheduling context, the context's number is appended.
void PajeLines::repair_twice() {
  const std::string_view line = line_;
  const auto begin = std::min(line.size(), line.find_first_of(" \t")) + 1, last = line.find_last_of('"');
  const auto colour = last == line.npos || last == 0 ? line.npos : line.rfind("\t\"", last - 1);
  if (colour == line.npos || colour < begin) return;
  const auto names = line.substr(begin, colour - begin);
  for (auto at = names.find('\t'); at != names.npos; at = names.find('\t', at + 1)) {
    const auto end = names.find('\t', at + 1);
    if (end == names.npos) return;
    const auto alias = names.substr(0, at), type = names.substr(at, end + 1 - at), name = names.substr(end + 1);
    const auto context = type.starts_with("\tCtx") ? "_" + std::string(type.substr(4, type.size() - 5)) : "";
    if ((context.empty() && type != "\tWS\t") || alias != std::string(name) + context) continue;
    if (!name.empty() && name.find_first_of(" \t\n\"") == name.npos && name == in_quotes(name)) return;
    line_ = fmt::format("{}\"{}{}\"{}\"{}\"{}", line.substr(0, begin), in_quotes(name), context, type, in_quotes(name),
                        line.substr(colour));
    return;
  }
}

}  // namespace tessera::trace
