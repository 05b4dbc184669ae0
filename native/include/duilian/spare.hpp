// Keeps scratch memory from call to call, so that many short calls need not allocate it each time.
#pragma once

#include <array>
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
    return count_ == 0 ? std::make_unique<Work>() : std::move(kept_[--count_]);
  }
  /// Allocates nothing, because a destructor calls it.
  void give(std::unique_ptr<Work> work) noexcept {
    const std::lock_guard lock(guard_);
    if (count_ < kept_.size()) kept_[count_++] = std::move(work);
  }

 private:
  std::mutex guard_;
  std::array<std::unique_ptr<Work>, 8> kept_;
  std::size_t count_ = 0;
};

/// Scratch memory for a number of threads. It is returned at the end, unless an exception may have left it in
/// an inconsistent state.
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
