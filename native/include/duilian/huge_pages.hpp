// Pages of 2 MB for large tables with random access, because address translation then costs less.
#pragma once

#include <cstdint>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace duilian {

/// Asks for huge pages for these values; does nothing if the system has none.
template <class T>
void prefer_huge_pages([[maybe_unused]] const std::vector<T>& values) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t kHuge = std::uintptr_t{1} << 21U;
  constexpr int kCollapse = 25;  // MADV_COLLAPSE, which older headers lack
  const auto begin = (reinterpret_cast<std::uintptr_t>(values.data()) + kHuge - 1) / kHuge * kHuge;
  const auto end = reinterpret_cast<std::uintptr_t>(values.data() + values.size()) / kHuge * kHuge;
  if (begin >= end) return;
  void* memory = reinterpret_cast<void*>(begin);
  if (madvise(memory, end - begin, MADV_HUGEPAGE) == 0) (void)madvise(memory, end - begin, kCollapse);
#endif
}

}  // namespace duilian
