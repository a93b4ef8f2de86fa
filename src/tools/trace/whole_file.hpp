// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "tessera/error.hpp"

namespace tessera::trace {

/// A file that appears under its name only once all of it is written: it is written beside its place and moved there.
/// All throw RuntimeError with the file and the reason. Without commit() nothing is left behind.
class WholeFile {
 public:
  explicit WholeFile(std::filesystem::path file)
      : file_(std::move(file)), partial_(file_.string() + "." + std::to_string(getpid()) + ".partial") {
    errno = 0;
    if (!buffer_.open(partial_, std::ios::out | std::ios::binary | std::ios::trunc)) fail(errno);
  }
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;
  ~WholeFile() {
    if (committed_) return;
    std::error_code ignored;
    std::filesystem::remove(partial_, ignored);
  }

  std::ostream& stream() { return stream_; }
  /// For a library that opens its file itself.
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
  /// Remembers why the first write failed: errno says something else by the time that anybody asks.
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

  std::filesystem::path file_, partial_;
  Buffer buffer_;
  std::ostream stream_{&buffer_};
  bool committed_ = false;
};

inline void write_whole(const std::filesystem::path& file, std::string_view text) {
  WholeFile whole(file);
  whole.stream().write(text.data(), static_cast<std::streamsize>(text.size()));
  whole.commit();
}

}  // namespace tessera::trace
