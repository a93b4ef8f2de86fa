// SPDX-License-Identifier: BSD-3-Clause
#include "dump.hpp"

#include <atomic>

#include "codelets/argument_text.hpp"

namespace tessera::sinks {

namespace {

std::atomic<Dump*> the_dump = nullptr;

std::string place(char letter, Index i, Index j) {
  return (letter == '\0' ? "?" : std::string(1, letter)) + "(" + std::to_string(i) + "," + std::to_string(j) + ")";
}

const char* mode_text(starpu_data_access_mode mode) {
  const bool reads = (mode & STARPU_R) != 0, writes = (mode & STARPU_W) != 0;
  return reads && writes ? ":rw" : writes ? ":w" : ":r";
}

}  // namespace

Dump::Dump() { the_dump = this; }
Dump::~Dump() { the_dump = nullptr; }
Dump* Dump::active() noexcept { return the_dump.load(std::memory_order_relaxed); }

std::string Dump::text() const {
  const std::lock_guard lock(mutex_);
  return text_;
}

void Dump::name(const detail::TileGrid& matrix) {
  const std::lock_guard lock(mutex_);
  for (Index j = 0; j < matrix.nt(); j++)
    for (Index i = 0; i < matrix.mt(); i++) names_[matrix.handle(i, j)] = place(matrix.letter(), i, j);
}

void Dump::temporary(starpu_data_handle_t tile) {
  const std::lock_guard lock(mutex_);
  names_[tile] = "t" + std::to_string(temporaries_++);
}

void Dump::stands_for(starpu_data_handle_t temporary, char letter, Index i, Index j) {
  const std::lock_guard lock(mutex_);
  names_[temporary] += "~" + place(letter, i, j);
}

void Dump::task(const Task& task) {
  const std::lock_guard lock(mutex_);
  std::string text = task.operation + task.arguments + "; flops " + codelets::number_text(task.flops);
  text += "; " + list(task.accesses) + "; owner " + std::to_string(task.owner);
  text += "; priority " + std::to_string(task.priority) + "; term " + std::to_string(task.term);
  if (task.wanted_next != nullptr) text += "; next " + name_of(task.wanted_next);
  line(text);
}

void Dump::order(std::span<const Access> accesses) {
  const std::lock_guard lock(mutex_);
  line("order " + list(accesses));
}

void Dump::request(starpu_data_handle_t tile, int gpu, int priority) {
  const std::lock_guard lock(mutex_);
  line("request " + name_of(tile) + "; gpu " + std::to_string(gpu) + "; priority " + std::to_string(priority));
}

void Dump::send(starpu_data_handle_t tile, int to, int priority) {
  const std::lock_guard lock(mutex_);
  line("send " + name_of(tile) + "; to " + std::to_string(to) + "; priority " + std::to_string(priority));
}

void Dump::receive(starpu_data_handle_t tile, int priority) {
  const std::lock_guard lock(mutex_);
  line("receive " + name_of(tile) + "; priority " + std::to_string(priority));
}

/// Data that are neither tiles of a matrix nor temporary tiles, such as the info of a factorization, get a number.
const std::string& Dump::name_of(starpu_data_handle_t tile) {
  auto& name = names_[tile];
  if (name.empty()) name = "v" + std::to_string(unnamed_++);
  return name;
}

std::string Dump::list(std::span<const Access> accesses) {
  std::string text;
  for (const auto& access : accesses)
    text += (text.empty() ? "" : " ") + name_of(access.handle) + mode_text(access.mode);
  return text;
}

void Dump::line(const std::string& text) { text_.append(text).push_back('\n'); }

}  // namespace tessera::sinks
