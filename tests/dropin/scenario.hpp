// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

/// Programs under the drop-in. The drop-in starts its devices only once per process, so each scenario runs in a
/// separate process: the test program, started again with LD_PRELOAD and other environment variables.
namespace tessera::test {

/// The outcome of a process and of all processes that it forked.
struct Ended {
  int status = 0;     ///< exit status
  int signal = 0;     ///< signal that killed it, or 0
  bool late = false;  ///< it exceeded the time limit and was killed
  double seconds = 0;
  std::string out, err;
  std::vector<nlohmann::json> log;  ///< lines of TESSERA_BLAS_LOG

  /// The number of calls that went to "devices" or "host", of one routine or of all.
  int calls(const std::string& place, const std::string& routine = "") const {
    int sum = 0;
    for (const auto& line : log)
      if (line.contains("place") && line["place"] == place && (routine.empty() || line["routine"] == routine))
        sum += line["calls"].get<int>();
    return sum;
  }
  /// The time charged to the calls of all routines in a place [s].
  double seconds_on(const std::string& place) const {
    double sum = 0;
    for (const auto& line : log)
      if (line.contains("place") && line["place"] == place) sum += line["seconds"].get<double>();
    return sum;
  }
  /// A member of the log's first line, which describes the first process.
  std::string said(const char* member) const { return log.empty() ? "(no log)" : log.front().value(member, ""); }
  auto lines() const { return std::ranges::count(err, '\n'); }
};

inline std::ostream& operator<<(std::ostream& out, const Ended& e) {
  out << "exit " << e.status << ", signal " << e.signal << (e.late ? ", late" : "") << ", " << e.seconds << " s\n"
      << "standard output: " << e.out << "\nstandard error: " << e.err << "\nlog:\n";
  for (const auto& line : e.log) out << line.dump() << '\n';
  return out;
}

/// Whether the process ended with this status, and reported no error on standard output.
inline ::testing::AssertionResult has_ended(const Ended& e, int status = 0) {
  if (e.status == status && e.signal == 0 && !e.late && e.out.empty()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << e;
}

/// Like has_ended; also requires an empty standard error.
inline ::testing::AssertionResult has_ended_silently(const Ended& e, int status = 0) {
  if (!e.err.empty()) return ::testing::AssertionFailure() << e;
  return has_ended(e, status);
}

/// Whether standard error has exactly one line: a message of Tessera that contains `words`.
inline ::testing::AssertionResult says(const Ended& e, const std::string& words) {
  if (e.lines() == 1 && e.err.starts_with("tessera: ") && e.err.find(words) != std::string::npos)
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "not one sentence with '" << words << "': " << e;
}

/// Checks a condition in a scenario. If it does not hold, writes `what` to standard output.
inline void require(bool holds, const char* what) {
  if (holds) return;
  const std::string line = std::string("wrong: ") + what + '\n';
  static_cast<void>(write(STDOUT_FILENO, line.data(), line.size()));
  _exit(98);
}

/// Checks that two sorted lists are equal. If not, writes `what` and the elements that are in only one of them to
/// standard output.
inline void require_same(const std::vector<std::string>& before, const std::vector<std::string>& now,
                         const char* what) {
  std::vector<std::string> gone, come;
  std::ranges::set_difference(before, now, std::back_inserter(gone));
  std::ranges::set_difference(now, before, std::back_inserter(come));
  std::string text = what;
  for (const auto& one : gone) text += "; gone: " + one;
  for (const auto& one : come) text += "; new: " + one;
  require(before == now, text.c_str());
}

/// A temporary folder. The destructor removes it.
class Folder {
 public:
  Folder() {
    auto name = (std::filesystem::temp_directory_path() / "tessera-dropin-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder can be created: " + name);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// The path in an environment variable that is set where the tests are registered, since a bundle has other paths.
inline std::string place_of(const char* variable) {
  const char* place = std::getenv(variable);
  if (place == nullptr) throw std::runtime_error(std::string(variable) + " is not set");
  return place;
}

/// Environment variables of a process. A variable without a value is removed.
using Variables = std::map<std::string, std::optional<std::string>>;

/// Variables that send every call to the devices, in small tiles: to GPUs if the test needs them, otherwise to CPU
/// workers.
inline Variables forced() {
  Variables all{
      {"LD_PRELOAD", place_of("TESSERA_TEST_DROPIN")}, {"TESSERA_BLAS_MIN_FLOPS", "0"}, {"TESSERA_TILE", "32"}};
  if (std::getenv("TESSERA_TEST_NEEDS_GPUS") == nullptr) all["TESSERA_DEVICES"] = "cpu";
  return all;
}

class Scenario {
 public:
  using Body = int (*)();
  Scenario(const char* name, Body body) : name_(name) { all()[name] = body; }

  /// Runs the scenario with the variables of `forced`, changed by `variables`.
  Ended run(const Variables& variables = {}, double seconds = 150) const {
    const Folder folder;
    auto environment = forced();
    environment["TESSERA_BLAS_LOG"] = folder / "log";
    for (const auto& [name, value] : variables) environment[name] = value;
    auto ended = run_to_its_end(environment, seconds);
    std::ifstream log(folder / "log");  // empty if the variables name another file
    for (std::string line; std::getline(log, line);) ended.log.push_back(nlohmann::json::parse(line));
    return ended;
  }

  /// The scenario's name in a form that GoogleTest accepts.
  std::string short_name() const {
    std::string name = name_;
    for (auto& c : name)
      if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    return name;
  }

  /// Call this first in main: if this process was started for a scenario, runs it and returns its status.
  static std::optional<int> of_this_process(int argc, char** argv) {
    if (argc != 3 || std::string(argv[1]) != "--scenario") return {};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return all().at(argv[2])();
  }

  /// The command line that runs this scenario, for a scenario that starts another one.
  std::vector<std::string> command() const {
    return {std::filesystem::read_symlink("/proc/self/exe"), "--scenario", name_};
  }

 private:
  static std::map<std::string, Body>& all() {
    static std::map<std::string, Body> scenarios;
    return scenarios;
  }

  Ended run_to_its_end(const Variables& environment, double seconds) const {
    using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
    const File out(std::tmpfile(), std::fclose), err(std::tmpfile(), std::fclose);
    if (!out || !err) throw std::runtime_error("no temporary file");
    auto words = command();
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const auto begin = std::chrono::steady_clock::now();
    const pid_t pid = fork();
    if (pid < 0) throw std::runtime_error("no process");
    if (pid == 0) {
      setpgid(0, 0);
      dup2(fileno(out.get()), STDOUT_FILENO), dup2(fileno(err.get()), STDERR_FILENO);
      for (const auto& [name, value] : environment)
        if (value) setenv(name.c_str(), value->c_str(), 1);
        else unsetenv(name.c_str());
      execv(arguments.front(), arguments.data());
      _exit(127);
    }
    Ended ended;
    const auto lasted = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
    int status = 0;
    while (waitpid(pid, &status, WNOHANG) == 0) {
      if (!ended.late && lasted() > seconds) ended.late = true, kill(-pid, SIGKILL);
      usleep(2000);
    }
    ended.seconds = lasted();
    kill(-pid, SIGKILL);  // also ends children that it has not waited for
    const auto text = [](std::FILE* file) {
      std::string all_of_it;
      char buffer[4096];
      std::rewind(file);
      while (const auto count = std::fread(buffer, 1, sizeof buffer, file)) all_of_it.append(buffer, count);
      return all_of_it;
    };
    if (WIFEXITED(status)) ended.status = WEXITSTATUS(status);
    else ended.signal = WTERMSIG(status);
    ended.out = text(out.get()), ended.err = text(err.get());
    return ended;
  }

  const char* name_;
};

/// Waits in a scenario for a child to exit by itself within `seconds`. Returns its status.
inline int status_of(pid_t child, double seconds = 60) {
  int status = 0;
  for (double waited = 0; waitpid(child, &status, WNOHANG) == 0; waited += 1e-3) {
    if (waited > seconds) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      require(false, "a child does not end");
    }
    usleep(1000);
  }
  require(WIFEXITED(status), "a child was killed by a signal");
  return WEXITSTATUS(status);
}

/// The names of the threads of this process, without CUDA's, which exist until the end.
inline std::vector<std::string> thread_names() {
  std::vector<std::string> names;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(thread.path() / "comm");
    std::string name;
    if (std::getline(file, name) && !name.starts_with("cuda")) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace tessera::test
