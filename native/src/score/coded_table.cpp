// Codes the weights of features (see coded_table.hpp).
#include "duilian/score/coded_table.hpp"

#include <array>
#include <bit>

#include "duilian/huge_pages.hpp"

namespace duilian {

namespace {

/// Numbers weights; 0 stands for no weight.
class Codebook {
 public:
  explicit Codebook(std::array<double, 256>& weight) : weight_(weight) {}

  /// Returns false if there are too many different ones.
  [[nodiscard]] bool find(float weight, std::uint8_t& code) {
    const auto bits = std::bit_cast<std::uint32_t>(weight);
    std::size_t at = (bits * 0x9E3779B1U) >> kShift;
    for (; code_[at] != 0 && bits_[at] != bits; at = (at + 1) % code_.size()) {
    }
    if (code_[at] == 0) {
      if (last_ == kLast) return false;
      bits_[at] = bits;
      code_[at] = ++last_;
      weight_[last_] = static_cast<double>(weight);
    }
    code = code_[at];
    return true;
  }

 private:
  static constexpr std::uint8_t kLast = 254;  // so that no slot looks free
  static constexpr unsigned kShift = 22;
  std::array<double, 256>& weight_;
  std::array<std::uint32_t, 1U << (32U - kShift)> bits_{};
  std::array<std::uint8_t, 1U << (32U - kShift)> code_{};
  std::uint8_t last_ = 0;
};

}  // namespace

std::optional<CodedTable> CodedTable::make(const WeightTable& table, std::size_t labels) {
  if (labels > kLabels) return std::nullopt;
  CodedTable out;
  Codebook codebook(out.weight_);
  std::vector<std::uint8_t> code(table.weight.size());
  for (std::size_t k = 0; k < code.size(); ++k) {
    if (!codebook.find(table.weight[k], code[k])) return std::nullopt;
  }
  reserve_huge_pages(out.slots_.slot, table.slot.size());
  for (const std::uint64_t slot : table.slot) {
    std::uint32_t codes = 0;
    for (std::size_t k = static_cast<std::uint32_t>(slot); slot != kNoSlot; ++k) {
      codes |= std::uint32_t{code[k]} << (8U * (table.label[k] & ~unsigned{kLastEntry}));
      if ((table.label[k] & kLastEntry) != 0) break;
    }
    out.slots_.slot.push_back(slot == kNoSlot ? kNoSlot : (slot & ~std::uint64_t{kNoEntry}) | codes);
  }
  return out;
}

}  // namespace duilian
