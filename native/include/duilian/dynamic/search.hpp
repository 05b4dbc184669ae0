// The best path under dynamic features, approximately (Algorithm 1 of Zhao et al. 2012): a Viterbi search in
// which the features of unit t are those of the best path up to t - 1, whichever path they are used for.
//
// Two things refine it. A path that ended a word can only be followed by a new one, and a path in the middle
// of a word cannot: so a step follows the best path of its own *kind*, as long as that is at most `kind_gap`
// worse than the best of all. And with a beam of width k every label keeps its k best paths, and each of the
// k best paths overall uses its own words. A beam of 1 with a kind_gap below 0 is the paper's search; a beam
// that holds every path is exhaustive.
//
// Many units leave little doubt whether the unit before ended a word. A path that is more than `path_gap`
// worse than the best is not followed at all: then words are looked up for one kind of label only.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "duilian/chain/uniform.hpp"
#include "duilian/dynamic/history.hpp"

namespace duilian {

using KindSet = std::uint8_t;
inline constexpr KindSet kEveryKind = 3;
[[nodiscard]] constexpr KindSet set_of(Kind kind) { return static_cast<KindSet>(1U << kind); }
[[nodiscard]] constexpr bool has(KindSet kinds, Kind kind) { return (kinds & set_of(kind)) != 0; }

using FollowedHistories = std::array<History, kKinds>;

/// Scores labels by words.
class WordScorer {
 public:
  WordScorer() = default;
  WordScorer(const WordScorer&) = delete;
  WordScorer& operator=(const WordScorer&) = delete;
  virtual ~WordScorer() = default;
  /// Announces that `add` comes next, with the same words, for some of these kinds: time to prefetch.
  virtual void expect(const FollowedHistories& /*followed*/, std::int32_t /*t*/, KindSet /*kinds*/) {}
  /// Adds the scores that the followed words give the labels of unit t, of these kinds, to `state` [stride].
  virtual void add(const FollowedHistories& followed, std::int32_t t, KindSet kinds, double* state) = 0;
};

struct DynamicOptions {
  std::size_t beam = 1;
  double kind_gap = -1.0;
  double path_gap = std::numeric_limits<double>::infinity();
};

struct DynamicWorkspace {
  struct Path {
    double score = 0.0;
    std::int32_t label = 0;
    std::int32_t from = -1;  // among the paths before
    History history;
  };
  /// The best path of a kind up to a unit; no path if the label is -1.
  struct Leader {
    std::int32_t label = -1;
    std::int32_t from = -1;  // the label before, once followed
    bool is_followed = false;
    double score = kForbidden;
    History history;  // if followed
  };
  std::vector<double> state;                       // [paths followed][stride]
  std::vector<double> delta;                       // [T][stride]
  std::vector<std::array<Leader, kKinds>> leader;  // [T]
  std::vector<FollowedHistories> followed;         // [T]  the words that labels of each kind follow
  std::vector<std::int32_t> trace;                 // scratch
  std::vector<std::vector<Path>> paths;            // [T]  best first
  std::vector<std::vector<Path>> column;           // [L]  the best of each label
};

/// Labels of the best path found, [T]; false if no path is legal. `chain.state` holds the scores of the other
/// features. With a beam of 1, `work.followed` holds the histories that the features come from.
[[nodiscard]] bool try_dynamic_labels(const UniformChain& chain, const LabelWords& words, WordScorer& scorer,
                                      DynamicOptions options, DynamicWorkspace& work,
                                      std::span<std::int32_t> labels);

}  // namespace duilian
