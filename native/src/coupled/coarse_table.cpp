// Packs the weights that prune into records of 16-bit scores (see coarse_table.hpp).
#include "duilian/coupled/coarse_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "duilian/huge_pages.hpp"

namespace duilian {

namespace {

constexpr std::size_t kLineBytes = 64;  // of the cache

[[nodiscard]] std::int32_t label_of(const WeightTable& table, std::size_t entry) {
  return table.label[entry] & ~kLastEntry;
}

/// Like std::lround, but inline, for numbers that fit: half a step is rounded away from 0.
[[nodiscard]] CoarseScore rounded_score(double x) {
  const auto whole = static_cast<std::int32_t>(x);
  const double part = x - whole;
  return static_cast<CoarseScore>(whole + (part >= 0.5 ? 1 : 0) - (part <= -0.5 ? 1 : 0));
}

}  // namespace

CoarseTable::CoarseTable(const WeightTable& table, std::span<const Block> blocks, double scale,
                         std::span<const Rest> rest) {
  for (const Block& block : blocks) {
    rows_.push_back({blank_.size(), block.stride});
    blank_.resize(blank_.size() + block.stride, kCoarseForbidden);
    for (const std::uint16_t lane : block.lanes) blank_[rows_.back().at + lane] = 0;
  }
  const std::size_t features = rest.size();
  // A row has at most eight times as many scores as the feature has labels, and padding.
  reserve_huge_pages(code_, 10 * table.label.size() + (kHead + kRest) * features + kAfter);
  std::vector<std::uint32_t> record;  // for each entry that is the first of a feature
  record.reserve(features);
  std::vector<std::uint32_t> from;
  from.reserve(features);
  Pairs pairs;
  for (std::size_t begin = 0; begin < table.label.size();) {
    std::size_t end = begin;
    while ((table.label[end] & kLastEntry) == 0) ++end;
    ++end;
    from.push_back(static_cast<std::uint32_t>(begin));
    record.push_back(add_record(table, begin, end, blocks, scale, rest[record.size()], pairs));
    begin = end;
  }
  reserve_huge_pages(table_.slot, table.slot.size());
  table_.slot = table.slot;
  redirect(table_.slot, from, record);
  code_.resize(code_.size() + kAfter, 0);
}

std::uint32_t CoarseTable::add_record(const WeightTable& from, std::size_t begin, std::size_t end,
                                      std::span<const Block> blocks, double scale, Rest rest, Pairs& pairs) {
  const auto rounded = [&](std::size_t k) { return rounded_score(from.weight[k] * scale); };
  const std::size_t head = code_.size();
  const bool has_rest = rest.sides != kNoEntry || rest.joint != kNoEntry;
  code_.resize(head + kHead + (has_rest ? kRest : 0), 0);
  if (has_rest) std::memcpy(code_.data() + head + kHead, &rest, sizeof rest);
  pairs.clear();
  const auto lane_of = [&](std::size_t b, std::size_t k) {
    return blocks[b].lanes[static_cast<std::size_t>(label_of(from, k) - blocks[b].first)];
  };
  std::array<std::pair<std::size_t, std::size_t>, kMaxSides> row_of{};  // the entries of each row
  std::uint16_t has_row = 0;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const auto before = [&](std::int32_t label) {
      std::size_t k = begin;
      while (k < end && label_of(from, k) < label) ++k;
      return k;
    };
    const std::size_t first = before(blocks[b].first);
    const std::size_t last = before(blocks[b].first + static_cast<std::int32_t>(blocks[b].lanes.size()));
    row_of[b] = {first, last};
    if (last - first >= std::max<std::size_t>(8, blocks[b].lanes.size() / 8)) {
      has_row |= static_cast<std::uint16_t>(1U << b);
      continue;
    }
    for (std::size_t k = first; k < last; ++k) {
      if (rounded(k) != 0) pairs.emplace_back(rows_[b].at + lane_of(b, k), rounded(k));
    }
  }
  code_[head] = static_cast<CoarseScore>(has_row);
  code_[head + 1] = static_cast<CoarseScore>(pairs.size() | (has_rest ? kHasRest : 0U));
  for (const auto& [place, weight] : pairs) {
    code_.push_back(static_cast<CoarseScore>(place));
    code_.push_back(weight);
  }
  const auto line = [&](std::size_t place) {
    return reinterpret_cast<std::uintptr_t>(code_.data() + place) / kLineBytes;
  };
  const bool is_long = line(head) != line(code_.size() - 1);
  for (; has_row != 0; has_row &= static_cast<std::uint16_t>(has_row - 1)) {
    const auto b = static_cast<std::size_t>(std::countr_zero(has_row));
    const std::size_t row = code_.size();
    code_.resize(row + rows_[b].size, 0);
    for (std::size_t k = row_of[b].first; k < row_of[b].second; ++k) code_[row + lane_of(b, k)] = rounded(k);
  }
  if (code_.size() >= kIsLong - kAfter) throw std::invalid_argument("the tagger has too many weights");
  return static_cast<std::uint32_t>(head) | (is_long ? kIsLong : 0U);
}

/// Adds records to the scores of one unit; rows wait until all are known.
class CoarseTable::Adder {
 public:
  explicit Adder(const CoarseTable& table) : table_(table) {}

