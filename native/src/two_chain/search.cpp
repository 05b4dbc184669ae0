// Viterbi search over two chains, with the tags of a unit in vectors (see search.hpp).
#include "duilian/two_chain/search.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace duilian {

namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();
constexpr std::size_t kLanes = TwoChainShape::kLanes;
using V [[gnu::vector_size(16), gnu::aligned(4), gnu::may_alias]] = float;

[[nodiscard]] inline V load(const float* p) { return *reinterpret_cast<const V*>(p); }
inline void store(float* p, V v) { *reinterpret_cast<V*>(p) = v; }
[[nodiscard]] inline V larger(V a, V b) { return a > b ? a : b; }
[[nodiscard]] inline V spread(float x) { return V{x, x, x, x}; }

/// y[v] = max_i (x[i] + a[i][v] + b[i][v]) for N vectors of the rows, which stay in registers.
template <std::size_t N>
void max_plus_block(const float* x, const float* a, const float* b, std::size_t rows, std::size_t stride,
                    float* y) {
  V best[N];
  for (std::size_t v = 0; v < N; ++v) best[v] = spread(kNever);
  for (std::size_t i = 0; i < rows; ++i, a += stride, b += stride) {
    const V xi = spread(x[i]);
    for (std::size_t v = 0; v < N; ++v) {
      best[v] = larger(xi + (load(a + kLanes * v) + load(b + kLanes * v)), best[v]);
    }
  }
  for (std::size_t v = 0; v < N; ++v) store(y + kLanes * v, best[v]);
}

void max_plus(const float* x, const float* a, const float* b, std::size_t rows, std::size_t stride,
              float* y) {
  std::size_t at = 0;
  const auto next = [&](std::size_t n, auto block) {
    for (; stride - at >= n * kLanes; at += n * kLanes) block(x, a + at, b + at, rows, stride, y + at);
  };
  next(8, max_plus_block<8>);
  next(4, max_plus_block<4>);
  next(3, max_plus_block<3>);
  next(2, max_plus_block<2>);
  next(1, max_plus_block<1>);
}

/// η_0(s, ·)
void start_eta(const TwoChains& x, std::size_t s, float* eta) {
  const std::size_t W = x.shape.width();
  const float base = x.cliques.start[s] + x.scores(0, Clique::letter)[s];
  const float* tag = x.scores(0, Clique::tag);
  const float* both = x.scores(0, Clique::letter_tag) + s * W;
  const float* start = x.cliques.start_tag.data() + s * W;
  for (std::size_t t = 0; t < W; t += kLanes) {
    store(eta + t, spread(base) + (load(tag + t) + load(both + t) + load(start + t)));
  }
}

/// Considers one more s' for δ_i(·, s): raises `delta` by what comes from η_{i-1}(s', ·).
void raise_delta(const TwoChains& x, std::size_t i, std::size_t s1, std::size_t s, const float* eta,
                 float* delta) {
  const std::size_t S = x.shape.letters(), W = x.shape.width();
  const float base = x.cliques.letters[s1 * S + s] + x.scores(i, Clique::letters)[s1 * S + s] +
                     x.scores(i, Clique::letter)[s];
  const float* c1 = x.cliques.c1.data() + (s1 * S + s) * W;
  for (std::size_t t = 0; t < W; t += kLanes) {
    store(delta + t, larger(load(eta + t) + (load(c1 + t) + spread(base)), load(delta + t)));
  }
}

/// η_i(s, ·) from δ_i(·, s).
void next_eta(const TwoChains& x, std::size_t i, std::size_t s, const float* delta, float* eta) {
  const std::size_t T = x.shape.tags(), W = x.shape.width();
  const float* c2 = x.cliques.c2.data() + s * T * W;
  const float* tags = x.scores(i, Clique::tags);
  if (x.shape.keeps_tag(s)) {
    for (std::size_t t = 0; t < T; ++t) eta[t] = delta[t] + (c2[t * W + t] + tags[t * W + t]);
  } else {
    max_plus(delta, c2, tags, T, W, eta);
  }
  const float* tag = x.scores(i, Clique::tag);
  const float* both = x.scores(i, Clique::letter_tag) + s * W;
  for (std::size_t t = 0; t < W; t += kLanes) {
    store(eta + t, load(eta + t) + (load(tag + t) + load(both + t)));
  }
}

