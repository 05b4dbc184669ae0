// Approximate search for the best path under dynamic features (Algorithm 1 of Zhao et al. 2012): a Viterbi
// search in which the features of unit t come from the best path up to t - 1, even for other paths.
//
// Two refinements are ours. A path that has just ended a word must begin a new one, and a path inside a word
// must not; so a step uses the words of the best path of its own *kind*, provided that this scores at most
// `kind_gap` below the best of all. And with a beam of width k, every label keeps its k best paths, and each
// of the k best paths overall uses its own words. A beam of 1 with a kind_gap below 0 is the paper's search;
// a beam that holds every path is exhaustive.
//
// At many units there is little doubt whether the previous unit ended a word. A path that scores more than
// `path_gap` below the best is not followed at all; then words are looked up for one kind of label only.
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
  /// Announces a call of `add` with the same words, for some of these kinds, so that data can be prefetched.
  virtual void expect(const FollowedHistories& /*followed*/, std::int32_t /*t*/, KindSet /*kinds*/) {}
  /// Adds the scores that the followed words give to labels of these kinds at unit t to `state` [stride].
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
    std::int32_t from = -1;  // index into the paths of the previous unit
    History history;
  };
  /// The best path of a kind up to a unit; label -1 means that there is none.
  struct Leader {
    std::int32_t label = -1;
    std::int32_t from = -1;  // the previous label, once followed
    bool is_followed = false;
    double score = kForbidden;
    History history;  // once followed
  };
  std::vector<double> state;                       // [paths followed][stride]
  std::vector<double> delta;                       // [T][stride]
  std::vector<std::array<Leader, kKinds>> leader;  // [T]
  std::vector<FollowedHistories> followed;         // [T]  the words that labels of each kind follow
  std::vector<std::int32_t> trace;                 // scratch
  std::vector<std::vector<Path>> paths;            // [T]  best first
  std::vector<std::vector<Path>> column;           // [L]  the best of each label
};

/// The labels of the best path found, [T]; returns false if no path is legal. `chain.state` holds the scores
/// of the other features. With a beam of 1, `work.followed` holds the histories that features were taken
/// from.
[[nodiscard]] bool try_dynamic_labels(const UniformChain& chain, const LabelWords& words, WordScorer& scorer,
                                      DynamicOptions options, DynamicWorkspace& work,
                                      std::span<std::int32_t> labels);

}  // namespace duilian
