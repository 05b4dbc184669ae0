// Pages of 2 MB for large tables with random access, because address translation then costs less.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace duilian {

/// Asks for huge pages for `size` bytes, and at once if they are in use; does nothing if the system has none.
inline void ask_for_huge_pages([[maybe_unused]] const void* data, [[maybe_unused]] std::size_t size,
                               [[maybe_unused]] bool is_used) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t kHuge = std::uintptr_t{1} << 21U;
  constexpr int kCollapse = 25;  // MADV_COLLAPSE, which older headers lack
  const auto begin = (reinterpret_cast<std::uintptr_t>(data) + kHuge - 1) / kHuge * kHuge;
  const auto end = (reinterpret_cast<std::uintptr_t>(data) + size) / kHuge * kHuge;
  if (begin >= end) return;
  void* memory = reinterpret_cast<void*>(begin);
  if (madvise(memory, end - begin, MADV_HUGEPAGE) == 0 && is_used)
    (void)madvise(memory, end - begin, kCollapse);
#endif
}

/// Asks for huge pages for these values.
template <class T>
void prefer_huge_pages(const std::vector<T>& values) {
  ask_for_huge_pages(values.data(), values.size() * sizeof(T), true);
}

/// Reserves room for values that will be added, in huge pages from the start: collecting small pages
/// afterwards costs more than filling them.
template <class T>
void reserve_huge_pages(std::vector<T>& values, std::size_t count) {
  values.reserve(count);
  ask_for_huge_pages(values.data(), values.capacity() * sizeof(T), false);
}

}  // namespace duilian
