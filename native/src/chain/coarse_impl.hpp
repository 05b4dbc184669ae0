// The kernels of coarse scores, included by the file of each instruction set, which defines kLane: the number
// of scores in a vector, 16 or 32. Sums always fit into 16 bits: a score is at least kCoarseForbidden before
// it is made relative to the best, and at least kCoarseDead = 2 kCoarseLow afterwards.

using R [[gnu::vector_size(2 * kLane), gnu::aligned(2), gnu::may_alias]] = short;

inline R load(const CoarseScore* p) { return *reinterpret_cast<const R*>(p); }
inline void store(CoarseScore* p, R v) { *reinterpret_cast<R*>(p) = v; }
inline R spread(CoarseScore x) { return R{} + x; }
inline R larger(R a, R b) { return a > b ? a : b; }

/// a - b; if it overflows, the caller does not use the value.
inline R difference(R a, R b) {
  using U = unsigned short __attribute__((vector_size(2 * kLane)));
  return reinterpret_cast<R>(reinterpret_cast<U>(a) - reinterpret_cast<U>(b));
}

using Eighth = short __attribute__((vector_size(16)));

inline CoarseScore largest_of_eight(Eighth high) {
#if defined(__AVX2__)
  // One instruction finds the smallest of eight unsigned numbers; with inverted bits, the largest.
  constexpr short kTurn = 0x7FFF;
  const Eighth turned = high ^ Eighth { kTurn, kTurn, kTurn, kTurn, kTurn, kTurn, kTurn, kTurn };
  return static_cast<CoarseScore>(__builtin_ia32_phminposuw128(turned)[0] ^ kTurn);
#else
  Eighth other = __builtin_shufflevector(high, high, 4, 5, 6, 7, 0, 1, 2, 3);
  high = high > other ? high : other;
  other = __builtin_shufflevector(high, high, 2, 3, 0, 1, 2, 3, 0, 1);
  high = high > other ? high : other;
  return high[0] > high[1] ? high[0] : high[1];
#endif
}

inline CoarseScore largest_lane(R v) {
  const auto eighth = [&]<int kAt>() {
    return __builtin_shufflevector(v, v, kAt, kAt + 1, kAt + 2, kAt + 3, kAt + 4, kAt + 5, kAt + 6, kAt + 7);
  };
  const Eighth a = eighth.template operator()<0>();
  const Eighth b = eighth.template operator()<8>();
  Eighth high = a > b ? a : b;
  if constexpr (kLane == 32) {
    const Eighth c = eighth.template operator()<kLane - 16>();
    const Eighth d = eighth.template operator()<kLane - 8>();
    const Eighth other = c > d ? c : d;
    high = high > other ? high : other;
  }
  return largest_of_eight(high);
}

template <Size N>
void add_coarse_block(const CoarseScore* const* rows, Size count, CoarseScore* to) {
  R acc[N];
  for (Size v = 0; v < N; ++v) acc[v] = load(to + kLane * v);
  for (Size k = 0; k < count; ++k) {
    for (Size v = 0; v < N; ++v) acc[v] += load(rows[k] + kLane * v);
  }
  for (Size v = 0; v < N; ++v) store(to + kLane * v, acc[v]);
}

void coarse_add_rows(const CoarseScore* const* rows, Size count, Size n, CoarseScore* to) {
  constexpr Size kMax = 16;
  const CoarseScore* from[kMax];
  for (; count > 0; count -= count < kMax ? count : kMax, rows += kMax) {
    const Size few = count < kMax ? count : kMax;
    Size j = 0;
    const auto go_on = [&](Size by) {
      j += by;
      for (Size k = 0; k < few; ++k) from[k] = rows[k] + j;
    };
    go_on(0);
    while (j + 4 * kLane <= n) {
      add_coarse_block<4>(from, few, to + j);
      go_on(4 * kLane);
    }
    while (j + 2 * kLane <= n) {
      add_coarse_block<2>(from, few, to + j);
      go_on(2 * kLane);
    }
    while (j < n) {
      add_coarse_block<1>(from, few, to + j);
      go_on(kLane);
    }
  }
}

/// Makes scores relative to the best but keeps dead ones dead; returns the best.
inline CoarseScore normalise(CoarseScore* x, Size n, R high) {
  const CoarseScore best = largest_lane(high);
  const R peak = spread(best);
  const R dead = spread(kCoarseDead);
  for (Size j = 0; j < n; j += kLane) {
    const R value = load(x + j);
    const R counted = larger(value - peak, dead);
    store(x + j, value <= dead ? dead : counted);
  }
  return best;
}

