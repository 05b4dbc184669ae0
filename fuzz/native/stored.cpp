// Arrays as model files store them, coded and packed: they decode, or are refused; what was coded comes back.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "bytes.hpp"
#include "duilian/score/stored_table.hpp"
#include "duilian/score/weight_table.hpp"
#include "duilian/storage/byte_planes.hpp"

namespace fuzzing {

using namespace duilian;

namespace {

using Raw = std::vector<std::uint8_t>;

[[nodiscard]] Raw rest(Bytes& bytes) {
  const std::string_view text = bytes.rest();
  return {text.begin(), text.end()};
}

/// Any bytes as the code of an array of any size.
void decode_anything(Bytes& bytes) {
  const std::size_t width = std::size_t{1} << static_cast<unsigned>(bytes.below(4));
  Raw out(width * (bytes.number<std::uint16_t>() % 4096));
  decode_planes(rest(bytes), width, out);
}

/// The code of an array, as it is and spoilt.
void code_and_decode(Bytes& bytes) {
  const std::size_t width = std::size_t{1} << static_cast<unsigned>(bytes.below(4));
  const std::size_t repeats = 1 + static_cast<std::size_t>(bytes.below(100));
  Bytes changes(bytes);
  const Raw piece = rest(bytes);
  Raw array;
  for (std::size_t k = 0; k < repeats; ++k) array.insert(array.end(), piece.begin(), piece.end());
  array.resize(array.size() / width * width);
  Raw coded = encode_planes(array, width);
  Raw out(array.size());
  decode_planes(coded, width, out);
  if (out != array) std::abort();
  changes.spoil(coded);
  decode_planes(coded, width, out);
}

template <class T>
[[nodiscard]] std::vector<T> numbers(Bytes& bytes, std::size_t count, T limit) {
  std::vector<T> out;
  for (std::size_t k = 0; k < count; ++k) out.push_back(static_cast<T>(bytes.number<T>() % limit));
  return out;
}

/// A table that fits together, then spoilt; what is unpacked is checked and every feature looked up.
void unpack_and_look_up(Bytes& bytes) {
  Raw used = numbers<std::uint8_t>(bytes, static_cast<std::size_t>(bytes.below(9)), 255);
  std::size_t features = 0;
  for (const std::uint8_t each : used) features += static_cast<std::size_t>(__builtin_popcount(each));
  std::vector<std::uint16_t> size = numbers<std::uint16_t>(bytes, features, 4);
  std::size_t steps = 0;
  for (std::uint16_t& each : size) steps += each++;
  auto first = numbers<std::uint16_t>(bytes, features, 20);
  auto step = numbers<std::uint16_t>(bytes, steps, 5);
  auto check_bits = numbers<std::uint32_t>(bytes, features, 1000);
  auto slots = static_cast<std::int64_t>(8 * used.size());
  if (bytes.below(8) == 1) slots = bytes.number<std::int64_t>();
  bytes.spoil(used);
  bytes.spoil(size);
  bytes.spoil(first);
  bytes.spoil(step);
  bytes.spoil(check_bits);
  WeightTable table;
  unpack({slots, used, check_bits, size, first, step}, table.slot, table.label);
  table.weight.assign(table.label.size(), 0.5F);
  check(table, 40);
  std::vector<double> score(40, 0.0);
  for (const std::uint32_t key : check_bits) table.add_to(table.find(key), score.data());
}

}  // namespace

void attack(std::span<const std::uint8_t> input) {
  Bytes bytes(input);
  constexpr void (*kKinds[])(Bytes&) = {decode_anything, code_and_decode, unpack_and_look_up};
  kKinds[bytes.below(3)](bytes);
}

}  // namespace fuzzing
