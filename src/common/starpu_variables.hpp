// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "not_copyable.hpp"

namespace tessera::common {

/// Environment variables for StarPU, which reads some of its settings only from there.
class StarpuVariables {
 public:
  enum class IfSet { Keep, Replace };  ///< whether to keep or replace a value that the user has set

  void set(std::string name, const std::string& value, IfSet if_set = IfSet::Keep);
  /// Hides a variable from StarPU, even if the user has set it.
  void hide(std::string name) { wanted_.emplace_back(std::move(name), std::nullopt); }

  /// Gives the process an environment with these variables during the lifetime of this object. `setenv` would free or
  /// move the program's environment while other threads may be reading it. The environment with these variables is
  /// therefore a separate table, to which the program's own environment never refers. Nothing in that table is ever
  /// freed, because another thread may hold a result of `getenv`.
  class InForce : NotCopyable {
   public:
    explicit InForce(const StarpuVariables& variables);
    /// If the program has changed the environment in the meantime, keeps these changes and removes only the variables.
    ~InForce();

   private:
    struct Change {
      std::string name;
      char* given;  ///< the program's entry; null if it has none
      char* ours;   ///< Tessera's entry; null if the variable is hidden
    };

    bool is_untouched() const;
    void take_out() const;

    char** before_;
    std::vector<Change> changes_;
    const std::vector<char*>* table_ = nullptr;
    std::vector<char*> content_;  ///< the entries of the table when it was created
  };

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> wanted_;  ///< names and entries
};

}  // namespace tessera::common