CoarseScore coarse_sums(const CoarseScore* a, const CoarseScore* b, Size n, CoarseScore* sum) {
  R high = spread(kCoarseForbidden);
  for (Size j = 0; j < n; j += kLane) {
    store(sum + j, load(a + j) + load(b + j));
    high = larger(load(sum + j), high);
  }
  return largest_lane(high);
}

/// Scores of a unit relative to the best of them.
class RelativeState {
 public:
  RelativeState(const CoarseScore* state, Size n) {
    R high = spread(kCoarseForbidden);
    for (Size j = 0; j < n; j += kLane) high = larger(load(state + j), high);
    best_ = largest_lane(high);
    peak_ = spread(best_);
    half_ = spread(static_cast<CoarseScore>(best_ >> 1));
  }
  [[nodiscard]] bool has_any() const { return best_ != kCoarseForbidden; }

  R operator()(R value) const {
    // The difference may overflow 16 bits, but half of it cannot.
    const R is_far = (value >> 1) - half_ < spread(static_cast<CoarseScore>(kCoarseLow / 2));
    const R counted = is_far ? spread(kCoarseLow) : difference(value, peak_);
    return value == spread(kCoarseForbidden) ? spread(kCoarseDead) : counted;
  }

 private:
  CoarseScore best_;
  R peak_, half_;
};

CoarseScore coarse_start(const CoarseScore* start, CoarseScore* state, Size n, CoarseScore* after) {
  const RelativeState relative(state, n);
  if (!relative.has_any()) return kCoarseDead;
  R high = spread(kCoarseForbidden);
  for (Size j = 0; j < n; j += kLane) {
    const R own = relative(load(state + j));
    store(state + j, own);
    const R sum = load(start + j) + own;
    store(after + j, sum);
    high = larger(sum, high);
  }
  return normalise(after, n, high);
}

/// The best way into N vectors of the core's columns, beginning at `column`; `to` receives the scores.
template <Size N>
void enter_columns(const CoarseMatrix& m, const CoarseScore* before, const std::uint16_t* row, Size count,
                   Size column, CoarseScore* to) {
  R best[N];
  for (Size v = 0; v < N; ++v) best[v] = spread(kCoarseDead);
  for (Size k = 0; k < count; ++k) {
    const R own = spread(before[m.row0 + row[k]]);
    const CoarseScore* from = m.core + row[k] * m.cols + column;
    for (Size v = 0; v < N; ++v) best[v] = larger(own + load(from + kLane * v), best[v]);
  }
  for (Size v = 0; v < N; ++v) store(to + kLane * v, best[v]);
}

/// The best way from selected rows into N vectors of columns, or the one in `before` if that is better.
template <Size N>
void leave_rows(const CoarseMatrix& m, const CoarseScore* message, const std::uint16_t* row, Size count,
                Size column, CoarseScore* before) {
  R to[N];
  for (Size v = 0; v < N; ++v) to[v] = load(message + m.col0 + column + kLane * v);
  for (Size k = 0; k < count; ++k) {
    const CoarseScore* from = m.core + row[k] * m.cols + column;
    R best = load(from) + to[0];
    for (Size v = 1; v < N; ++v) best = larger(load(from + kLane * v) + to[v], best);
    const CoarseScore found = largest_lane(best);
    CoarseScore& own = before[m.row0 + row[k]];
    own = own > found ? own : found;
  }
}

/// The best way into a vector along diagonals, or `best` if that is better.
inline R along_diagonals(const CoarseMatrix::Diagonal* diagonal, Size begin, Size end, const CoarseScore* arc,
                         const CoarseScore* from, R best) {
  for (Size d = begin; d < end; ++d)
    best = larger(load(from + diagonal[d].other) + load(arc + kLane * diagonal[d].arc), best);
  return best;
}

