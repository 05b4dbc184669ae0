// Work on numbered pieces by several threads; which thread does which piece never shows in the result.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace duilian {

/// Calls work(thread, piece) for every piece in [0, pieces). The first exception is thrown on to the caller.
template <class Work>
void for_each_piece(std::size_t pieces, std::size_t threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex guard;
  const auto run = [&](std::size_t thread) {
    try {
      for (std::size_t piece = next++; piece < pieces; piece = next++) work(thread, piece);
    } catch (...) {
      const std::lock_guard lock(guard);
      if (!failure) failure = std::current_exception();
      next = pieces;
    }
  };
  std::vector<std::jthread> others;
  for (std::size_t thread = 1; thread < threads && thread < pieces; ++thread)
    others.emplace_back(run, thread);
  run(0);
  others.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace duilian
