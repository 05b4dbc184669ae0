// Decodes parser weights stored in 8 bits (see coded_weights.hpp).
#include "duilian/tree/coded_weights.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "duilian/huge_pages.hpp"

namespace duilian {

namespace {

[[nodiscard]] bool is_used(std::span<const std::uint8_t> used, std::size_t k) {
  return ((used[k / 8] >> (7 - k % 8)) & 1U) != 0;
}

/// How many of the first `size` bits are set.
[[nodiscard]] std::size_t count_used(std::span<const std::uint8_t> used, std::size_t size) {
  std::size_t count = 0;
  for (std::size_t k = 0; k < size / 8; ++k) count += static_cast<std::size_t>(std::popcount(used[k]));
  for (std::size_t k = size / 8 * 8; k < size; ++k) count += is_used(used, k) ? 1 : 0;
  return count;
}

/// An index into the codebook that no weight uses.
[[nodiscard]] std::optional<std::uint8_t> find_free(std::span<const std::uint8_t> place) {
  std::array<bool, 256> is_taken{};
  for (const std::uint8_t each : place) is_taken[each] = true;
  const auto found = std::find(is_taken.begin(), is_taken.end(), false);
  if (found == is_taken.end()) return std::nullopt;
  return static_cast<std::uint8_t>(found - is_taken.begin());
}

}  // namespace

void CodedWeights::check(std::span<const std::uint8_t> used, std::size_t places, std::size_t size) {
  if (used.size() != (size + 7) / 8 || count_used(used, size) != places)
    throw std::invalid_argument("the weights of the parser do not match its tables");
}

std::optional<CodedWeights> CodedWeights::decode(std::span<const std::uint8_t> used,
                                                 std::span<const std::uint8_t> place,
                                                 std::span<const float> code, std::size_t trees,
                                                 std::size_t size) {
  check(used, place.size(), size);
  if (trees > size || code.size() != 256)
    throw std::invalid_argument("the weights of the parser do not match its tables");
  const std::optional<std::uint8_t> zero = find_free(place);
  if (!zero) return std::nullopt;
  CodedWeights out;
  std::copy(code.begin(), code.end(), out.value_.begin());
  out.value_[*zero] = 0.0F;
  reserve_huge_pages(out.place_, trees);
  reserve_huge_pages(out.relations_, size - trees);
  out.place_.resize(trees, *zero);
  out.relations_.resize(size - trees, 0.0F);
  if (place.empty()) return out;
  std::size_t next = 0;
  // Without branches: whether a weight is used is hard to predict.
  const auto take = [&](std::size_t k) {
    const std::uint8_t candidate = place[std::min(next, place.size() - 1)];
    const bool takes = is_used(used, k);
    next += takes ? 1 : 0;
    return takes ? candidate : *zero;
  };
  for (std::size_t k = 0; k < trees; ++k) out.place_[k] = take(k);
  for (std::size_t k = trees; k < size; ++k) out.relations_[k - trees] = out.value_[take(k)];
  return out;
}

std::vector<float> CodedWeights::spread(std::span<const std::uint8_t> used,
                                        std::span<const std::uint8_t> place, std::span<const float> code,
                                        std::size_t size) {
  check(used, place.size(), size);
  if (code.size() != 256) throw std::invalid_argument("the weights of the parser do not match its tables");
  std::vector<float> out;
  reserve_huge_pages(out, size);
  out.resize(size, 0.0F);
  std::size_t next = 0;
  for (std::size_t k = 0; k < size && next < place.size(); ++k) {
    const bool takes = is_used(used, k);
    out[k] = takes ? code[place[next]] : 0.0F;
    next += takes ? 1 : 0;
  }
  return out;
}

std::vector<float> CodedWeights::dense() const {
  std::vector<float> out(size());
  for (std::size_t k = 0; k < place_.size(); ++k) out[k] = value_[place_[k]];
  std::copy(relations_.begin(), relations_.end(), out.begin() + static_cast<std::ptrdiff_t>(place_.size()));
  return out;
}

}  // namespace duilian
