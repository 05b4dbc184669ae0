// The weights of a parser as stored in 8 bits in a model file. Tree weights remain indices into a codebook,
// one byte each, so that four times as many fit into a cache. Relation weights become floats, because whole
// rows of them are added at once.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace duilian {

class CodedWeights {
 public:
  /// Of `size` weights, the first `trees` are tree weights. `used` has a bit per weight, the highest of each
  /// byte first, that says whether it is nonzero; `place` has the indices of these into `code`. Returns
  /// nothing if `code` is full, so that 0 has no place in it. Throws std::invalid_argument if the arrays are
  /// inconsistent.
  [[nodiscard]] static std::optional<CodedWeights> decode(std::span<const std::uint8_t> used,
                                                          std::span<const std::uint8_t> place,
                                                          std::span<const float> code, std::size_t trees,
                                                          std::size_t size);

  /// Whether that many weights have a bit in `used`: throws std::invalid_argument if not.
  static void check(std::span<const std::uint8_t> used, std::size_t places, std::size_t size);

  /// All weights as floats, for searches that need them so; `code` may be full.
  [[nodiscard]] static std::vector<float> spread(std::span<const std::uint8_t> used,
                                                 std::span<const std::uint8_t> place,
                                                 std::span<const float> code, std::size_t size);

  /// A view of the tree weights.
  struct Trees {
    const std::uint8_t* place;
    const float* value;
    [[nodiscard]] float operator[](std::size_t k) const { return value[place[k]]; }
  };
  [[nodiscard]] Trees trees() const { return {place_.data(), value_.data()}; }
  [[nodiscard]] std::span<const float> relations() const { return relations_; }
  [[nodiscard]] std::size_t size() const { return place_.size() + relations_.size(); }
  /// All weights as floats.
  [[nodiscard]] std::vector<float> dense() const;

 private:
  CodedWeights() = default;

  std::array<float, 256> value_{};
  std::vector<std::uint8_t> place_;  // [trees]
  std::vector<float> relations_;
};

}  // namespace duilian
