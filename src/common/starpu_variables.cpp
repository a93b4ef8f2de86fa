// SPDX-License-Identifier: BSD-3-Clause
#include "starpu_variables.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <list>
#include <mutex>
#include <string_view>

namespace tessera::common {

namespace {

/// All entries that ever were in an environment created here. Sessions of a process usually need the same entries and
/// share them.
struct Kept {
  std::mutex mutex;
  std::list<std::string> entries;  // some are writable, because StarPU modifies them
  std::list<std::vector<char*>> tables;

  char* entry(const std::string& text) {
    const std::lock_guard lock(mutex);
    const auto known = std::ranges::find(entries, text);
    return (known != entries.end() ? *known : entries.emplace_back(text)).data();
  }
  std::vector<char*>& table(const std::vector<char*>& content) {
    const std::lock_guard lock(mutex);
    const auto known = std::ranges::find(tables, content);
    return known != tables.end() ? *known : tables.emplace_back(content);
  }
};
Kept& kept() {
  static auto& only = *new Kept;
  return only;
}

bool is_of(const char* entry, std::string_view name) {
  const std::string_view text(entry);
  return text.starts_with(name) && text.size() > name.size() && text[name.size()] == '=';
}

char* entry_of(std::string_view name) {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; entry++)
    if (is_of(*entry, name)) return *entry;
  return nullptr;
}

void use(char** table) { __atomic_store_n(&environ, table, __ATOMIC_RELEASE); }

}  // namespace

void StarpuVariables::set(std::string name, const std::string& value, IfSet if_set) {
  if (if_set == IfSet::Keep && std::getenv(name.c_str()) != nullptr) return;
  auto entry = name + '=' + value;
  wanted_.emplace_back(std::move(name), std::move(entry));
}

StarpuVariables::InForce::InForce(const StarpuVariables& variables) : before_(environ) {
  for (const auto& [name, entry] : variables.wanted_)
    changes_.push_back({name, entry_of(name), entry ? kept().entry(*entry) : nullptr});
  const auto is_changed = [&](const char* entry) {
    return std::ranges::any_of(changes_, [&](const Change& change) { return is_of(entry, change.name); });
  };
  for (char** entry = before_; entry != nullptr && *entry != nullptr; entry++)
    if (!is_changed(*entry)) content_.push_back(*entry);
  for (const auto& change : changes_)
    if (change.ours != nullptr) content_.push_back(change.ours);
  content_.push_back(nullptr);
  auto& table = kept().table(content_);
  table_ = &table;
  use(table.data());
}

StarpuVariables::InForce::~InForce() {
  if (is_untouched()) use(before_);
  else take_out();
}

bool StarpuVariables::InForce::is_untouched() const { return environ == table_->data() && *table_ == content_; }

void StarpuVariables::InForce::take_out() const {
  for (const auto& change : changes_) {
    if (entry_of(change.name) != change.ours) continue;  // the program has changed this variable: keep its value
    if (change.given != nullptr) putenv(change.given);
    else unsetenv(change.name.c_str());
  }
}

}  // namespace tessera::common