CoarseScore coarse_forward(const CoarseMatrix& m, const CoarseScore* before, const std::uint16_t* row,
                           Size count, CoarseScore* state, CoarseScore* after) {
  const Size n = kLane * m.vectors;
  const RelativeState relative(state, n);
  if (!relative.has_any()) return kCoarseDead;
  const R dead = spread(kCoarseDead);
  R high = spread(kCoarseForbidden);
  Size column = 0;
  for (; column + 4 * kLane <= m.cols; column += 4 * kLane)
    enter_columns<4>(m, before, row, count, column, after + m.col0 + column);
  for (; column + 2 * kLane <= m.cols; column += 2 * kLane)
    enter_columns<2>(m, before, row, count, column, after + m.col0 + column);
  for (; column < m.cols; column += kLane)
    enter_columns<1>(m, before, row, count, column, after + m.col0 + column);
  for (Size v = 0, j = 0; v < m.vectors; ++v, j += kLane) {
    const CoarseMatrix::Vector& vector = m.vector[v];
    const R best = along_diagonals(m.diagonal, vector.into, vector.into_end, m.arc, before + j,
                                   vector.is_column ? load(after + j) : dead);
    const R own = relative(load(state + j));
    store(state + j, own);
    const R sum = best + own;
    store(after + j, sum);
    high = larger(sum, high);
  }
  return normalise(after, n, high);
}

CoarseScore coarse_backward(const CoarseMatrix& m, const CoarseScore* state, const CoarseScore* after,
                            const std::uint16_t* row, Size count, CoarseScore* message, CoarseScore* before) {
  const Size n = kLane * m.vectors;
  const R dead = spread(kCoarseDead);
  for (Size j = 0; j < n; j += kLane) store(message + j, larger(load(state + j) + load(after + j), dead));
  for (Size j = 0; j < m.rows; j += kLane) store(before + m.row0 + j, dead);
  Size column = 0;
  for (; column + 4 * kLane <= m.cols; column += 4 * kLane)
    leave_rows<4>(m, message, row, count, column, before);
  for (; column + 2 * kLane <= m.cols; column += 2 * kLane)
    leave_rows<2>(m, message, row, count, column, before);
  for (; column < m.cols; column += kLane) leave_rows<1>(m, message, row, count, column, before);
  R high = spread(kCoarseForbidden);
  for (Size v = m.vectors; v-- > 0;) {  // the rows of the core, written here, usually come last
    const Size j = kLane * v;
    const CoarseMatrix::Vector& vector = m.vector[v];
    const bool has_core = j >= m.row0 && j < m.row0 + m.rows;
    const R best = along_diagonals(m.diagonal, vector.out, vector.out_end, m.arc, message + j,
                                   has_core ? load(before + j) : dead);
    store(before + j, best);
    high = larger(best, high);
  }
  return normalise(before, n, high);
}

#if defined(__AVX512VBMI2__)
Size coarse_at_least(const CoarseScore* x, Size n, CoarseScore threshold, std::uint16_t* place,
                     CoarseScore& next) {
  // The places of a vector are packed without branches.
  const auto low = _mm512_set1_epi16(threshold);
  auto own = _mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12,
                              11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  auto below = _mm512_set1_epi16(kCoarseForbidden);
  Size count = 0;
  for (Size j = 0; j < n; j += kLane) {
    const auto value = _mm512_loadu_si512(x + j);
    const auto found = _mm512_cmpge_epi16_mask(value, low);
    below = _mm512_mask_max_epi16(below, ~found, below, value);
    _mm512_storeu_si512(place + count, _mm512_maskz_compress_epi16(found, own));
    count += static_cast<Size>(__builtin_popcount(found));
    own = _mm512_add_epi16(own, _mm512_set1_epi16(kLane));
  }
  next = largest_lane(reinterpret_cast<R>(below));
  return count;
}
#else
/// Two bits for each lane of a mask.
inline unsigned bits_of(R mask) {
#if defined(__AVX2__)
  using B = char __attribute__((vector_size(32)));
  return static_cast<unsigned>(__builtin_ia32_pmovmskb256(reinterpret_cast<B>(mask)));
#else
  unsigned bits = 0;
  for (unsigned k = 0; k < kLane; ++k) bits |= (mask[k] != 0 ? 3U : 0U) << (2 * k);
  return bits;
#endif
}

Size coarse_at_least(const CoarseScore* x, Size n, CoarseScore threshold, std::uint16_t* place,
                     CoarseScore& next) {
  const R low = spread(threshold);
  const R none = spread(kCoarseForbidden);
  R below = none;
  Size count = 0;
  for (Size j = 0; j < n; j += kLane) {
    const R value = load(x + j);
    const R is_high = value >= low;
    below = larger(is_high ? none : value, below);
    for (unsigned bits = bits_of(is_high); bits != 0; bits &= bits - 1, bits &= bits - 1)
      place[count++] = static_cast<std::uint16_t>(j + static_cast<Size>(__builtin_ctz(bits)) / 2);
  }
  next = largest_lane(below);
  return count;
}
#endif
