// Kernels of rough scores; a part of kernels_impl.hpp. Sums never leave 16 bits: a score is at least
// kRoughForbidden before it is counted from the best, and kRoughDead = 2 kRoughLow behind that.

using R = short __attribute__((vector_size(32), aligned(2), may_alias));

inline R load(const Rough* p) { return *reinterpret_cast<const R*>(p); }
inline void store(Rough* p, R v) { *reinterpret_cast<R*>(p) = v; }
inline R spread(Rough x) { return R{x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x}; }
inline R larger(R a, R b) { return a > b ? a : b; }
constexpr Size kLane = kRoughLanes;

/// a - b where it fits; where it does not, nobody looks.
inline R difference(R a, R b) {
  using U = unsigned short __attribute__((vector_size(32)));
  return reinterpret_cast<R>(reinterpret_cast<U>(a) - reinterpret_cast<U>(b));
}

inline Rough largest_lane(R v) {
  using H = short __attribute__((vector_size(16)));
  const H a = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7);
  const H b = __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
  H high = a > b ? a : b;
  H other = __builtin_shufflevector(high, high, 4, 5, 6, 7, 0, 1, 2, 3);
  high = high > other ? high : other;
  other = __builtin_shufflevector(high, high, 2, 3, 0, 1, 2, 3, 0, 1);
  high = high > other ? high : other;
  return high[0] > high[1] ? high[0] : high[1];
}

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

template <Size N>
void add_rough_block(const Rough* const* rows, Size count, Rough* to) {
  R acc[N];
  for (Size v = 0; v < N; ++v) acc[v] = load(to + kLane * v);
  for (Size k = 0; k < count; ++k) {
    for (Size v = 0; v < N; ++v) acc[v] += load(rows[k] + kLane * v);
  }
  for (Size v = 0; v < N; ++v) store(to + kLane * v, acc[v]);
}

void rough_add_rows(const Rough* const* rows, Size count, Size n, Rough* to) {
  constexpr Size kMost = 12;
  const Rough* from[kMost];
  for (; count > 0; count -= count < kMost ? count : kMost, rows += kMost) {
    const Size few = count < kMost ? count : kMost;
    Size j = 0;
    const auto go_on = [&](Size by) {
      j += by;
      for (Size k = 0; k < few; ++k) from[k] = rows[k] + j;
    };
    go_on(0);
    while (j + 4 * kLane <= n) {
      add_rough_block<4>(from, few, to + j);
      go_on(4 * kLane);
    }
    while (j + kLane <= n) {
      add_rough_block<1>(from, few, to + j);
      go_on(kLane);
    }
  }
}

/// Counts scores from their best, and leaves what is dead dead; gives the best.
inline Rough normalise(Rough* x, Size n, R high) {
  const Rough best = largest_lane(high);
  const R peak = spread(best);
  const R dead = spread(kRoughDead);
  for (Size j = 0; j < n; j += kLane) {
    const R value = load(x + j);
    const R counted = larger(value - peak, dead);
    store(x + j, value <= dead ? dead : counted);
  }
  return best;
}

Rough rough_sums(const Rough* a, const Rough* b, Size n, Rough* sum) {
  R high = spread(kRoughForbidden);
  for (Size j = 0; j < n; j += kLane) {
    store(sum + j, load(a + j) + load(b + j));
    high = larger(load(sum + j), high);
  }
  return largest_lane(high);
}

Rough rough_state(Rough* state, Size n) {
  R high = spread(kRoughForbidden);
  for (Size j = 0; j < n; j += kLane) high = larger(load(state + j), high);
  const Rough best = largest_lane(high);
  // The difference may be too large for 16 bits; half of it is not.
  const R half = spread(static_cast<Rough>(best >> 1));
  const R low = spread(static_cast<Rough>(kRoughLow / 2));
  const R forbidden = spread(kRoughForbidden);
  const R dead = spread(kRoughDead);
  const R peak = spread(best);
  for (Size j = 0; j < n; j += kLane) {
    const R value = load(state + j);
    const R is_far = (value >> 1) - half < low;
    const R counted = is_far ? spread(kRoughLow) : difference(value, peak);
    store(state + j, value == forbidden ? dead : counted);
  }
  return best;
}

Rough rough_start(const Rough* start, const Rough* state, Size n, Rough* after) {
  return normalise(after, n, spread(rough_sums(start, state, n, after)));
}

Rough rough_forward(const RoughMatrix& m, const Rough* before, const std::uint16_t* row, Size count,
                    const Rough* state, Rough* after) {
  const R dead = spread(kRoughDead);
  R high = spread(kRoughForbidden);
  for (Size v = 0; v < m.vectors; ++v) {
    const RoughMatrix::Vector& own = m.vector[v];
    R best = dead;
    if (own.column >= 0) {
      const Rough* column = m.core + kLane * static_cast<Size>(own.column);
      for (Size k = 0; k < count; ++k)
        best = larger(spread(before[m.row0 + row[k]]) + load(column + row[k] * m.cols), best);
    }
    for (Size d = own.into; d < own.into_end; ++d)
      best =
          larger(load(before + kLane * m.diagonal[d].other) + load(m.arc + kLane * m.diagonal[d].arc), best);
    const R sum = best + load(state + kLane * v);
    store(after + kLane * v, sum);
    high = larger(sum, high);
  }
  return normalise(after, kLane * m.vectors, high);
}

Rough rough_backward(const RoughMatrix& m, const Rough* state, const Rough* after, const std::uint16_t* row,
                     Size count, Rough* message, Rough* before) {
  const R dead = spread(kRoughDead);
  for (Size j = 0; j < kLane * m.vectors; j += kLane)
    store(message + j, larger(load(state + j) + load(after + j), dead));
  for (Size j = 0; j < m.rows; j += kLane) store(before + m.row0 + j, dead);
  for (Size k = 0; k < count; ++k) {
    const Rough* from = m.core + row[k] * m.cols;
    R best = dead;
    for (Size j = 0; j < m.cols; j += kLane) best = larger(load(from + j) + load(message + m.col0 + j), best);
    before[m.row0 + row[k]] = largest_lane(best);
  }
  R high = spread(kRoughForbidden);
  for (Size v = m.vectors; v-- > 0;) {  // the rows of the core, which are being written, mostly come last
    const RoughMatrix::Vector& own = m.vector[v];
    const bool has_core = kLane * v >= m.row0 && kLane * v < m.row0 + m.rows;
    R best = has_core ? load(before + kLane * v) : dead;
    for (Size d = own.out; d < own.out_end; ++d)
      best =
          larger(load(message + kLane * m.diagonal[d].other) + load(m.arc + kLane * m.diagonal[d].arc), best);
    store(before + kLane * v, best);
    high = larger(best, high);
  }
  return normalise(before, kLane * m.vectors, high);
}

Size rough_at_least(const Rough* x, Size n, Rough least, std::uint16_t* place) {
  const R low = spread(least);
  Size count = 0;
  for (Size j = 0; j < n; j += kLane) {
    for (unsigned bits = bits_of(load(x + j) >= low); bits != 0; bits &= bits - 1, bits &= bits - 1)
      place[count++] = static_cast<std::uint16_t>(j + static_cast<Size>(__builtin_ctz(bits)) / 2);
  }
  return count;
}
