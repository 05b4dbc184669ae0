// Codes and decodes planes of bytes (see byte_planes.hpp).
//
// The state x of a coder is a number in [2^16, 2^32). A byte with frequency f and start s (the sum of the
// frequencies of smaller bytes) becomes
//   x' = (x / f) 2^12 + s + x mod f,
// and a decoder, which finds the byte at x' mod 2^12, undoes that:
//   x = f (x' / 2^12) + x' mod 2^12 - s.
// Where x would leave its interval, a word of 16 bits is moved out or in. Coding goes backwards, so decoding
// goes forwards; all decoders must end with the 2^16 that the coders begin with.
#include "duilian/storage/byte_planes.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace duilian {

namespace {

constexpr std::uint32_t kScaleBits = 12;
constexpr std::uint32_t kScale = 1U << kScaleBits;  // frequencies add up to this
constexpr std::uint32_t kLowest = 1U << 16U;        // of a state
constexpr std::size_t kCoders = 4;
constexpr std::size_t kSetBytes = 32;  // a bit for each byte that occurs, lowest first

using Frequencies = std::array<std::uint32_t, 256>;

[[noreturn]] void refuse() { throw std::invalid_argument("a coded array does not decode"); }

void put(std::vector<std::uint8_t>& out, std::uint32_t value, std::size_t bytes) {
  for (std::size_t k = 0; k < bytes; ++k) out.push_back(static_cast<std::uint8_t>(value >> (8 * k)));
}

[[nodiscard]] std::uint32_t get16(const std::uint8_t* at) { return at[0] | (std::uint32_t{at[1]} << 8U); }
[[nodiscard]] std::uint32_t get32(const std::uint8_t* at) { return get16(at) | (get16(at + 2) << 16U); }

/// Whole frequencies near counts · 2^12 / n, at least 1 for each byte that occurs.
[[nodiscard]] Frequencies scaled(const std::array<std::uint64_t, 256>& count, std::uint64_t n) {
  Frequencies out{};
  std::uint32_t sum = 0;
  for (std::size_t b = 0; b < 256; ++b) {
    if (count[b] == 0) continue;
    out[b] = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(count[b] * kScale / n));
    sum += out[b];
  }
  // The byte that has least for its count gets more, and the one that has most gives some.
  const auto has_less = [&](std::size_t a, std::size_t b) { return out[a] * count[b] < out[b] * count[a]; };
  for (; sum != kScale; sum += sum < kScale ? 1U : ~0U) {
    std::size_t best = 256;
    for (std::size_t b = 0; b < 256; ++b) {
      if (sum < kScale ? out[b] == 0 : out[b] < 2) continue;
      if (best == 256 || (sum < kScale ? has_less(b, best) : has_less(best, b))) best = b;
    }
    out[best] += sum < kScale ? 1U : ~0U;
  }
  return out;
}

struct Plane {
  const std::uint8_t* at;
  std::size_t step;
  std::size_t size;
  [[nodiscard]] std::uint8_t operator[](std::size_t k) const { return at[k * step]; }
};

[[nodiscard]] std::vector<std::uint8_t> encode(const Plane& plane) {
  std::array<std::uint64_t, 256> count{};
  for (std::size_t k = 0; k < plane.size; ++k) ++count[plane[k]];
  const Frequencies frequency = scaled(count, plane.size);
  std::vector<std::uint8_t> out(kSetBytes);
  std::array<std::uint32_t, 256> start{};
  std::uint32_t sum = 0;
  for (std::size_t b = 0; b < 256; ++b) {
    start[b] = sum;
    sum += frequency[b];
    if (frequency[b] == 0) continue;
    out[b / 8] = static_cast<std::uint8_t>(out[b / 8] | (1U << (b % 8)));
    put(out, frequency[b], 2);
  }
  if (*std::max_element(frequency.begin(), frequency.end()) == kScale) return out;  // only one byte occurs
  std::array<std::uint32_t, kCoders> state{};
  state.fill(kLowest);
  std::vector<std::uint16_t> words;
  for (std::size_t k = plane.size; k-- > 0;) {
    const std::uint8_t b = plane[k];
    std::uint32_t& x = state[k % kCoders];
    if (x >= frequency[b] << (32U - kScaleBits)) {
      words.push_back(static_cast<std::uint16_t>(x));
      x >>= 16U;
    }
    x = ((x / frequency[b]) << kScaleBits) + start[b] + x % frequency[b];
  }
  for (const std::uint32_t x : state) put(out, x, 4);
  for (std::size_t k = words.size(); k-- > 0;) put(out, words[k], 2);
  return out;
}

/// For each x mod 2^12: the byte, its frequency, and x mod 2^12 - s, in 8, 12 and 12 bits.
using DecodingTable = std::array<std::uint32_t, kScale>;

