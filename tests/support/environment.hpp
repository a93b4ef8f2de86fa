// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

/// Sets environment variables and restores their old values at the end of its lifetime.
class Environment {
 public:
  Environment(std::initializer_list<std::pair<const char*, const char*>> variables) {
    for (const auto& [name, value] : variables) {
      if (const char* old = std::getenv(name)) before_[name] = old;
      else absent_.emplace_back(name);
      setenv(name, value, 1);
    }
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() {
    for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
    for (const auto& name : absent_) unsetenv(name.c_str());
  }

 private:
  std::map<std::string, std::string> before_;
  std::vector<std::string> absent_;
};

}  // namespace tessera::test
