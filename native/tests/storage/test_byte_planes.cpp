// Tests the coding of arrays: every array comes back, sizes are near the entropy, and damaged code is
// refused.
#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "duilian/storage/byte_planes.hpp"

using namespace duilian;
using namespace testing;

namespace {

using Bytes = std::vector<std::uint8_t>;

[[nodiscard]] Bytes decoded(const Bytes& coded, std::size_t width, std::size_t size) {
  Bytes out(size);
  decode_planes(coded, width, out);
  return out;
}

/// Bytes with a geometric distribution: the share of the most frequent one is 1 - `share`.
[[nodiscard]] Bytes random_bytes(std::mt19937_64& random, std::size_t size, double share) {
  std::geometric_distribution<int> draw(1.0 - share);
  Bytes out(size);
  for (std::uint8_t& each : out) each = static_cast<std::uint8_t>(draw(random));
  return out;
}

[[nodiscard]] bool is_refused(const Bytes& coded, std::size_t width, std::size_t size) {
  try {
    (void)decoded(coded, width, size);
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}

}  // namespace

TEST(every_array_comes_back) {
  std::mt19937_64 random(1);
  for (std::size_t width : {1U, 2U, 4U, 8U}) {
    for (std::size_t count : {0U, 1U, 2U, 3U, 4U, 5U, 7U, 64U, 255U, 1000U, 5003U}) {
      for (double share : {0.0, 0.01, 0.5, 0.99, 0.9999}) {
        const Bytes bytes = random_bytes(random, width * count, share);
        CHECK(decoded(encode_planes(bytes, width), width, bytes.size()) == bytes);
      }
    }
  }
}

TEST(sizes_are_near_the_entropy) {
  std::mt19937_64 random(2);
  const Bytes bytes = random_bytes(random, 100'000, 0.5);  // 2 bits each
  const std::size_t size = encode_planes(bytes, 1).size();
  CHECK(24'900 < size && size < 25'300);
  // Bytes without structure stay as they are, after the size of their plane.
  Bytes noise(10'000);
  for (std::uint8_t& each : noise) each = static_cast<std::uint8_t>(random());
  CHECK(encode_planes(noise, 1).size() == noise.size() + 4);
  CHECK(encode_planes(Bytes(1'000'000), 4).size() < 200);
}

TEST(damaged_code_is_refused) {
  std::mt19937_64 random(3);
  const Bytes bytes = random_bytes(random, 3000, 0.7);
  const Bytes coded = encode_planes(bytes, 2);
  for (std::size_t size : {0U, 2U, 2998U, 3002U, 60'000U}) CHECK(is_refused(coded, 2, size));
  for (std::size_t width : {0U, 1U, 3U, 4U}) CHECK(is_refused(coded, width, 3000));
  for (std::size_t cut = 0; cut < coded.size(); ++cut) {
    CHECK(is_refused(Bytes(coded.begin(), coded.begin() + static_cast<std::ptrdiff_t>(cut)), 2, 3000));
  }
  Bytes longer = coded;
  longer.push_back(0);
  CHECK(is_refused(longer, 2, 3000));
  std::size_t accepted = 0;
  for (std::size_t k = 0; k < coded.size(); ++k) {
    Bytes other = coded;
    other[k] = static_cast<std::uint8_t>(other[k] ^ (1U << (random() % 8)));
    // A flipped bit leads to other states at the end, which are the right ones by a chance of about 2^-16:
    // then it is the code of another array.
    if (is_refused(other, 2, 3000)) continue;
    ++accepted;
    CHECK(decoded(other, 2, 3000) != bytes);
  }
  CHECK(accepted <= 3);
}

TEST(random_code_is_harmless) {
  std::mt19937_64 random(4);
  const Bytes good = encode_planes(random_bytes(random, 1000, 0.5), 1);
  int accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    Bytes coded = good;  // with frequencies that decode, and states and words at random
    for (std::size_t k = 40 + random() % 40; k < coded.size(); ++k)
      coded[k] = static_cast<std::uint8_t>(random());
    accepted += is_refused(coded, 1, 1000) ? 0 : 1;
  }
  CHECK(accepted <= 5);
}
