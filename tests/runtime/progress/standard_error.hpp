// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

/// Captures what a program writes to a terminal or a file, and derives what is visible on the screen.
namespace tessera::test {

/// A file or terminal whose written bytes can be read.
class Sink {
 public:
  virtual ~Sink() = default;
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  /// The descriptor to write to.
  virtual int descriptor() const = 0;
  /// All bytes written so far.
  virtual std::string all() = 0;

  /// Waits until the bytes written so far end with `end`.
  /// @return false if that takes more than a minute
  bool waits_for(const std::string& end) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!all().ends_with(end)) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
  }
};

class Terminal : public Sink {
 public:
  explicit Terminal(unsigned short columns = 80) {
    const winsize window{.ws_row = 25, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    if (openpty(&master_, &slave_, nullptr, nullptr, &window) != 0) ADD_FAILURE() << "no pseudo-terminal";
    fcntl(master_, F_SETFL, O_NONBLOCK);
  }
  ~Terminal() override { close(master_), close(slave_); }

  int descriptor() const override { return slave_; }
  std::string all() override {
    char buffer[4096];
    for (ssize_t size = 0; (size = read(master_, buffer, sizeof buffer)) > 0;)
      text_.append(buffer, static_cast<std::size_t>(size));
    return text_;
  }
  void resize(unsigned short columns) {
    const winsize window{.ws_row = 25, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    ioctl(master_, TIOCSWINSZ, &window);
  }

 private:
  int master_ = -1, slave_ = -1;
  std::string text_;
};

class LogFile : public Sink {
 public:
  LogFile() { unlink(name_); }
  ~LogFile() override { close(descriptor_); }

  int descriptor() const override { return descriptor_; }
  std::string all() override {
    std::string text(4096, '\0');
    std::size_t size = 0;
    for (ssize_t more = 0; (more = pread(descriptor_, text.data() + size, text.size() - size, ssize_t(size))) > 0;) {
      size += static_cast<std::size_t>(more);
      if (size == text.size()) text.resize(2 * size);
    }
    return text.substr(0, size);
  }

 private:
  char name_[64] = "/tmp/tessera-progress-XXXXXX";
  int descriptor_ = mkstemp(name_);
};

/// Redirects standard error to a sink during its lifetime.
class Redirected {
 public:
  explicit Redirected(const Sink& sink) { dup2(sink.descriptor(), STDERR_FILENO); }
  ~Redirected() { dup2(before_, STDERR_FILENO), close(before_); }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;

 private:
  int before_ = dup(STDERR_FILENO);
};

inline constexpr const char* erase = "\r\033[K";

/// The lines on the screen at the end. Supports only the control characters that Tessera's programs write.
inline std::vector<std::string> on_screen(const std::string& written) {
  std::vector<std::string> lines(1);
  std::size_t column = 0;
  for (std::size_t i = 0; i < written.size(); i++) {
    auto& line = lines.back();
    if (written[i] == '\r') {
      column = 0;
    } else if (written[i] == '\n') {
      lines.emplace_back();
      column = 0;
    } else if (written.compare(i, 3, "\033[K") == 0) {
      line.resize(std::min(line.size(), column));
      i += 2;
    } else {
      line.resize(std::max(line.size(), column + 1), ' ');
      line[column++] = written[i];
    }
  }
  return lines;
}

/// The successive texts of a status line.
inline std::vector<std::string> said(const std::string& written) {
  std::vector<std::string> lines;
  for (std::size_t at = written.find(erase); at != std::string::npos;) {
    const auto begin = at + 4;
    at = written.find(erase, begin);
    if (auto line = written.substr(begin, at - begin); !line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace tessera::test
