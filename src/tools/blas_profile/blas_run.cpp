// SPDX-License-Identifier: BSD-3-Clause
#include "blas_profile/blas_run.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

#include "shared/exit_code.hpp"

namespace tessera::blas_profile {

namespace fs = std::filesystem;

namespace {

std::string read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw RuntimeError(fmt::format("the log {} cannot be read: {}", file.string(), std::strerror(errno)));
  return {std::istreambuf_iterator<char>(in), {}};
}

fs::path new_temporary_file() {
  std::error_code error;
  const auto folder = fs::temp_directory_path(error);
  if (error) throw RuntimeError("no folder for temporary files: " + error.message());
  auto name = (folder / "tessera-blas-log-XXXXXX").string();
  const int file = mkstemp(name.data());
  if (file < 0)
    throw RuntimeError(fmt::format("cannot create a file in {}: {}", folder.string(), std::strerror(errno)));
  close(file);
  return name;
}

/// Requires a regular file, because the log is read after the program has ended.
void require_writable(const fs::path& file) {
  std::FILE* opened = std::fopen(file.c_str(), "a");
  if (opened == nullptr)
    throw tools::BadArgument("TESSERA_BLAS_LOG", file.string(), "cannot be written: " + std::string(strerror(errno)));
  std::fclose(opened);
  if (!fs::is_regular_file(file)) throw tools::BadArgument("TESSERA_BLAS_LOG", file.string(), "is not a regular file");
}

}  // namespace

fs::path blas_library(const fs::path& executable) {
  const auto beside = executable.parent_path();
  // The first folder is for build trees and bundles, the second for installations.
  const fs::path folders[] = {(beside / "../lib").lexically_normal(),
                              (beside / TESSERA_LIBRARIES_FROM_PROGRAMS).lexically_normal()};
  std::error_code ignored;
  for (const auto& folder : folders)
    for (const char* name :
         {"libtessera_blas.so", "libtessera_blas.so.0"})  // without development files, only the second name exists
      if (fs::exists(folder / name, ignored)) return folder / name;
  auto where = folders[0].string();
  if (folders[1] != folders[0]) where += " nor in " + folders[1].string();
  throw RuntimeError("libtessera_blas.so is not in " + where + ", where this tessera-info expects it");
}

LogFile::LogFile() {
  const char* given = std::getenv("TESSERA_BLAS_LOG");
  temporary_ = given == nullptr || *given == '\0';
  if (temporary_) {
    path_ = new_temporary_file();
    return;
  }
  path_ = fs::absolute(given);  // the program may change its working directory
  require_writable(path_);
  const auto before = read_file(path_);
  bytes_before_ = before.size();
  lines_before_ = static_cast<std::size_t>(std::ranges::count(before, '\n'));
}

LogFile::~LogFile() {
  std::error_code ignored;
  if (temporary_) fs::remove(path_, ignored);
}

Log LogFile::read() const {
  const auto text = read_file(path_);
  if (text.size() < bytes_before_) return read_log(text);  // the program has truncated the file
  return read_log(std::string_view(text).substr(bytes_before_), lines_before_ + 1);
}

int run_blas(std::vector<std::string> words, bool json) {
  BlasReport report;
  report.words = std::move(words);
  try {
    const auto library = blas_library(fs::read_symlink("/proc/self/exe"));
    const LogFile log;
    report.ended = run_under(library, log.path(), report.words);
    report.log = log.read();
  } catch (const CannotStart& error) {
    std::fprintf(stderr, "tessera-info: %s\n", error.what());
    return error.code();
  }
  // The program's output may not end with a newline.
  fmt::print("\n{}", json ? blas_json(report) + "\n" : blas_text(report));
  return report.ended.code();
}

