// From the scores of a sentence to an answer: prune each side, build the bundles that are left, ask the
// chain.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "duilian/coupled/pair_search.hpp"
#include "duilian/coupled/space.hpp"
#include "duilian/score/objective.hpp"

namespace duilian {

/// Scratch of one thread.
struct alignas(kCacheSeparation) SearchWork {
  SideScores scores;
  std::vector<TagSets> candidates;  // [sides]
  std::vector<std::vector<double>>
      prior;  // [sides]  p of the candidates according to the side alone, if wanted
  BundleSpace space;
  Marginals found;
  std::vector<std::vector<double>> side;         // [sides]  p of the candidates
  std::vector<std::vector<std::int32_t>> place;  // [sides]  the candidates chosen
  PruningWorkspace pruning;
  SpaceWorkspace joint;
  PairWorkspace pair;
  Workspace chain;
};

/// How a model searches.
struct SearchOptions {
  Pruning pruning;
  Decoding decoding = Decoding::marginals;
  double bundle_gap =
      std::numeric_limits<double>::infinity();  // see prune_bundles(); infinite: every bundle is tried
};

/// Candidates of every side by the scores in `work`. `keep[k]`, if not empty, holds labels that must stay.
void prune(const CoupledShape& shape, const CoupledTransitions& between, Pruning pruning, std::int32_t units,
           std::span<const std::span<const std::int32_t>> keep, bool with_prior, SearchWork& work);

/// Builds and scores the bundles of the candidates in `work`; where the mappings leave nothing, they are
/// ignored. A finite bundle_gap needs `prior`: a bundle is dropped if it is twice the gap below the best
/// according to the sides alone, or the gap below with joint features, unless that would leave no legal path.
void build(const CoupledShape& shape, const CoupledTransitions& between, const JointSource& source,
           double bundle_gap, SearchWork& work);

/// The sides whose answers are wanted: [first, last).
struct SideChoice {
  std::size_t first;
  std::size_t last;
};

/// Fills `found`, `side` and `place` of `work` from its space, for some sides.
void decode(const CoupledShape& shape, Decoding decoding, SideChoice sides, SearchWork& work);

/// build() and decode() at once for a few bundles of two sides: fills `side` and `place`, but not `space` and
/// `found`. Returns false, and fills nothing, if the general way has to be taken.
[[nodiscard]] bool try_pairs(const CoupledShape& shape, const CoupledTransitions& between,
                             const JointSource& source, const SearchOptions& options, SideChoice sides,
                             SearchWork& work);

/// Answers for many sentences, their units one after the other.
struct CoupledAnswers {
  std::vector<std::vector<std::int32_t>> label;  // [sides][units]
  std::vector<std::vector<float>>
      p;  // [sides][units]  of that label; less what pruning left out, unless candidates are wanted
  std::vector<std::vector<float>> confidence;   // as p, less what pruning left out; if candidates are wanted
  std::vector<TagSets> candidates;              // [sides], if wanted
  std::vector<std::vector<float>> candidate_p;  // [sides], as candidates
};

/// Puts the answers of several threads together.
class AnswerCollector {
 public:
  AnswerCollector(std::size_t sides, std::span<const std::int64_t> first, bool with_candidates);
  void add(std::size_t sentence, const SearchWork& work);
  [[nodiscard]] CoupledAnswers finish();

 private:
  struct Kept {
    std::vector<TagSets> sets;
    std::vector<std::vector<float>> p;
  };
  std::span<const std::int64_t> first_;
  bool with_candidates_;
  CoupledAnswers out_;
  std::vector<Kept> kept_;  // [sentences], if wanted
};

/// Labels that are given, side by side for all units: no positions if nothing is fixed on that side, no
/// labels at units that are free.
void restrict_scores(const CoupledShape& shape, std::span<const TagSets> allowed, std::int64_t begin,
                     std::int64_t end, SideScores& scores);

}  // namespace duilian
