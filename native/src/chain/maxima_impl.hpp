// The kernels that find maxima and large values, included by kernels_impl.hpp.

/// What to maximise: a value, or the sum of two.
struct Plain {
  const double* x;
  V at(Size j) const { return load(x + j); }
  double one(Size j) const { return x[j]; }
};
struct Sums {
  const double *x, *m;
  V at(Size j) const { return load(x + j) + load(m + j); }
  double one(Size j) const { return x[j] + m[j]; }
};

template <class Of>
double largest(Of of, Size n) {
  V high = spread(of.one(0)), other = high;  // two independent chains
  Size j = 0;
  for (; j + 8 <= n; j += 8) {
    high = larger(of.at(j), high);
    other = larger(of.at(j + 4), other);
  }
  high = larger(high, other);
  double highest = high[0];
  for (Size k = 1; k < 4; ++k) highest = high[k] > highest ? high[k] : highest;
  for (; j < n; ++j) highest = of.one(j) > highest ? of.one(j) : highest;
  return highest;
}

template <class Of>
Size first_of(Of of, Size n, double value) {
  const V wanted = spread(value);
  Size j = 0;
  for (; j + 4 <= n; j += 4) {
    const I found = of.at(j) == wanted;
    if (((found[0] | found[1]) | (found[2] | found[3])) != 0) break;
  }
  while (j + 1 < n && of.one(j) != value) ++j;
  return j;
}

double peak(const double* x, Size n) { return largest(Plain{x}, n); }

Size peak_place(const double* x, Size n) { return first_of(Plain{x}, n, largest(Plain{x}, n)); }

Size peak_sum_place(const double* x, const double* m, Size n, double* sum) {
  *sum = largest(Sums{x, m}, n);
  return first_of(Sums{x, m}, n, *sum);
}

Size at_least(const double* x, Size n, double threshold, std::uint32_t* place) {
  constexpr Size kStep = 8;  // few values reach the threshold, so test eight at a time
  const V low = spread(threshold);
  Size count = 0;
  for (Size j = 0; j < n; j += kStep) {
    const Size end = j + kStep < n ? j + kStep : n;
    if (end == j + kStep) {
      const I found = (load(x + j) >= low) | (load(x + j + 4) >= low);
      if (((found[0] | found[1]) | (found[2] | found[3])) == 0) continue;
    }
    for (Size k = j; k < end; ++k) {
      place[count] = static_cast<std::uint32_t>(k);
      count += x[k] >= threshold ? 1 : 0;
    }
  }
  return count;
}
