// A parser's weights as a model file of 8 bits has them: those of trees stay places in a codebook, a byte
// each, so that four times as many fit into a cache. Those of relations become floats, because whole rows of
// them are added at once.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace duilian {

class CodedWeights {
 public:
  /// Of `size` weights, the first `trees` are those of trees. `used` has a bit for each, the highest of a
  /// byte first, that says whether it is not 0; `place` has the places of those in `code`. Nothing if the
  /// codebook, all of whose values are used, has no room for 0. Throws std::invalid_argument if the arrays do
  /// not fit.
  [[nodiscard]] static std::optional<CodedWeights> decode(std::span<const std::uint8_t> used,
                                                          std::span<const std::uint8_t> place,
                                                          std::span<const float> code, std::size_t trees,
                                                          std::size_t size);

  /// The weights of trees, to look at.
  struct Trees {
    const std::uint8_t* place;
    const float* value;
    [[nodiscard]] float operator[](std::size_t k) const { return value[place[k]]; }
  };
  [[nodiscard]] Trees trees() const { return {place_.data(), value_.data()}; }
  [[nodiscard]] std::span<const float> relations() const { return relations_; }
  [[nodiscard]] std::size_t size() const { return place_.size() + relations_.size(); }
  /// All of them as floats.
  [[nodiscard]] std::vector<float> dense() const;

 private:
  CodedWeights() = default;

  std::array<float, 256> value_{};
  std::vector<std::uint8_t> place_;  // [trees]
  std::vector<float> relations_;
};

}  // namespace duilian