  void add(std::uint32_t record, CoarseScore* to) {
    const CoarseScore* at = table_.code_.data() + (record & ~kIsLong);
    auto has_row = static_cast<std::uint16_t>(at[0]);
    const auto head = static_cast<std::uint16_t>(at[1]);
    at += kHead + ((head & kHasRest) != 0 ? kRest : 0);
    for (const CoarseScore* end = at + 2 * static_cast<std::size_t>(head & ~unsigned{kHasRest}); at != end;
         at += 2) {
      CoarseScore& place = to[static_cast<std::uint16_t>(at[0])];
      place = static_cast<CoarseScore>(place + at[1]);
    }
    for (; has_row != 0; has_row &= static_cast<std::uint16_t>(has_row - 1)) {
      const auto side = static_cast<std::size_t>(std::countr_zero(has_row));
      if (count_[side] == kAtOnce) add_rows(side, to);
      rows_[side][count_[side]++] = at;
      // Rows are added when all features of the unit are known, so they can arrive meanwhile.
      const CoarseScore* end = at + table_.rows_[side].size;
      for (; at < end; at += kLineBytes / sizeof *at) __builtin_prefetch(at);
      at = end;
    }
  }
  void finish(CoarseScore* to) {
    for (std::size_t side = 0; side < table_.rows_.size(); ++side) {
      if (count_[side] != 0) add_rows(side, to);
    }
  }

 private:
  static constexpr std::size_t kAtOnce = 16;

  void add_rows(std::size_t side, CoarseScore* to) {
    const Row& row = table_.rows_[side];
    kernels().coarse_add_rows(rows_[side].data(), count_[side], row.size, to + row.at);
    count_[side] = 0;
  }

  const CoarseTable& table_;
  std::array<std::array<const CoarseScore*, kAtOnce>, kMaxSides> rows_{};
  std::array<std::size_t, kMaxSides> count_{};
};

void CoarseTable::begin_unit(std::span<const std::size_t> recurring, const std::uint32_t* record,
                             Adder& adder, Memory& memory, CoarseScore* to) const {
  constexpr std::uint32_t kNoRecord = kNoEntry - 1;  // all are smaller
  if (recurring.empty()) {
    std::copy(blank_.begin(), blank_.end(), to);
    return;
  }
  const std::size_t size = recurring.size();
  if (memory.record.empty()) {
    memory.record.assign(kRemembered * size, kNoRecord);
    memory.score.resize(kRemembered * stride());
  }
  std::uint32_t mixed = 0;
  for (const std::size_t p : recurring) mixed = (mixed ^ record[p]) * 0x9E3779B1U;
  const std::size_t place = mixed / (std::uint32_t{1} << 26U) % kRemembered;
  std::uint32_t* known = memory.record.data() + place * size;
  CoarseScore* score = memory.score.data() + place * stride();
  bool is_known = true;
  for (std::size_t k = 0; k < size; ++k) is_known = is_known && known[k] == record[recurring[k]];
  if (!is_known) {
    std::copy(blank_.begin(), blank_.end(), score);
    for (std::size_t k = 0; k < size; ++k) {
      known[k] = record[recurring[k]];
      if (known[k] != kNoEntry) adder.add(known[k], score);
    }
    adder.finish(score);
  }
  std::copy_n(score, stride(), to);
}

void CoarseTable::score(std::span<const std::int64_t> first, std::span<const std::uint32_t> record,
                        std::span<const std::size_t> recurring, Memory& memory,
                        std::vector<CoarseScore>& state, std::vector<Rest>& rest,
                        std::vector<std::size_t>& rest_first) const {
  constexpr std::size_t kAhead = 12;
  const std::size_t units = first.size() - 1;
  state.resize(std::max(state.size(), units * stride()));
  rest.clear();
  rest_first.assign(1, 0);
  Adder adder(*this);
  for (std::size_t t = 0; t < units; ++t) {
    CoarseScore* to = state.data() + t * stride();
    const auto begin = static_cast<std::size_t>(first[t]), last = static_cast<std::size_t>(first[t + 1]);
    begin_unit(recurring, record.data() + begin, adder, memory, to);
    auto next = recurring.begin();
    for (std::size_t k = begin; k < last; ++k) {
      if (k + kAhead < record.size() && record[k + kAhead] != kNoEntry) {
        const CoarseScore* ahead = code_.data() + (record[k + kAhead] & ~kIsLong);
        __builtin_prefetch(ahead);
        if ((record[k + kAhead] & kIsLong) != 0) __builtin_prefetch(ahead + kLineBytes / sizeof *ahead);
      }
      const bool is_done = next != recurring.end() && *next == k - begin;
      if (is_done) ++next;
      if (record[k] == kNoEntry) continue;
      const CoarseScore* at = code_.data() + (record[k] & ~kIsLong);
      if ((static_cast<std::uint16_t>(at[1]) & kHasRest) != 0)
        std::memcpy(&rest.emplace_back(), at + kHead, sizeof(Rest));
      if (!is_done) adder.add(record[k], to);
    }
    adder.finish(to);
    rest_first.push_back(rest.size());
  }
}

}  // namespace duilian
