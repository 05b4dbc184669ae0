// A fuzzer's bytes as choices: numbers, texts, and changes to arrays. When they run out, zeros follow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fuzzing {

class Bytes {
 public:
  explicit Bytes(std::span<const std::uint8_t> all) : left_(all) {}

  [[nodiscard]] bool is_empty() const { return left_.empty(); }
  [[nodiscard]] std::uint8_t byte() {
    if (left_.empty()) return 0;
    const std::uint8_t first = left_[0];
    left_ = left_.subspan(1);
    return first;
  }
  /// From 0 to `limit` - 1; the limit is at most 256.
  [[nodiscard]] std::int32_t below(std::int32_t limit) { return byte() % std::max(limit, 1); }
  template <class T>
  [[nodiscard]] T number() {
    std::uint8_t raw[sizeof(T)];
    for (std::uint8_t& each : raw) each = byte();
    T out;
    std::memcpy(&out, raw, sizeof(T));
    return out;
  }
  /// From -4 to just under 4.
  [[nodiscard]] float weight() { return static_cast<float>(static_cast<std::int8_t>(byte())) / 32.0F; }
  [[nodiscard]] std::string_view text(std::size_t limit) {
    const auto taken = left_.first(std::min(limit, left_.size()));
    left_ = left_.subspan(taken.size());
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }
  [[nodiscard]] std::string_view rest() { return text(left_.size()); }

  /// Sometimes changes an array, as a hostile file might: an element, or the length.
  template <class T>
  void spoil(std::vector<T>& array) {
    switch (below(8)) {
      case 1:
        if (!array.empty()) array[number<std::uint16_t>() % array.size()] = number<T>();
        break;
      case 2:
        if (!array.empty()) array[number<std::uint16_t>() % array.size()] = static_cast<T>(below(9));
        break;
      case 3:
        array.resize(array.size() / 2);
        break;
      case 4:
        array.resize(array.size() + 1 + static_cast<std::size_t>(below(4)));
        break;
      case 5:
        if (array.size() > 1) std::swap(array.front(), array[number<std::uint16_t>() % array.size()]);
        break;
      default:
        break;
    }
  }

 private:
  std::span<const std::uint8_t> left_;
};

/// What a target does with an input. It may throw std::invalid_argument and nothing else.
void attack(std::span<const std::uint8_t> input);

}  // namespace fuzzing
