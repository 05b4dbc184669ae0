// Extracts features of whole corpora with several threads: each takes a block of sentences, and blocks are
// joined in order, so that the result is the same for any number of threads.
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "duilian/features/extract.hpp"
#include "duilian/parallel.hpp"

namespace duilian {

namespace {

constexpr std::size_t kAhead = 16;  // keys between prefetching a slot and reading it

struct Block {
  KeyCounter counter;
  FeatureRows rows;                  // numbers assigned by the counter
  std::vector<std::uint32_t> final;  // [numbers]  rows of the index, or kNoRow
};

/// Block b of n has the sentences [begin, end).
[[nodiscard]] std::pair<std::int64_t, std::int64_t> part_of(const Sentences& sentences, std::size_t b,
                                                            std::size_t n) {
  const auto all = static_cast<std::size_t>(sentences.size());
  return {static_cast<std::int64_t>(all * b / n), static_cast<std::int64_t>(all * (b + 1) / n)};
}

void count_block(const TemplateSet& templates, const Sentences& sentences,
                 std::pair<std::int64_t, std::int64_t> part, bool keep_rows, Block& out) {
  FeatureKeys keys;
  for (std::int64_t sentence = part.first; sentence < part.second; ++sentence) {
    keys.first.assign(1, 0);
    keys.value.clear();
    extract_keys(templates, sentences, sentence, sentence + 1, keys);
    const auto before = static_cast<std::int64_t>(out.rows.value.size());
    for (std::size_t k = 0; k < keys.value.size(); ++k) {
      if (k + kAhead < keys.value.size()) out.counter.prefetch(keys.value[k + kAhead]);
      const std::uint32_t number = out.counter.add(keys.value[k]);
      if (keep_rows) out.rows.value.push_back(number);
    }
    if (!keep_rows) continue;
    for (std::size_t u = 1; u < keys.first.size(); ++u) out.rows.first.push_back(before + keys.first[u]);
  }
}

/// Adds the counts of all blocks to the first counter, and translates the numbers of the other blocks.
[[nodiscard]] std::vector<Block> count_blocks(const TemplateSet& templates, const Sentences& sentences,
                                              bool keep_rows, Team& team) {
  check_columns(templates, sentences);
  std::vector<Block> block(team.size());
  team.run([&](std::size_t b) {
    count_block(templates, sentences, part_of(sentences, b, block.size()), keep_rows, block[b]);
  });
  for (std::size_t b = 1; b < block.size(); ++b) block[b].final = block[0].counter.add(block[b].counter);
  return block;
}

/// Maps the numbers of the first counter to rows, without rare keys.
[[nodiscard]] std::vector<std::uint32_t> rows_of(const KeyCounter& counter, std::uint32_t min_count) {
  std::vector<std::uint32_t> row(counter.size());
  std::uint32_t next = 0;
  for (std::uint32_t k = 0; k < row.size(); ++k) row[k] = counter.count(k) >= min_count ? next++ : kNoRow;
  return row;
}

/// Replaces numbers by rows, and drops those that have none.
void finish(std::span<const std::uint32_t> final, FeatureRows& rows) {
  std::size_t kept = 0;
  std::size_t f = 0;
  for (std::size_t u = 1; u < rows.first.size(); ++u) {
    for (; f < static_cast<std::size_t>(rows.first[u]); ++f) {
      const std::uint32_t row = final[rows.value[f]];
      if (row != kNoRow) rows.value[kept++] = row;
    }
    rows.first[u] = static_cast<std::int64_t>(kept);
  }
  rows.value.resize(kept);
}

/// Concatenates the rows of all blocks.
[[nodiscard]] FeatureRows join(std::span<FeatureRows* const> parts, Team& team) {
  if (parts.size() == 1) return std::move(*parts[0]);
  std::vector<std::size_t> unit{0};
  std::vector<std::size_t> value{0};
  for (const FeatureRows* part : parts) {
    unit.push_back(unit.back() + part->first.size() - 1);
    value.push_back(value.back() + part->value.size());
  }
  FeatureRows out;
  out.first.resize(unit.back() + 1);
  out.value.resize(value.back());
  team.for_each(parts.size(), [&](std::size_t, std::size_t b) {
    std::copy(parts[b]->value.begin(), parts[b]->value.end(),
              out.value.begin() + static_cast<std::ptrdiff_t>(value[b]));
    for (std::size_t u = 1; u < parts[b]->first.size(); ++u) {
      out.first[unit[b] + u] = static_cast<std::int64_t>(value[b]) + parts[b]->first[u];
    }
  });
  return out;
}

}  // namespace

FeatureRows extract_rows(const TemplateSet& templates, const Sentences& sentences, const FeatureIndex& index,
                         std::size_t threads) {
  check_columns(templates, sentences);
  Team team(threads);
  std::vector<FeatureRows> rows(threads);
  team.run([&](std::size_t b) {
    FeatureKeys scratch;
    const auto [begin, end] = part_of(sentences, b, threads);
    extract_rows(templates, sentences, begin, end, index, scratch, rows[b]);
  });
  std::vector<FeatureRows*> parts;
  for (FeatureRows& part : rows) parts.push_back(&part);
  return join(parts, team);
}

std::vector<std::uint64_t> count_keys(const TemplateSet& templates, const Sentences& sentences,
                                      std::uint32_t min_count, std::size_t threads) {
  Team team(threads);
  return count_blocks(templates, sentences, false, team)[0].counter.frequent(min_count);
}

IndexedFeatures index_features(const TemplateSet& templates, const Sentences& sentences,
                               std::uint32_t min_count, std::size_t threads) {
  Team team(threads);
  std::vector<Block> block = count_blocks(templates, sentences, true, team);
  IndexedFeatures out;
  out.keys = block[0].counter.frequent(min_count);
  const std::vector<std::uint32_t> row = rows_of(block[0].counter, min_count);
  team.run([&](std::size_t b) {
    block[b].counter = {};
    if (b == 0) return finish(row, block[b].rows);
    for (std::uint32_t& number : block[b].final) number = row[number];
    finish(block[b].final, block[b].rows);
  });
  std::vector<FeatureRows*> parts;
  for (Block& each : block) parts.push_back(&each.rows);
  out.rows = join(parts, team);
  return out;
}

}  // namespace duilian
