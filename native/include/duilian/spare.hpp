// Scratch memory that outlives a call, so that many short calls do not allocate it anew each time.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

namespace duilian {

template <class Work>
class Spare {
 public:
  [[nodiscard]] std::unique_ptr<Work> take() {
    const std::lock_guard lock(guard_);
    if (kept_.empty()) return std::make_unique<Work>();
    std::unique_ptr<Work> out = std::move(kept_.back());
    kept_.pop_back();
    return out;
  }
  void give(std::unique_ptr<Work> work) {
    const std::lock_guard lock(guard_);
    if (kept_.size() < kMost) kept_.push_back(std::move(work));
  }

 private:
  static constexpr std::size_t kMost = 8;
  std::mutex guard_;
  std::vector<std::unique_ptr<Work>> kept_;
};

/// Scratch memory for each of some threads; given back at the end, unless an exception may have left it in
/// disorder.
template <class Work>
class Borrowed {
 public:
  Borrowed(Spare<Work>& spare, std::size_t count) : spare_(spare) {
    for (std::size_t k = 0; k < count; ++k) works_.push_back(spare.take());
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  ~Borrowed() {
    if (std::uncaught_exceptions() > before_) return;
    for (std::unique_ptr<Work>& each : works_) spare_.give(std::move(each));
  }
  [[nodiscard]] Work& operator[](std::size_t thread) { return *works_[thread]; }

 private:
  Spare<Work>& spare_;
  std::vector<std::unique_ptr<Work>> works_;
  int before_ = std::uncaught_exceptions();
};

}  // namespace duilian
