// Codes the weights of features (see coded_table.hpp).
#include "duilian/score/coded_table.hpp"

#include <algorithm>

#include "duilian/huge_pages.hpp"

namespace duilian {

std::optional<CodedTable> CodedTable::make(const WeightTable& table, std::size_t labels) {
  constexpr std::size_t kCodes = 255;  // so that no slot looks free
  if (labels > kLabels) return std::nullopt;
  std::vector<float> known{0.0F};  // ascending from the second on; the first stands for no weight
  for (const float weight : table.weight) {
    const auto at = std::lower_bound(known.begin() + 1, known.end(), weight);
    if (at != known.end() && *at == weight) continue;
    if (known.size() == kCodes) return std::nullopt;
    known.insert(at, weight);
  }
  CodedTable out;
  std::copy(known.begin(), known.end(), out.weight_.begin());
  reserve_huge_pages(out.slots_.slot, table.slot.size());
  for (const std::uint64_t slot : table.slot) {
    std::uint32_t codes = 0;
    for (std::size_t k = static_cast<std::uint32_t>(slot); slot != kNoSlot; ++k) {
      const auto code = std::lower_bound(known.begin() + 1, known.end(), table.weight[k]) - known.begin();
      codes |= static_cast<std::uint32_t>(code) << (8U * (table.label[k] & ~unsigned{kLastEntry}));
      if ((table.label[k] & kLastEntry) != 0) break;
    }
    out.slots_.slot.push_back(slot == kNoSlot ? kNoSlot : (slot & ~std::uint64_t{kNoEntry}) | codes);
  }
  return out;
}

}  // namespace duilian
