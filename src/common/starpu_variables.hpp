// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::detail {

/// Variables for StarPU's environment, the only source of some of its settings.
class StarpuVariables {
 public:
  enum class IfSet { Keep, Replace };  ///< whether to keep or replace a value that the user has set

  void set(std::string name, const std::string& value, IfSet if_set = IfSet::Keep);
  /// Hides a variable that the user may have set from StarPU.
  void hide(std::string name) { wanted_.emplace_back(std::move(name), std::nullopt); }

  /// During the lifetime of this object, the process has an environment with these variables. `setenv` would free or
  /// move the program's environment, which its other threads may be reading. Therefore this environment is a separate
  /// table, which the program's environment does not refer to before or afterwards. Nothing in it is ever freed,
  /// because another thread may hold a result of `getenv`.
  class InForce {
   public:
    explicit InForce(const StarpuVariables& variables);
    /// If the program has changed the environment in the meantime, its changes stay, and the variables are removed from
    /// it.
    ~InForce();
    InForce(const InForce&) = delete;
    InForce& operator=(const InForce&) = delete;

   private:
    struct Change {
      std::string name;
      char* given;  ///< the program's entry; null: it has none
      char* ours;   ///< our entry; null: the variable is hidden
    };

    bool is_untouched() const;
    void take_out() const;

    char** before_;
    std::vector<Change> changes_;
    const std::vector<char*>* table_ = nullptr;
    std::vector<char*> content_;  ///< of the table, as created
  };

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> wanted_;  ///< names and entries
};

}  // namespace tessera::detail