namespace {

// The signal handler uses only these variables. Blocking signals would not be enough, because the threads of OpenBLAS
// do not block them.
volatile std::sig_atomic_t program = 0, asked_to_end = 0;

void hand_on(int signal) {
  const int saved = errno;
  asked_to_end = signal;
  if (program != 0) kill(program, signal);
  errno = saved;
}

/// While this object lives, Ctrl-C does not end this process, and requests to terminate are forwarded.
class Signals {
 public:
  Signals() {
    for (auto& [signal, before] : changed_) {
      struct sigaction ours {};
      if (ended_by_key(signal)) ours.sa_handler = SIG_IGN;
      else ours.sa_handler = hand_on;
      ours.sa_flags = SA_RESTART;
      sigaction(signal, nullptr, &before);
      if (before.sa_handler != SIG_IGN)
        sigaction(signal, &ours, nullptr);  // keep ignoring what nohup or a background job ignores
    }
    // If SIGCHLD is ignored, the exit status of a child is lost.
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &usual, &child_before_);
  }
  ~Signals() {
    for (const auto& [signal, before] : changed_) sigaction(signal, &before, nullptr);
    sigaction(SIGCHLD, &child_before_, nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// The signals that only this object ignores. The program must not inherit that.
  sigset_t ignored_by_us() const {
    sigset_t set;
    sigemptyset(&set);
    for (const auto& [signal, before] : changed_)
      if (ended_by_key(signal) && before.sa_handler != SIG_IGN) sigaddset(&set, signal);
    return set;
  }

 private:
  struct Changed {
    int signal;
    struct sigaction before;
  };
  static bool ended_by_key(int signal) { return signal == SIGINT || signal == SIGQUIT; }

  Changed changed_[4] = {{SIGINT, {}}, {SIGQUIT, {}}, {SIGTERM, {}}, {SIGHUP, {}}};
  struct sigaction child_before_ {};
};

/// The environment of this process as "name=value", with LD_PRELOAD and TESSERA_BLAS_LOG set.
std::vector<std::string> environment_with(const std::string& library, const std::string& log) {
  const char* given = std::getenv("LD_PRELOAD");
  const auto preload = given == nullptr || *given == '\0' ? library : library + ":" + given;
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; variable++) {
    const std::string_view text(*variable);
    if (!text.starts_with("LD_PRELOAD=") && !text.starts_with("TESSERA_BLAS_LOG=")) all.emplace_back(text);
  }
  all.push_back("LD_PRELOAD=" + preload);
  all.push_back("TESSERA_BLAS_LOG=" + log);
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

pid_t start(std::vector<std::string> words, std::vector<std::string> environment, const sigset_t& usual) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  const auto arguments = pointers_to(words), variables = pointers_to(environment);
  pid_t child = 0;
  const int refused = posix_spawnp(&child, arguments[0], nullptr, &attributes, arguments.data(), variables.data());
  posix_spawnattr_destroy(&attributes);
  if (refused != 0) throw CannotStart(words.front(), refused);
  return child;
}

Ended wait_for(pid_t child) {
  siginfo_t ignored;
  while (waitid(P_PID, static_cast<id_t>(child), &ignored, WEXITED | WNOWAIT) < 0 && errno == EINTR) continue;
  program = 0;  // reset while the process number is still reserved
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      throw RuntimeError(fmt::format("cannot determine how the program ended: {}", std::strerror(errno)));
  return WIFSIGNALED(status) ? Ended{0, WTERMSIG(status)} : Ended{WEXITSTATUS(status), 0};
}

}  // namespace

CannotStart::CannotStart(const std::string& program, int error)
    : RuntimeError(fmt::format("'{}' cannot be started: {}", program, std::strerror(error))),
      code_(error == ENOENT ? 127 : 126) {}

Ended run_under(const std::filesystem::path& library, const std::filesystem::path& log,
                const std::vector<std::string>& words) {
  if (library.string().find_first_of(": ") != std::string::npos)
    throw RuntimeError(library.string() + ": LD_PRELOAD does not support a space or a colon in a path");
  const Signals signals;
  asked_to_end = 0;
  const auto child = start(words, environment_with(library, log), signals.ignored_by_us());
  program = child;
  if (asked_to_end != 0) kill(child, asked_to_end);  // the signal came before the program's number was known
  return wait_for(child);
}

}  // namespace tessera::blas_profile
