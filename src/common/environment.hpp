// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tessera::detail {

/// The value of an environment variable; empty if it is not set.
inline std::string_view environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

/// The number that the whole text is; nothing if it is none, or one that the type cannot hold.
template <typename Number>
std::optional<Number> as_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

/// Sets an environment variable for as long as this object lives. StarPU reads some settings only from the environment.
class TemporaryVariable {
 public:
  enum class IfSet { Keep, Replace };  ///< whether to keep or replace a value that is already set

  TemporaryVariable(std::string name, const std::string& value, IfSet if_set = IfSet::Keep) : name_(std::move(name)) {
    if (const char* given = std::getenv(name_.c_str()); given != nullptr) {
      if (if_set == IfSet::Keep) return;
      given_ = given;
    }
    setenv(name_.c_str(), value.c_str(), 1);
    ours_ = true;
  }
  /// Removes the variable for as long as the result lives.
  static TemporaryVariable absent(const std::string& name) {
    TemporaryVariable variable(name, "", IfSet::Replace);
    unsetenv(name.c_str());
    return variable;
  }
  TemporaryVariable(TemporaryVariable&& other) noexcept
      : name_(std::move(other.name_)), given_(std::move(other.given_)), ours_(std::exchange(other.ours_, false)) {}
  TemporaryVariable& operator=(TemporaryVariable&&) = delete;
  ~TemporaryVariable() {
    if (!ours_) return;
    if (given_) setenv(name_.c_str(), given_->c_str(), 1);
    else unsetenv(name_.c_str());
  }

 private:
  std::string name_;
  std::optional<std::string> given_;
  bool ours_ = false;
};

}  // namespace tessera::detail