/// The t' from which η_i(s, t) comes.
[[nodiscard]] std::size_t tag_before(const TwoChains& x, std::size_t i, std::size_t s, std::size_t t,
                                     const float* delta) {
  if (x.shape.keeps_tag(s)) return t;
  const std::size_t T = x.shape.tags(), W = x.shape.width();
  const float* c2 = x.cliques.c2.data() + s * T * W;
  const float* tags = x.scores(i, Clique::tags);
  std::size_t best = 0;
  float score = kNever;
  for (std::size_t t1 = 0; t1 < T; ++t1) {
    const float found = delta[t1] + (c2[t1 * W + t] + tags[t1 * W + t]);
    if (found > score) best = t1, score = found;
  }
  return best;
}

/// The s' from which δ_i(t', s) comes.
[[nodiscard]] std::size_t letter_before(const TwoChains& x, std::size_t i, std::size_t s, std::size_t t1,
                                        const float* eta) {
  const std::size_t S = x.shape.letters(), W = x.shape.width();
  std::size_t best = 0;
  float score = kNever;
  for (std::size_t s1 = 0; s1 < S; ++s1) {
    const float base = x.cliques.letters[s1 * S + s] + x.scores(i, Clique::letters)[s1 * S + s] +
                       x.scores(i, Clique::letter)[s];
    const float found = eta[s1 * W + t1] + (x.cliques.c1[(s1 * S + s) * W + t1] + base);
    if (found > score) best = s1, score = found;
  }
  return best;
}

/// Computes four letters of unit i at once, and writes them after those of unit i - 1.
void next_letters(const TwoChains& x, std::size_t i, float* eta) {
  const float* global = x.cliques.letters.data();
  const float* local = x.scores(i, Clique::letters);
  V best = spread(eta[0]) + (load(global) + load(local));
  for (std::size_t s1 = 1; s1 < kLanes; ++s1) {
    best = larger(spread(eta[s1]) + (load(global + kLanes * s1) + load(local + kLanes * s1)), best);
  }
  store(eta + kLanes, best + load(x.scores(i, Clique::letter)));
}

}  // namespace

float best_path(const TwoChains& x, TwoChainWorkspace& work, std::span<std::int32_t> letter,
                std::span<std::int32_t> tag) {
  const std::size_t S = x.shape.letters(), T = x.shape.tags(), W = x.shape.width(), L = x.length;
  if (L == 0) return 0.0F;
  work.eta.resize(L * S * W);
  work.delta.resize(L * S * W);
  for (std::size_t s = 0; s < S; ++s) start_eta(x, s, work.eta.data() + s * W);
  for (std::size_t i = 1; i < L; ++i) {
    const float* before = work.eta.data() + (i - 1) * S * W;
    for (std::size_t s = 0; s < S; ++s) {
      float* delta = work.delta.data() + (i * S + s) * W;
      std::fill_n(delta, W, kNever);
      for (std::size_t s1 = 0; s1 < S; ++s1) {
        if (x.cliques.letters[s1 * S + s] != kNever) raise_delta(x, i, s1, s, before + s1 * W, delta);
      }
      next_eta(x, i, s, delta, work.eta.data() + (i * S + s) * W);
    }
  }
  const float* last = work.eta.data() + (L - 1) * S * W;
  std::size_t s = 0, t = 0;
  float best = kNever;
  for (std::size_t s1 = 0; s1 < S; ++s1) {
    for (std::size_t t1 = 0; x.shape.may_end(s1) && t1 < T; ++t1) {
      if (last[s1 * W + t1] > best) s = s1, t = t1, best = last[s1 * W + t1];
    }
  }
  if (best == kNever) return best;
  for (std::size_t i = L; i-- > 0;) {
    letter[i] = static_cast<std::int32_t>(s);
    tag[i] = static_cast<std::int32_t>(t);
    if (i == 0) break;
    t = tag_before(x, i, s, t, work.delta.data() + (i * S + s) * W);
    s = letter_before(x, i, s, t, work.eta.data() + (i - 1) * S * W);
  }
  return best;
}

