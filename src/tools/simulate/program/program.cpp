// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/program/program.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include <tessera/sched.h>

#include "simulate/program/durations.hpp"

namespace tessera::simulate {

namespace {

namespace fs = std::filesystem;

/// The folder of the libraries of this build or installation.
fs::path library_folder() {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(&tessera_sched_policy), &info);
  return fs::canonical(info.dli_fname).parent_path();
}

[[noreturn]] void fail(const std::string& error, bool bad_argument, int result) {
  Outcome outcome;
  outcome.error = error, outcome.bad_argument = bad_argument;
  const auto text = nlohmann::json(outcome).dump();
  const bool whole = write(result, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  _exit(whole ? 0 : 1);
}

/// Sets the variables for the program's StarPU, and the library to load before the program.
void put_program_environment(const Run& run) {
  const auto libraries = library_folder();
  const auto put = [](const char* name, const std::string& value) { setenv(name, value.c_str(), 1); };
  put("STARPU_SCHED", run.policy);
  // Other policies are in StarPU, or in the library of --policy-library, which this variable already names.
  if (run.policy == "tessera") put("STARPU_SCHED_LIB", libraries / TESSERA_SCHED);
  put("STARPU_NCUDA", std::to_string(run.gpus));
  put("STARPU_NCPU", std::to_string(run.cpus));
  put("STARPU_SILENT", "1");
  const char* others = std::getenv("LD_PRELOAD");
  put("LD_PRELOAD",
      (libraries / "libtessera_observer.so").string() + (others != nullptr ? std::string(":") + others : ""));
}

}  // namespace

void become_program(const Options& options, const Run& run, const Scratch& scratch, int result) {
  put_environment(options, scratch);
  put_program_environment(run);
  // The descriptor must stay open in the program. dup2 would keep the close-on-exec flag if both descriptors were the
  // same.
  if ((result == hand_over ? fcntl(result, F_SETFD, 0) : dup2(result, hand_over)) < 0)
    fail(fmt::format("cannot pass descriptor {} to the program: {}", hand_over, std::strerror(errno)), false, result);
  auto words = options.program;
  words.emplace_back("--log=root.thresh:warning");  // SimGrid removes this argument
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(arguments.front(), arguments.data());
  fail(fmt::format("--program: {} cannot be started: {}", words.front(), std::strerror(errno)), true, result);
}

}  // namespace tessera::simulate
