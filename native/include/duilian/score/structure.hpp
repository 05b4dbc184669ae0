// The plain tagger as the passive-aggressive learner sees it: the best labels against gold.
#pragma once

#include <cstdint>
#include <vector>

#include "duilian/score/tagging.hpp"

namespace duilian {

class TaggingStructure {
 public:
  struct Work {
    std::vector<double> state;
    UniformWorkspace chain;
    std::vector<std::int32_t> guess;
  };
  /// Throws std::invalid_argument if a sentence is not fully annotated.
  TaggingStructure(const TaggerLayout& layout, const TaggingData& data);

  [[nodiscard]] std::int64_t weights() const { return layout_.weights(); }
  [[nodiscard]] static std::size_t answers(std::int64_t) { return 1; }
  double respond(WeightView weights, std::int64_t sentence, std::size_t answer, Work& work,
                 std::vector<Delta>& difference) const;

 private:
  const TaggerLayout& layout_;
  const TaggingData& data_;
};

}  // namespace duilian
