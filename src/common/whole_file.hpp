// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "not_copyable.hpp"
#include "tessera/error.hpp"

namespace tessera::common {

/// Blocks SIGXFSZ in the calling thread during the lifetime of this object. A write beyond the process's file size
/// limit then fails with EFBIG instead of ending the process.
class NoFileSizeSignal : NotCopyable {
 public:
  NoFileSizeSignal() {
    sigset_t pending;
    sigemptyset(&signal_), sigaddset(&signal_, SIGXFSZ);
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~NoFileSizeSignal() {
    const int error = errno;
    constexpr timespec at_once{};
    if (!was_pending_)
      while (sigtimedwait(&signal_, nullptr, &at_once) < 0 && errno == EINTR) {
      }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }

 private:
  sigset_t signal_, before_;
  bool was_pending_ = false;
};

/// A file that appears under its name only when it is complete. It is written next to its destination and then renamed.
/// All members throw RuntimeError with the file and the reason. Without commit(), no file remains. The thread that
/// creates this object must also destroy it.
class WholeFile : NotCopyable {
 public:
  explicit WholeFile(std::filesystem::path file)
      : file_(std::move(file)), partial_(file_.string() + "." + std::to_string(std::random_device{}()) + ".partial") {
    errno = 0;
    if (!buffer_.open(partial_, std::ios::out | std::ios::binary | std::ios::trunc)) fail(errno);
  }
  ~WholeFile() {
    if (committed_) return;
    std::error_code ignored;
    std::filesystem::remove(partial_, ignored);
  }

  std::ostream& stream() { return stream_; }
  /// The path of the incomplete file, for a library that opens the file itself.
  const std::filesystem::path& partial() const { return partial_; }

  void commit() {
    const bool written = stream_.good();
    errno = 0;
    if (!buffer_.close() || !written) fail(buffer_.reason ? buffer_.reason : errno);
    std::error_code error;
    std::filesystem::rename(partial_, file_, error);
    if (error) fail(error.value());
    committed_ = true;
  }

 private:
  /// Remembers the errno of the first failed write; errno itself has changed when the failure is reported.
  struct Buffer : std::filebuf {
    int reason = 0;

    template <class Write>
    auto remember(Write write, auto failed) {
      errno = 0;
      const auto result = write();
      if (failed(result) && reason == 0) reason = errno;
      return result;
    }
    int_type overflow(int_type c) override {
      return remember([&] { return std::filebuf::overflow(c); }, [](int_type r) { return r == traits_type::eof(); });
    }
    std::streamsize xsputn(const char* text, std::streamsize size) override {
      return remember([&] { return std::filebuf::xsputn(text, size); }, [&](std::streamsize n) { return n < size; });
    }
    int sync() override {
      return remember([&] { return std::filebuf::sync(); }, [](int result) { return result != 0; });
    }
  };

  [[noreturn]] void fail(int reason) const {
    throw RuntimeError(file_.string() + " cannot be written: " + (reason ? std::strerror(reason) : "no reason given"));
  }

  NoFileSizeSignal no_signal_;
  std::filesystem::path file_, partial_;  ///< partial_ has a random name: other hosts may write the same file
  Buffer buffer_;
  std::ostream stream_{&buffer_};
  bool committed_ = false;
};

inline void write_whole(const std::filesystem::path& file, std::string_view text) {
  WholeFile whole(file);
  whole.stream().write(text.data(), static_cast<std::streamsize>(text.size()));
  whole.commit();
}

/// Writes a file whose contents can be measured or computed again. Ignores errors, because a missing file only costs
/// time at the next start.
/// @param file  if empty, nothing is written
inline void keep_if_possible(const std::filesystem::path& file, std::string_view text) {
  if (file.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(file.parent_path(), ignored);
  try {
    write_whole(file, text);
  } catch (const RuntimeError&) {  // NOLINT(bugprone-empty-catch): see above
  }
}

}  // namespace tessera::common
