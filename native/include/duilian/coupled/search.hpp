// Turns the scores of a sentence into an answer: prunes each side, builds the remaining bundles, and asks the
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

/// Scratch memory of one thread.
struct alignas(kCacheSeparation) SearchWork {
  SideScores scores;
  std::vector<TagSets> candidates;         // [sides]
  std::vector<std::vector<double>> prior;  // [sides]  p of the candidates by the side alone, if requested
  std::vector<std::vector<float>> listed;  // [sides][T]  share of p left by coarse pruning; empty: all
  BundleSpace space;
  Marginals found;
  std::vector<std::vector<double>> side;         // [sides]  p of the candidates
  std::vector<std::vector<std::int32_t>> place;  // [sides]  the chosen candidates
  std::vector<std::uint8_t> is_moot;             // [T]  units that nobody asks about, or empty
  PruningWorkspace pruning;
  SpaceWorkspace joint;
  PairWorkspace pair;
  Workspace chain;
};

/// What a search may lay out for one sentence. With r candidates for each of K sides, a unit has up to r^K
/// bundles, and r^2K pairs of them with its neighbour.
struct BundleLimits {
  std::int64_t bundles =
      std::numeric_limits<std::int64_t>::max();                   // of the candidates, before any is dropped
  std::int64_t pairs = std::numeric_limits<std::int64_t>::max();  // of neighbours, among those that are left
};

struct SearchOptions {
  Pruning pruning;
  Decoding decoding = Decoding::marginals;
  // See prune_bundles(); infinite: try all bundles.
  double bundle_gap = std::numeric_limits<double>::infinity();
  BundleLimits limits = {};
};

/// The candidates of every side, by the scores in `work`. `keep[k]`, unless empty, holds labels that must
/// stay.
void prune(const CoupledShape& shape, const CoupledTransitions& between, Pruning pruning, std::int32_t units,
           std::span<const std::span<const std::int32_t>> keep, bool with_prior, SearchWork& work);

/// Builds and scores the bundles of the candidates in `work`, ignoring the mappings if they leave nothing. A
/// finite bundle_gap needs `prior`: a bundle is dropped if it scores twice the gap below the best by the
/// sides alone, or the gap below the best with joint features, unless no legal path would be left.
/// Returns false if the bundles are beyond the limits.
[[nodiscard]] bool build(const CoupledShape& shape, const CoupledTransitions& between,
                         const JointSource& source, const SearchOptions& options, SearchWork& work);

/// The sides to answer for: [first, last).
struct SideChoice {
  std::size_t first;
  std::size_t last;
};

/// Fills `found`, `side` and `place` of `work` from its space, for the given sides.
void decode(const CoupledShape& shape, Decoding decoding, SideChoice sides, SearchWork& work);

/// build() and decode() in one step, for a few bundles of two sides: fills `side` and `place`, but not
/// `space` and `found`. Returns false and fills nothing if the general search must be used. Any bundle will
/// do at units that are moot.
[[nodiscard]] bool try_pairs(const CoupledShape& shape, const CoupledTransitions& between,
                             const JointSource& source, const SearchOptions& options, SideChoice sides,
                             SearchWork& work);

/// Answers for many sentences, their units one after another.
struct CoupledAnswers {
  std::vector<std::vector<std::int32_t>> label;  // [sides][units]
  std::vector<std::vector<float>> p;  // [sides][units]  of that label, times the share kept by pruning;
                                      // within the lattice with candidates
  std::vector<std::vector<float>> confidence;   // with candidates: p times the share kept by pruning
  std::vector<TagSets> candidates;              // [sides], if requested
  std::vector<std::vector<float>> candidate_p;  // [sides], laid out as candidates
};

/// Merges the answers of several threads.
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
  std::vector<Kept> kept_;  // [sentences], if requested
};

/// Restricts scores to given labels, side by side for all units: no positions if nothing is fixed on a side,
/// no labels at units that are free.
void restrict_scores(const CoupledShape& shape, std::span<const TagSets> allowed, std::int64_t begin,
                     std::int64_t end, SideScores& scores);

}  // namespace duilian
