// The plain recursions over a chain in the log domain (see log_domain.hpp).
#include "duilian/chain/log_domain.hpp"

#include <algorithm>
#include <cmath>

namespace duilian::log_domain {

namespace {

/// Turns log values into probabilities that sum to 1.
void normalise(std::span<double> logs) {
  const double log_sum = LogPlus::sum(logs);
  for (double& x : logs) x = std::exp(x - log_sum);
}

/// Subtracts the largest value of the column and returns it.
double take_peak(std::span<double> column) {
  const double peak = *std::max_element(column.begin(), column.end());
  if (peak == kForbidden) return peak;
  for (double& x : column) x -= peak;
  return peak;
}

[[nodiscard]] std::span<double> column(std::vector<double>& values, const Lattice& x, std::int32_t t) {
  return {values.data() + x.first[t], static_cast<std::size_t>(x.width(t))};
}

}  // namespace

double LogPlus::sum(std::span<const double> terms) {
  const double peak = *std::max_element(terms.begin(), terms.end());
  if (peak == kForbidden) return kForbidden;
  double total = 0.0;
  for (const double x : terms) total += std::exp(x - peak);
  return peak + std::log(total);
}

double MaxPlus::sum(std::span<const double> terms) { return *std::max_element(terms.begin(), terms.end()); }

template <class Semiring>
double forward(const Chain& chain, std::vector<double>& alpha) {
  const Lattice& x = chain.lattice;
  if (x.positions() == 0) return 0.0;
  alpha.assign(chain.state.begin(), chain.state.end());
  double taken = take_peak(column(alpha, x, 0));
  std::vector<double> terms;
  for (std::int32_t t = 1; t < x.positions(); ++t) {
    const Block& block = chain.between.between(t - 1);
    const double* before = alpha.data() + x.first[t - 1];
    terms.resize(block.rows);
    for (std::size_t j = 0; j < block.cols; ++j) {
      for (std::size_t i = 0; i < block.rows; ++i) terms[i] = before[i] + chain.between.row(block, i)[j];
      alpha[x.first[t] + j] += Semiring::sum(terms);
    }
    const double peak = take_peak(column(alpha, x, t));
    if (peak == kForbidden) return kForbidden;
    taken += peak;
  }
  return taken + Semiring::sum(column(alpha, x, x.positions() - 1));
}

template double forward<LogPlus>(const Chain&, std::vector<double>&);
template double forward<MaxPlus>(const Chain&, std::vector<double>&);

void backward(const Chain& chain, std::vector<double>& beta) {
  const Lattice& x = chain.lattice;
  beta.assign(chain.state.size(), 0.0);
  std::vector<double> terms;
  for (std::int32_t t = x.positions() - 2; t >= 0; --t) {
    const Block& block = chain.between.between(t);
    const std::int32_t j0 = x.first[t + 1];
    terms.resize(block.cols);
    for (std::size_t i = 0; i < block.rows; ++i) {
      const double* row = chain.between.row(block, i);
      for (std::size_t j = 0; j < block.cols; ++j) terms[j] = row[j] + chain.state[j0 + j] + beta[j0 + j];
      beta[x.first[t] + i] = LogPlus::sum(terms);
    }
    take_peak(column(beta, x, t));
  }
}

void unit_block(const Chain& chain, const std::vector<double>& alpha, const std::vector<double>& beta,
                std::int32_t t, std::span<double> out) {
  const std::int32_t j0 = chain.lattice.first[t];
  for (std::size_t j = 0; j < out.size(); ++j) out[j] = alpha[j0 + j] + beta[j0 + j];
  normalise(out);
}

void pair_block(const Chain& chain, const std::vector<double>& alpha, const std::vector<double>& beta,
                std::int32_t t, std::span<double> out) {
  const Block& block = chain.between.between(t);
  const std::int32_t i0 = chain.lattice.first[t];
  const std::int32_t j0 = chain.lattice.first[t + 1];
  for (std::size_t i = 0; i < block.rows; ++i) {
    const double* row = chain.between.row(block, i);
    for (std::size_t j = 0; j < block.cols; ++j) {
      out[i * block.cols + j] = alpha[i0 + i] + row[j] + chain.state[j0 + j] + beta[j0 + j];
    }
  }
  normalise(out);
}

}  // namespace duilian::log_domain
