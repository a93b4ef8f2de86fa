// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <istream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tessera::trace {

/// A name in the form that StarPU's trace for ViTE can carry: readable, and without the quotes that would end it.
std::string in_quotes(std::string_view name);

/// The lines of StarPU's trace for ViTE. StarPU writes the names of codelets, tasks, data and events without escaping,
/// although a name may contain line breaks, tabs and quotes, or be empty. This class joins the lines that a
/// line break in a name has split, and quotes the names.
class PajeLines {
 public:
  explicit PajeLines(std::istream& in) : in_(in) {}

  /// @return false at the end; a last line without a line break is left out
  bool next();
  const std::string& line() const { return line_; }
  /// Counted from 1, in the file.
  std::size_t number() const { return number_; }

 private:
  /// A kind of event that has a name.
  struct Kind {
    enum class Name { None, Once, Twice } name = Name::None;
    std::size_t columns = 1;  ///< including the event's number
    std::size_t place = 0;    ///< column of the name; 0: it has none
    bool timed = false;       ///< the first column after the number is the time
  };

  bool read();
  void define();
  const Kind* kind_of(std::string_view line) const;
  void repair(const Kind& kind);
  void repair_twice();

  std::istream& in_;
  std::string line_, ahead_;
  std::size_t number_ = 0, read_ = 0;
  bool has_ahead_ = false, defining_ = true;
  const Kind* kind_ahead_ = nullptr;  ///< kind of the line ahead
  std::string event_, name_column_;
  std::unordered_map<std::string, Kind> kinds_;
  std::vector<std::string_view> words_;
};

}  // namespace tessera::trace
