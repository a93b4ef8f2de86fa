// SPDX-License-Identifier: BSD-3-Clause
#include "policy_names.hpp"

#include <dlfcn.h>
#include <starpu.h>
#include <starpu_scheduler.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include <tessera/sched.h>

#include "common/environment.hpp"
#include "common/variables.hpp"

namespace tessera::runtime {

namespace {

/// A library of scheduling policies, opened to read their names. StarPU opens it again when it starts.
class PolicyLibrary {
 public:
  explicit PolicyLibrary(std::string file)
      : file_(std::move(file)), handle_(dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL), dlclose) {
    if (!handle_) refuse(std::string("which cannot be loaded: ") + dlerror());
    find_ = function<Find>("starpu_get_sched_lib_policy");
    if (find_ == nullptr) refuse("which is not a policy library: it has no starpu_get_sched_lib_policy");
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw common::option_error("STARPU_SCHED_LIB", "is '" + file_ + "', " + why);
  }

  bool has(const std::string& name) const { return find_(name.c_str()) != nullptr; }
  const std::string& file() const { return file_; }

  /// The names of its policies; empty if the library has no function that lists them.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    if (auto* const list = function<List>("starpu_get_sched_lib_policies"); list != nullptr)
      for (auto** policy = list(); *policy != nullptr; policy++) names.emplace_back((*policy)->policy_name);
    return names;
  }

 private:
  using Find = starpu_sched_policy* (*)(const char*);
  using List = starpu_sched_policy** (*)();
  template <typename Function>
  Function function(const char* name) const {
    return reinterpret_cast<Function>(dlsym(handle_.get(), name));
  }

  std::string file_;
  std::unique_ptr<void, int (*)(void*)> handle_;
  Find find_ = nullptr;
};

/// The library that STARPU_SCHED_LIB names; null if the variable is not set.
std::unique_ptr<PolicyLibrary> policy_library() {
  const auto file = common::environment("STARPU_SCHED_LIB");
  if (file.empty()) return nullptr;
  return std::make_unique<PolicyLibrary>(std::string(file));
}

/// Why StarPU's policy of this name cannot run Tessera's tasks; null if it can.
const char* why_not(const std::string& name) {
  if (name == "graph_test") return "which waits for a call of starpu_do_schedule that only its own test makes";
  if (name == "pheft") return "which schedules only tasks that several workers run together; Tessera has none";
  if (name == "dmdasd")
    return "which asks for the duration of a task on an unspecified worker, and thereby ends the program";
  if (name.starts_with("modular-heteroprio"))
    return "which needs priorities for each kind of worker; Tessera's tasks have none";
  return nullptr;
}

/// The file of the library or program that contains an address.
std::string file_with(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 ? info.dli_fname : "";
}

std::vector<std::string> all_names(const PolicyLibrary* library) {
  std::vector<std::string> names{our_policy};
  const auto add = [&names](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  if (library != nullptr)
    for (const auto& name : library->names()) add(name);
  for (auto** policy = starpu_sched_get_predefined_policies(); *policy != nullptr; policy++)
    if (why_not((*policy)->policy_name) == nullptr) add((*policy)->policy_name);
  return names;
}

}  // namespace

void require_policy(const std::string& name) {
  const auto library = policy_library();  // refused even if its policies are not asked for
  if (name == our_policy) {
    if (const char* refusal = tessera_sched_check_options(); refusal != nullptr)
      throw common::option_error("policy", refusal);
    return;
  }
  if (library && library->has(name)) return;
  std::string known;
  for (const auto& one : all_names(library.get())) {
    if (name == one) return;
    known += (known.empty() ? "" : ", ") + one;
  }
  const char* reason = why_not(name);
  const auto because = reason == nullptr ? "" : std::string(", ") + reason;
  throw common::option_error("policy", "is '" + name + "'" + because + ", must be one of " + known);
}

std::string first_policy_of_library() {
  const auto library = policy_library();
  if (!library) throw common::option_error("STARPU_SCHED_LIB", "is not set");
  const auto names = library->names();
  if (names.empty()) library->refuse("whose starpu_get_sched_lib_policies lists no policy");
  std::error_code error;
  const auto own = policy_file(our_policy);
  if (library->has(our_policy) && !std::filesystem::equivalent(library->file(), own, error))
    library->refuse("whose policy '" + std::string(our_policy) + "' would be ignored in favor of that of " + own +
                    ": give it another name");
  return names.front();
}

std::string policy_file(const std::string& name) {
  if (name == our_policy) return file_with(reinterpret_cast<const void*>(&tessera_sched_policy));
  if (const auto library = policy_library(); library && library->has(name)) return library->file();
  return file_with(reinterpret_cast<const void*>(&starpu_sched_get_predefined_policies));
}

}  // namespace tessera::runtime
