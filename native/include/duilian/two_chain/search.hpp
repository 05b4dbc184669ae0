// Searches two coupled chains, once the rows of a sentence are scored. The best path comes from the two
// alternating recurrences of Qiu et al. (2012, Eq. 4), where S, SS, T, ST, TT are the scores in a unit's row:
//   δ_i(t', s) = max_s' η_{i-1}(s', t') + SS_i(s', s) + C1(s', s, t') + S_i(s)
//   η_i(s, t)  = max_t' δ_i(t', s)      + TT_i(t', t) + C2(s, t', t)  + T_i(t) + ST_i(s, t)
// in O((S²T + T²S) L). If s continues a word, t' = t. Sums instead of maxima give marginals; the k best
// follow the same recurrences.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "duilian/two_chain/shape.hpp"

namespace duilian {

/// A scored sentence.
struct TwoChains {
  const TwoChainShape& shape;
  const CliqueScores& cliques;
  const float* rows;  // [L][row]
  std::size_t length;
  std::size_t row;  // size of a row: that of the shape, or of letters alone

  [[nodiscard]] const float* scores(std::size_t i, Clique clique) const {
    return rows + i * row + shape.at(clique);
  }
};

struct TwoChainWorkspace {
  std::vector<float> eta;    // [L][S][T']  η_i(s, t)
  std::vector<float> delta;  // [L][S][T']  δ_i(t, s)
};

inline constexpr std::int32_t kUnknownTag = -1;

/// Letters and tags of the best path; returns its score, or -inf if no path is legal.
float best_path(const TwoChains& x, TwoChainWorkspace& work, std::span<std::int32_t> letter,
                std::span<std::int32_t> tag);

/// The best letters by the chain of letters alone, which is of first order: O(S² L).
float best_letters(const TwoChains& x, TwoChainWorkspace& work, std::span<std::int32_t> letter);

/// The best tags for given letters, which must be legal; tags other than kUnknownTag are given, too. O(T² L).
float best_tags(const TwoChains& x, TwoChainWorkspace& work, std::span<const std::int32_t> letter,
                std::span<std::int32_t> tag);

/// Gives all units of a word its most frequent tag (the first in a tie), because without the edge they may
/// differ.
void agree_tags(const TwoChainShape& shape, std::span<const std::int32_t> letter,
                std::span<std::int32_t> tag);

/// The score of a path; without tags, by the chain of letters alone.
[[nodiscard]] double path_score(const TwoChains& x, std::span<const std::int32_t> letter,
                                std::span<const std::int32_t> tag);

struct TwoChainPath {
  double score = 0.0;
  std::vector<std::int32_t> letter, tag;
};
/// The k best paths, best first; fewer if there are fewer.
[[nodiscard]] std::vector<TwoChainPath> k_best_paths(const TwoChains& x, std::size_t k);
/// The k best letter sequences by the chain of letters alone.
[[nodiscard]] std::vector<TwoChainPath> k_best_letters(const TwoChains& x, std::size_t k);

struct TwoChainMarginals {
  double log_partition = 0.0;
  std::vector<double> unit;  // [L][S][T]  p(s_i, t_i)
};
/// The marginals of the distribution whose log is the score times `scale`, up to a constant.
[[nodiscard]] TwoChainMarginals marginals(const TwoChains& x, double scale);

}  // namespace duilian