void decode(std::span<const std::uint8_t> coded, std::uint8_t* out, std::size_t step, std::size_t size) {
  if (coded.size() < kSetBytes) refuse();
  const std::uint8_t* at = coded.data() + kSetBytes;
  const std::uint8_t* const end = coded.data() + coded.size();
  DecodingTable table;
  std::uint32_t sum = 0;
  std::uint32_t last = 0;  // frequency
  for (std::uint32_t b = 0; b < 256; ++b) {
    if (((coded[b / 8] >> (b % 8)) & 1U) == 0) continue;
    if (end - at < 2) refuse();
    const std::uint32_t frequency = get16(at);
    at += 2;
    if (frequency == 0 || frequency > kScale - sum) refuse();
    for (std::uint32_t k = 0; k < frequency; ++k) table[sum + k] = b | (frequency << 8U) | (k << 20U);
    sum += frequency;
    last = frequency;
  }
  if (last == kScale && at == end) {  // only one byte occurs
    for (std::size_t k = 0; k < size; ++k) out[k * step] = static_cast<std::uint8_t>(table[0]);
    return;
  }
  if (last == kScale || sum != kScale || end - at < static_cast<std::ptrdiff_t>(4 * kCoders) ||
      (end - at) % 2 != 0)
    refuse();
  std::array<std::uint32_t, kCoders> state{};
  for (std::uint32_t& x : state) {
    x = get32(at);
    at += 4;
    if (x < kLowest) refuse();
  }
  const auto next = [&](std::uint32_t& x) {
    const std::uint32_t found = table[x & (kScale - 1)];
    x = ((found >> 8U) & (kScale - 1)) * (x >> kScaleBits) + (found >> 20U);
    return static_cast<std::uint8_t>(found);
  };
  std::size_t k = 0;
  // As long as there is a word for each coder, nothing has to be checked, and nothing branches.
  for (; k + kCoders <= size && end - at >= static_cast<std::ptrdiff_t>(2 * kCoders); k += kCoders) {
    for (std::size_t c = 0; c < kCoders; ++c) {
      std::uint32_t x = state[c];
      out[(k + c) * step] = next(x);
      const bool is_low = x < kLowest;
      state[c] = is_low ? (x << 16U) | get16(at) : x;
      at += is_low ? 2 : 0;
    }
  }
  for (; k < size; ++k) {
    std::uint32_t& x = state[k % kCoders];
    out[k * step] = next(x);
    if (x >= kLowest) continue;
    if (at == end) refuse();
    x = (x << 16U) | get16(at);
    at += 2;
  }
  if (at != end || std::any_of(state.begin(), state.end(), [](std::uint32_t x) { return x != kLowest; }))
    refuse();
}

}  // namespace

std::vector<std::uint8_t> encode_planes(std::span<const std::uint8_t> bytes, std::size_t width) {
  if (width == 0 || bytes.size() % width != 0 || bytes.size() / width > 0xFFFFFFFFU)
    throw std::invalid_argument("an array has the wrong size for coding");
  const std::size_t size = bytes.size() / width;
  if (size == 0) return std::vector<std::uint8_t>(4 * width);
  std::vector<std::uint8_t> sizes;
  std::vector<std::uint8_t> out;
  for (std::size_t p = 0; p < width; ++p) {
    const Plane plane{bytes.data() + p, width, size};
    std::vector<std::uint8_t> coded = encode(plane);
    if (coded.size() >= size) {  // as it is
      coded.resize(size);
      for (std::size_t k = 0; k < size; ++k) coded[k] = plane[k];
    }
    put(sizes, static_cast<std::uint32_t>(coded.size()), 4);
    out.insert(out.end(), coded.begin(), coded.end());
  }
  sizes.insert(sizes.end(), out.begin(), out.end());
  return sizes;
}

void decode_planes(std::span<const std::uint8_t> coded, std::size_t width, std::span<std::uint8_t> bytes) {
  if (width == 0 || bytes.size() % width != 0 || coded.size() < 4 * width) refuse();
  const std::size_t size = bytes.size() / width;
  std::size_t at = 4 * width;
  for (std::size_t p = 0; p < width; ++p) {
    const std::size_t own = get32(coded.data() + 4 * p);
    if (own > size || own > coded.size() - at) refuse();
    const std::span<const std::uint8_t> plane = coded.subspan(at, own);
    at += own;
    if (own < size) {
      decode(plane, bytes.data() + p, width, size);
    } else {
      for (std::size_t k = 0; k < size; ++k) bytes[k * width + p] = plane[k];
    }
  }
  if (at != coded.size()) refuse();
}

}  // namespace duilian
