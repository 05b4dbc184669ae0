// Unpacks tables of weights (see stored_table.hpp).
#include "duilian/score/stored_table.hpp"

#include <bit>
#include <cstddef>
#include <stdexcept>

#include "duilian/concat.hpp"
#include "duilian/huge_pages.hpp"

namespace duilian {

namespace {

constexpr std::size_t kFewestSlots = 16;
constexpr std::size_t kMostRoom = 4;  // slots for each feature

/// Each bit in the file becomes 8 bytes in memory, so the number of slots is limited by that of features.
void check_slots(const StoredTable& stored) {
  const std::size_t features = stored.check.size();
  if (stored.slots < 0 || static_cast<std::size_t>(stored.slots) > kFewestSlots + kMostRoom * features)
    throw std::invalid_argument(concat("a table has ", stored.slots, " slots for ", features, " features"));
  const auto slots = static_cast<std::size_t>(stored.slots);
  std::size_t used = 0;
  for (const std::uint8_t each : stored.used) used += static_cast<std::size_t>(std::popcount(each));
  const bool is_stray =
      slots % 8 != 0 && !stored.used.empty() && (stored.used.back() << (slots % 8) & 0xFF) != 0;
  if (stored.used.size() != (slots + 7) / 8 || is_stray)
    throw std::invalid_argument("the slots of a table do not fit its size");
  if (used != features)
    throw std::invalid_argument(concat("a table has ", features, " features in ", used, " slots"));
}

/// The number of entries.
[[nodiscard]] std::size_t count_entries(const StoredTable& stored) {
  const std::size_t features = stored.check.size();
  bool fits = stored.size.size() == features && stored.first.size() == features;
  std::size_t entries = 0;
  for (const std::uint16_t size : stored.size) {
    fits = fits && size != 0;
    entries += size;
  }
  if (!fits || entries != features + stored.step.size() || entries >= kNoEntry)
    throw std::invalid_argument(concat("a table has ", features, " features with ", entries, " entries, but ",
                                       stored.first.size() + stored.step.size(), " labels"));
  return entries;
}

}  // namespace

void unpack(const StoredTable& stored, std::vector<std::uint64_t>& slot, std::vector<std::uint16_t>& label) {
  check_slots(stored);
  const std::size_t entries = count_entries(stored);
  const auto slots = static_cast<std::size_t>(stored.slots);
  reserve_huge_pages(slot, slots);
  reserve_huge_pages(label, entries);
  slot.assign(slots, kNoSlot);
  label.resize(entries);
  std::size_t feature = 0;
  std::size_t entry = 0;
  const std::uint16_t* step = stored.step.data();
  for (std::size_t byte = 0; byte < stored.used.size(); ++byte) {
    for (unsigned bits = stored.used[byte]; bits != 0; ++feature) {
      const auto place = static_cast<unsigned>(std::countl_zero(static_cast<std::uint8_t>(bits)));
      bits &= ~(0x80U >> place);
      slot[8 * byte + place] = (std::uint64_t{stored.check[feature]} << 32U) | entry;
      unsigned own = stored.first[feature];
      if ((own & kLastEntry) != 0) throw std::invalid_argument("a label of a table is out of range");
      label[entry++] = static_cast<std::uint16_t>(own);
      for (unsigned left = stored.size[feature] - 1U; left != 0; --left) {
        own = (own + *step++ + 1U) & (kLastEntry - 1U);
        label[entry++] = static_cast<std::uint16_t>(own);
      }
      label[entry - 1] = static_cast<std::uint16_t>(own | kLastEntry);
    }
  }
}

WeightTable unpack(const StoredTable& stored, std::span<const float> code,
                   std::span<const std::uint8_t> place) {
  WeightTable out;
  unpack(stored, out.slot, out.label);
  if (code.size() != 256 || place.size() != out.label.size())
    throw std::invalid_argument(concat("a table has ", place.size(), " weights for ", out.label.size(),
                                       " entries, in a codebook of ", code.size()));
  reserve_huge_pages(out.weight, place.size());
  for (const std::uint8_t each : place) out.weight.push_back(code[each]);
  return out;
}

}  // namespace duilian
