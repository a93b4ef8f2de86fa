// SPDX-License-Identifier: BSD-3-Clause
#include "peers.hpp"

#include <starpu.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include <tessera/error.hpp>

#include "distributed/remote_memory.hpp"

namespace tessera::test {

namespace {

class HostPeers final : public device::PeerMemory {
 public:
  explicit HostPeers(double seconds_to_read) : seconds_to_read_(seconds_to_read) {
    for (unsigned node = 0; node < starpu_memory_nodes_get_count(); node++)
      if (node != STARPU_MAIN_RAM) nodes_.push_back(node);
  }
  const std::vector<unsigned>& nodes() const noexcept override { return nodes_; }
  std::vector<Sample> samples() override {
    return {nodes_.size(), Sample{name(0, reinterpret_cast<std::uintptr_t>(&value_)), value_}};
  }
  double seconds_to_read(const Sample& theirs) override {
    std::uint64_t value = 0;
    const device::Columns one{0, sizeof(value), sizeof(value), 1};
    auto to = one;
    to.address = reinterpret_cast<std::uintptr_t>(&value);
    read(theirs.name, one, to);
    return value == theirs.value ? seconds_to_read_ : std::numeric_limits<double>::infinity();
  }
  double seconds_to_host_and_back() override { return 0; }
  void free_samples() noexcept override {}
  Name name(unsigned /*node*/, std::uintptr_t tile) override {
    Name name{{}, tile};
    const auto process = getpid();
    std::memcpy(name.allocation.data(), &process, sizeof(process));
    return name;
  }
  void start(const Name& theirs, const device::Columns& from, unsigned /*node*/, const device::Columns& target,
             void* what) override {
    started_.push_back({theirs, from, target, what});
  }
  void* next_ended() override {
    if (started_.empty() || ++calls_ % 3 != 0) return nullptr;
    const auto copy = started_.back();  // not the first one
    started_.pop_back();
    read(copy.theirs, copy.from, copy.target);
    return copy.what;
  }

 private:
  struct Copy {
    Name theirs;
    device::Columns from, target;
    void* what;
  };
  static void read(const Name& theirs, device::Columns from, const device::Columns& target) {
    pid_t process = 0;
    std::memcpy(&process, theirs.allocation.data(), sizeof(process));
    from.address = theirs.offset;
    if (distributed::read_columns(process, from, target) != 0) throw RuntimeError("the tile cannot be read");
  }

  double seconds_to_read_;
  std::vector<unsigned> nodes_;
  std::uint64_t value_ = 0x7e55e4a0 + static_cast<std::uint64_t>(getpid());
  std::vector<Copy> started_;
  int calls_ = 0;
};

int copies = 0;

class CountedPeers final : public device::PeerMemory {
 public:
  explicit CountedPeers(std::unique_ptr<device::PeerMemory> peers) : peers_(std::move(peers)) {}
  const std::vector<unsigned>& nodes() const noexcept override { return peers_->nodes(); }
  std::vector<Sample> samples() override { return peers_->samples(); }
  double seconds_to_read(const Sample& theirs) override { return peers_->seconds_to_read(theirs); }
  double seconds_to_host_and_back() override { return peers_->seconds_to_host_and_back(); }
  void free_samples() noexcept override { peers_->free_samples(); }
  Name name(unsigned node, std::uintptr_t tile) override { return peers_->name(node, tile); }
  void start(const Name& theirs, const device::Columns& from, unsigned node, const device::Columns& target,
             void* what) override {
    peers_->start(theirs, from, node, target, what);
  }
  void* next_ended() override {
    auto* const what = peers_->next_ended();
    if (what != nullptr) copies++;
    return what;
  }

 private:
  std::unique_ptr<device::PeerMemory> peers_;
};

}  // namespace

std::unique_ptr<device::PeerMemory> make_host_peers() { return std::make_unique<HostPeers>(0); }
std::unique_ptr<device::PeerMemory> make_slow_host_peers() { return std::make_unique<HostPeers>(60); }

void count_peer_copies() {
  static auto* const make = device::make_peer_memory;
  device::make_peer_memory = []() -> std::unique_ptr<device::PeerMemory> {
    auto peers = make();
    return peers ? std::make_unique<CountedPeers>(std::move(peers)) : nullptr;
  };
}
int peer_copies() { return copies; }

}  // namespace tessera::test
