// SPDX-License-Identifier: BSD-3-Clause
#include "crew.hpp"

#include <chrono>
#include <optional>

#include <tessera/error.hpp>

namespace tessera::detail::staging {

namespace {

/// Eight cores copy 56 of the 61 GB/s that sixteen do; some are for the program.
std::size_t helper_count() { return std::clamp<std::size_t>(std::thread::hardware_concurrency() / 2, 1, 12); }

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

void Offer::help(Hands& hands) {
  try {
    const auto stream = hands.stream(job.gpu);
    std::optional<Piece> last;
    for (int index; (index = taken++) < pieces;) {
      Piece piece(job, index, hands.take());
      piece.begin(stream);
      if (last) last->end();
      last = piece;
    }
    if (!last) return;
    if (job.in) require(cudaStreamWaitEvent(job.stream, last->on_link()), "cudaStreamWaitEvent");
    last->end();
  } catch (const std::exception& error) {
    const std::lock_guard lock(failing);
    failure = error.what();
  }
}

Crew::Crew(std::size_t most) {
  for (std::size_t i = 0; i < std::min(most, helper_count()); i++)
    threads_.emplace_back([this](const std::stop_token& stop) { serve(stop); });
}

Crew::~Crew() {
  for (auto& thread : threads_) thread.request_stop();
}

void Crew::run(const Job& job) {
  auto hands = take_hands();
  auto& offer = free_offer();
  offer.job = job;
  offer.failure.clear();
  const auto pieces = static_cast<int>(job.pieces.size());
  offer.pieces = pieces;
  offer.taken = 0;  // now the helpers see it
  if (pieces > 1 && asleep_ > 0) {
    const std::lock_guard lock(mutex_);
    wake_.notify_all();
  }
  offer.help(*hands);
  offer.taken = Offer::nothing;
  while (offer.helpers > 0) pause();  // for one piece at most
  const std::string failure = offer.failure;
  offer.in_use = false;
  const std::lock_guard lock(mutex_);
  spare_.push_back(std::move(hands));
  if (!failure.empty()) throw RuntimeError(failure);
}

std::unique_ptr<Hands> Crew::take_hands() {
  {
    const std::lock_guard lock(mutex_);
    if (!spare_.empty()) {
      auto hands = std::move(spare_.back());
      spare_.pop_back();
      return hands;
    }
  }
  return std::make_unique<Hands>();
}

Offer& Crew::free_offer() {
  for (;; pause())
    for (auto& offer : offers_)
      if (!offer.in_use.exchange(true)) return offer;
}

void Crew::serve(const std::stop_token& stop) {
  std::unique_ptr<Hands> hands;
  while (!stop.stop_requested()) {
    if (!help_once(hands)) rest(stop);
  }
}

bool Crew::help_once(std::unique_ptr<Hands>& hands) {
  bool helped = false;
  for (auto& offer : offers_) {
    offer.helpers++;
    if (offer.has_work()) {
      try {
        require(cudaSetDevice(offer.job.gpu), "cudaSetDevice");
        if (hands == nullptr) hands = take_hands();
        offer.help(*hands);
        helped = true;
      } catch (const std::exception&) {  // one helper less: the others, and who waits, copy all pieces
      }
    }
    offer.helpers--;
  }
  return helped;
}

bool Crew::any_work() const {
  return std::ranges::any_of(offers_, [](const Offer& offer) { return offer.has_work(); });
}

void Crew::rest(const std::stop_token& stop) {
  using namespace std::chrono_literals;
  const auto begin = std::chrono::steady_clock::now();
  for (int round = 1; !any_work(); round++) {
    if (round % 64 == 0 && std::chrono::steady_clock::now() - begin > 1ms) break;
    pause();
  }
  std::unique_lock lock(mutex_);
  asleep_++;
  wake_.wait(lock, stop, [&] { return any_work(); });
  asleep_--;
}

}  // namespace tessera::detail::staging
