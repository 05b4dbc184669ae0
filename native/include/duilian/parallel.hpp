// A pool of threads for numbered pieces of work. Which thread takes which piece never affects the result.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "duilian/concat.hpp"

namespace duilian {

/// A fixed number of threads, including the caller's, but no more than there are pieces of work.
class Team {
 public:
  static constexpr std::size_t kMaxThreads = 256;

  explicit Team(std::size_t threads, std::size_t pieces = kMaxThreads) {
    if (threads < 1 || threads > kMaxThreads)
      throw std::invalid_argument(concat("threads must be between 1 and 256, got ", threads));
    try {
      for (std::size_t thread = 1; thread < std::min(threads, pieces); ++thread) {
        others_.emplace_back([this, thread] { serve(thread); });
      }
    } catch (...) {  // no thread could be started: release those that wait
      dismiss();
      throw;
    }
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team() { dismiss(); }

  [[nodiscard]] std::size_t size() const { return others_.size() + 1; }

  /// Calls work(thread) once on every thread and waits for all. Rethrows the first exception.
  void run(const std::function<void(std::size_t)>& work) {
    work_ = &work;
    busy_ = others_.size();
    if (!others_.empty()) call_all();
    attempt(0);
    spin_while([this] { return busy_ != 0; });
    for (std::size_t left = busy_; left > 0; left = busy_) busy_.wait(left);
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  /// Calls work(thread, piece) for every piece in [0, pieces); a thread that is free takes the next piece.
  template <class Work>
  void for_each(std::size_t pieces, const Work& work) {
    std::atomic<std::size_t> next{0};
    run([&](std::size_t thread) {
      for (std::size_t piece = next++; piece < pieces; piece = next++) work(thread, piece);
    });
  }

 private:
  void dismiss() {
    is_over_ = true;
    call_all();
    others_.clear();
  }
  /// Spins before it sleeps: batches follow each other within microseconds, and waking a thread takes longer.
  template <class Condition>
  static void spin_while(const Condition& holds) {
    constexpr int kSpins = 4000;
    for (int spin = 0; spin < kSpins && holds(); ++spin) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  }
  void call_all() {
    ++round_;
    round_.notify_all();
  }
  void attempt(std::size_t thread) {
    try {
      (*work_)(thread);
    } catch (...) {
      const std::lock_guard lock(guard_);
      if (!failure_) failure_ = std::current_exception();
    }
  }
  void serve(std::size_t thread) {
    for (std::size_t seen = 0;;) {
      spin_while([&] { return round_ == seen; });
      round_.wait(seen);
      seen = round_;
      if (is_over_) return;
      attempt(thread);
      if (--busy_ == 0) busy_.notify_one();
    }
  }

  std::vector<std::jthread> others_;
  std::atomic<std::size_t> round_{0};
  std::atomic<std::size_t> busy_{0};
  std::atomic<bool> is_over_{false};
  const std::function<void(std::size_t)>* work_ = nullptr;
  std::mutex guard_;
  std::exception_ptr failure_;
};

}  // namespace duilian
