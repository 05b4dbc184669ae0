// Tests tables of weights as files store them: a table by hand, and arrays that do not match.
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "check.hpp"
#include "duilian/score/stored_table.hpp"
#include "duilian/score/weight_table.hpp"

using namespace duilian;
using namespace testing;

namespace {

struct Arrays {
  std::int64_t slots = 10;
  std::vector<std::uint8_t> used = {0b0100'0001, 0b1000'0000};
  std::vector<std::uint32_t> check = {7, 8, 9};
  std::vector<std::uint16_t> size = {1, 3, 2};
  std::vector<std::uint16_t> first = {5, 0, 40};
  std::vector<std::uint16_t> step = {0, 300, 1};
};

[[nodiscard]] WeightTable unpacked(const Arrays& arrays) {
  WeightTable out;
  unpack({arrays.slots, arrays.used, arrays.check, arrays.size, arrays.first, arrays.step}, out.slot,
         out.label);
  return out;
}

/// Whether a change to the arrays makes them invalid.
template <class Change>
[[nodiscard]] bool is_refused(const Change& change) {
  Arrays arrays;
  change(arrays);
  try {
    (void)unpacked(arrays);
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}

}  // namespace

TEST(a_table_is_unpacked) {
  const WeightTable found = unpacked({});
  CHECK(found.label ==
        std::vector<std::uint16_t>({5 | kLastEntry, 0, 1, 302 | kLastEntry, 40, 42 | kLastEntry}));
  std::vector<std::uint64_t> slot(10, kNoSlot);
  slot[1] = std::uint64_t{7} << 32U;
  slot[7] = (std::uint64_t{8} << 32U) | 1;
  slot[8] = (std::uint64_t{9} << 32U) | 4;
  CHECK(found.slot == slot);
}

TEST(weights_are_looked_up) {
  const Arrays a;
  std::vector<float> code(256);
  for (std::size_t k = 0; k < code.size(); ++k) code[k] = static_cast<float>(k) / 2.0F;
  const StoredTable stored{a.slots, a.used, a.check, a.size, a.first, a.step};
  const std::vector<std::uint8_t> place = {0, 1, 255, 3, 3, 4};
  const WeightTable found = unpack(stored, code, place);
  CHECK(found.weight == std::vector<float>({0.0F, 0.5F, 127.5F, 1.5F, 1.5F, 2.0F}));
  CHECK(found.label == unpacked(a).label && found.slot == unpacked(a).slot);
  CHECK_THROWS((void)unpack(stored, code, std::span(place).first(5)), std::invalid_argument);
  CHECK_THROWS((void)unpack(stored, std::span(code).first(255), place), std::invalid_argument);
}

TEST(an_empty_table_is_unpacked) {
  const WeightTable found = unpacked({16, {0, 0}, {}, {}, {}, {}});
  CHECK(found.slot == std::vector<std::uint64_t>(16, kNoSlot) && found.label.empty());
}

TEST(steps_stay_among_the_labels) {
  Arrays arrays;
  arrays.step = {0xFFFF, 0x7FFF, 0x8000};
  for (const std::uint16_t label : unpacked(arrays).label) CHECK((label & ~kLastEntry) < kLastEntry);
}

TEST(arrays_that_do_not_match_are_refused) {
  CHECK(!is_refused([](Arrays&) {}));
  CHECK(is_refused([](Arrays& a) { a.slots = -1; }));
  CHECK(is_refused([](Arrays& a) { a.slots = 8; }));
  CHECK(is_refused([](Arrays& a) { a.slots = 17; }));
  CHECK(is_refused([](Arrays& a) { a.slots = std::int64_t{1} << 62U; }));
  CHECK(is_refused([](Arrays& a) { a.used.push_back(0); }));
  CHECK(is_refused([](Arrays& a) { a.used[1] = 0b0000'0001; }));  // beyond the slots
  CHECK(is_refused([](Arrays& a) { a.used[0] = 0b0110'0001; }));
  CHECK(is_refused([](Arrays& a) { a.check.pop_back(); }));
  CHECK(is_refused([](Arrays& a) { a.size.pop_back(); }));
  CHECK(is_refused([](Arrays& a) { a.size = {0, 4, 2}; }));
  CHECK(is_refused([](Arrays& a) { a.size[1] = 4; }));
  CHECK(is_refused([](Arrays& a) { a.size[1] = 0xFFFF; }));
  CHECK(is_refused([](Arrays& a) { a.first.pop_back(); }));
  CHECK(is_refused([](Arrays& a) { a.first[0] = kLastEntry; }));
  CHECK(is_refused([](Arrays& a) { a.step.pop_back(); }));
}