float best_letters(const TwoChains& x, TwoChainWorkspace& work, std::span<std::int32_t> letter) {
  const std::size_t S = x.shape.letters(), L = x.length;
  if (L == 0) return 0.0F;
  work.eta.resize(L * S);
  for (std::size_t s = 0; s < S; ++s) work.eta[s] = x.cliques.start[s] + x.scores(0, Clique::letter)[s];
  const auto arrive = [&](std::size_t i, std::size_t s1, std::size_t s) {
    return work.eta[(i - 1) * S + s1] +
           (x.cliques.letters[s1 * S + s] + x.scores(i, Clique::letters)[s1 * S + s]);
  };
  for (std::size_t i = 1; i < L; ++i) {
    if (S == kLanes) {
      next_letters(x, i, work.eta.data() + (i - 1) * S);
      continue;
    }
    for (std::size_t s = 0; s < S; ++s) {
      float best = kNever;
      for (std::size_t s1 = 0; s1 < S; ++s1) best = std::max(best, arrive(i, s1, s));
      work.eta[i * S + s] = best + x.scores(i, Clique::letter)[s];
    }
  }
  std::size_t s = 0;
  float best = kNever;
  for (std::size_t s1 = 0; s1 < S; ++s1) {
    const float found = work.eta[(L - 1) * S + s1];
    if (x.shape.may_end(s1) && found > best) s = s1, best = found;
  }
  if (best == kNever) return best;
  for (std::size_t i = L - 1; i > 0; --i) {
    letter[i] = static_cast<std::int32_t>(s);
    std::size_t from = 0;
    for (std::size_t s1 = 1; s1 < S; ++s1) {
      if (arrive(i, s1, s) > arrive(i, from, s)) from = s1;
    }
    s = from;
  }
  letter[0] = static_cast<std::int32_t>(s);
  return best;
}

float best_tags(const TwoChains& x, TwoChainWorkspace& work, std::span<const std::int32_t> letter,
                std::span<std::int32_t> tag) {
  const std::size_t T = x.shape.tags(), W = x.shape.width(), L = x.length;
  if (L == 0) return 0.0F;
  work.eta.resize(L * W);
  work.delta.resize(L * W);
  const auto keep_given = [&](std::size_t i) {
    for (std::size_t t = 0; tag[i] != kUnknownTag && t < T; ++t) {
      if (t != static_cast<std::size_t>(tag[i])) work.eta[i * W + t] = kNever;
    }
  };
  start_eta(x, static_cast<std::size_t>(letter[0]), work.eta.data());
  keep_given(0);
  for (std::size_t i = 1; i < L; ++i) {
    float* delta = work.delta.data() + i * W;
    std::fill_n(delta, W, kNever);
    const auto s = static_cast<std::size_t>(letter[i]);
    raise_delta(x, i, static_cast<std::size_t>(letter[i - 1]), s, work.eta.data() + (i - 1) * W, delta);
    next_eta(x, i, s, delta, work.eta.data() + i * W);
    keep_given(i);
  }
  const float* last = work.eta.data() + (L - 1) * W;
  auto t = static_cast<std::size_t>(std::max_element(last, last + T) - last);
  const float best = last[t];
  if (best == kNever) return best;
  for (std::size_t i = L; i-- > 0;) {
    tag[i] = static_cast<std::int32_t>(t);
    if (i > 0) t = tag_before(x, i, static_cast<std::size_t>(letter[i]), t, work.delta.data() + i * W);
  }
  return best;
}

void agree_tags(const TwoChainShape& shape, std::span<const std::int32_t> letter,
                std::span<std::int32_t> tag) {
  for (std::size_t begin = 0, end = 0; begin < letter.size(); begin = end) {
    for (++end; end < letter.size() && shape.continues(static_cast<std::size_t>(letter[end]));) ++end;
    const auto word = tag.subspan(begin, end - begin);
    const auto votes = [&](std::int32_t t) { return std::count(word.begin(), word.end(), t); };
    const std::int32_t best = *std::max_element(
        word.begin(), word.end(), [&](std::int32_t a, std::int32_t b) { return votes(a) < votes(b); });
    std::fill(word.begin(), word.end(), best);
  }
}

double path_score(const TwoChains& x, std::span<const std::int32_t> letter,
                  std::span<const std::int32_t> tag) {
  const std::size_t S = x.shape.letters(), T = x.shape.tags(), W = x.shape.width();
  const bool has_tags = !tag.empty();
  double total = 0.0;
  for (std::size_t i = 0; i < x.length; ++i) {
    const auto s = static_cast<std::size_t>(letter[i]);
    const std::size_t s1 = i == 0 ? 0 : static_cast<std::size_t>(letter[i - 1]);
    total += x.scores(i, Clique::letter)[s];
    total += i == 0 ? x.cliques.start[s]
                    : x.cliques.letters[s1 * S + s] + x.scores(i, Clique::letters)[s1 * S + s];
    if (!has_tags) continue;
    const auto t = static_cast<std::size_t>(tag[i]);
    const std::size_t t1 = i == 0 ? 0 : static_cast<std::size_t>(tag[i - 1]);
    total += x.scores(i, Clique::tag)[t] + x.scores(i, Clique::letter_tag)[s * W + t];
    total += i == 0 ? x.cliques.start_tag[s * W + t]
                    : x.cliques.c1[(s1 * S + s) * W + t1] + x.cliques.c2[(s * T + t1) * W + t] +
                          x.scores(i, Clique::tags)[t1 * W + t];
  }
  return total;
}

}  // namespace duilian
