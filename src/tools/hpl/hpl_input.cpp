// SPDX-License-Identifier: BSD-3-Clause
#include "hpl/hpl_input.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <sstream>

#include "shared/exit_code.hpp"
#include "shared/formatting.hpp"

namespace tessera::hpl {

namespace {

/// The lines of an HPL.dat. Each line starts with its values, followed by explanatory words.
class Lines {
 public:
  Lines(std::istream& file, const std::string& name) : file_(file), name_(name) {}

  /// Advances by `count` lines.
  /// @param what  the contents of the last of these lines, for messages
  void advance(const char* what, int count = 1) {
    for (what_ = what; count > 0; count--) {
      std::string line;
      number_++;
      if (!std::getline(file_, line)) refuse("the file ends before it");
      words_.clear();
      words_.str(line);
    }
  }

  /// The next word of the line; empty if there is none.
  std::string next() {
    std::string word;
    words_ >> word;
    return word;
  }
  std::string word() {
    auto word = next();
    if (word.empty()) refuse("the line has too few values");
    return word;
  }

  template <typename Number>
  Number number(Number least, Number most) {
    const auto text = word();
    Number value{};
    const bool signed_plus = text.size() > 1 && text[0] == '+' && text[1] != '-';  // from_chars knows no such sign
    const auto [end, error] = std::from_chars(text.data() + (signed_plus ? 1 : 0), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !(value >= least && value <= most))
      refuse(fmt::format("'{}' is not a number from {} to {}", tools::excerpt(text), least, most));
    return value;
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw tools::BadArgument(fmt::format("{}, line {}, {}: {}", name_, number_, what_, why));
  }

 private:
  std::istream& file_;
  const std::string& name_;
  std::istringstream words_;
  const char* what_ = "";
  int number_ = 0;
};

constexpr Index largest_order = std::numeric_limits<int>::max();  // HPL's own sizes have 32 bits

/// Reads a line with the number of values, at most as many as HPL accepts, and a line with these values.
std::vector<Index> read_list(Lines& lines, const char* count_of, const char* what, Index least) {
  constexpr Index most = 20;
  lines.advance(count_of);
  std::vector<Index> values(static_cast<std::size_t>(lines.number<Index>(1, most)));
  lines.advance(what);
  for (auto& value : values) value = lines.number<Index>(least, largest_order);
  return values;
}

}  // namespace

Input read_input(std::istream& file, const std::string& name) {
  Input input;
  Lines lines(file, name);
  lines.advance("output file name", 3);
  input.output = lines.next();
  lines.advance("device out");
  const auto device = lines.number<Index>(0, largest_order);
  input.device = device == 6   ? Input::Device::StandardOutput
                 : device == 7 ? Input::Device::StandardError
                               : Input::Device::File;
  if (input.device == Input::Device::File && input.output.empty())
    lines.refuse(fmt::format("{} is a file, but line 3 has no name", device));
  input.sizes = read_list(lines, "number of problem sizes", "N", 1);
  input.panel_sizes = read_list(lines, "number of NBs", "NB", 0);
  for (const char* usual : {"0", "1", "1", "1"}) {
    lines.advance("threshold");
    input.says_more = lines.next() != usual || input.says_more;
  }
  lines.advance("threshold");
  constexpr double infinity = std::numeric_limits<double>::infinity();
  input.threshold = lines.number<double>(-infinity, infinity);
  input.says_more = input.says_more || (file >> std::ws && !file.eof());
  return input;
}

std::vector<ProcessGrid> read_grids(std::istream& file, const std::string& name) {
  Lines lines(file, name);
  lines.advance("PMAP", 9);
  const auto rows = read_list(lines, "number of process grids", "P", 1);
  lines.advance("Q");
  std::vector<ProcessGrid> grids;
  for (const Index p : rows) grids.push_back({static_cast<int>(p), lines.number<int>(1, largest_order)});
  return grids;
}

}  // namespace tessera::hpl
