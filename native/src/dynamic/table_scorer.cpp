// Looks up word features ahead of the search, and caches what recurs (see table_scorer.hpp).
#include "duilian/dynamic/table_scorer.hpp"

#include <algorithm>

namespace duilian {

namespace {

constexpr std::size_t kFloatsPerLine = 16;  // of the cache

}  // namespace

TableScorer::TableScorer(const WeightTable& table, const SortedTemplates& templates, const LabelWords& words,
                         WordWindow& window, std::size_t length, std::size_t stride, Work& work)
    : table_(table), templates_(templates), words_(words), window_(window), work_(work) {
  work_.past.resize(std::max(work_.past.size(), length));
  for (std::size_t t = 0; t < length; ++t) work_.past[t].is_known = false;
  work_.row.resize(stride);
  std::array<std::size_t, kKinds> labels{};
  for (const LabelWords::Run& run : words_.runs) labels[run.kind] += run.end - run.begin;
  row_size_ = std::max(labels[kBetween], labels[kInside]);
  for (TagRows& kept : work_.tags) {
    if (!kept.key.empty()) continue;
    kept.key.assign(TagRows::kRows, 0);
    kept.row = std::make_unique_for_overwrite<float[]>(TagRows::kRows * row_size_);
  }
}

TableScorer::Range TableScorer::append_keys(const WordKeys& templates, Kind kind) {
  const std::size_t begin = work_.keys.size();
  templates.append(window_, work_.keys);
  for (std::size_t k = begin; k < work_.keys.size(); ++k) {
    work_.keys[k] ^= kAboutKind[kind];
    table_.prefetch(work_.keys[k]);
  }
  return {begin, work_.keys.size()};
}

/// Where entries of the words before the open one are cached; marked unknown if the cache held other words.
TableScorer::Past* TableScorer::kept_past(const History& history) {
  Past& past = work_.past[static_cast<std::size_t>(history.begin[0])];
  for (std::size_t k = 0; k < kWordsBack; ++k) {
    past.is_known =
        past.is_known && past.begin[k] == history.begin[k + 1] && past.label[k] == history.label[k + 1];
    past.begin[k] = history.begin[k + 1];
    past.label[k] = history.label[k + 1];
  }
  return &past;
}

/// The row for the tags in the window, and the keys to fill it with if it is not cached.
void TableScorer::expect_row(Kind kind, KindLookup& lookup) {
  const TagRows& kept = work_.tags[kind];
  lookup.row_key = window_.tags_key() | 1U;
  lookup.row = (lookup.row_key >> 32U) % TagRows::kRows;
  lookup.tags = {};
  if (kept.key[lookup.row] != lookup.row_key) lookup.tags = append_keys(templates_.tags, kind);
  const float* row = kept.row.get() + lookup.row * row_size_;
  for (std::size_t l = 0; l < row_size_; l += kFloatsPerLine) __builtin_prefetch(row + l);
}

/// Turns a range of keys into the range of their entries, appended to those found before.
void TableScorer::find(Range& range, std::size_t& found) {
  const auto keys = std::span(work_.keys).subspan(range.begin, range.end - range.begin);
  const std::size_t count = table_.find_present(keys, work_.entry.data() + found);
  range = {found, found + count};
  found += count;
}

void TableScorer::expect(const FollowedHistories& followed, std::int32_t t, KindSet kinds) {
  work_.keys.clear();
  for (const Kind kind : {kBetween, kInside}) {
    if (!has(kinds, kind)) continue;
    window_.move_to(followed[kind], t);
    KindLookup& lookup = lookup_[kind];
    lookup.rest = append_keys(templates_.rest, kind);
    lookup.kept = kind == kInside && followed[kind].is_open ? kept_past(followed[kind]) : nullptr;
    lookup.past = {};
    if (lookup.kept == nullptr || !lookup.kept->is_known) lookup.past = append_keys(templates_.past, kind);
    expect_row(kind, lookup);
  }
  if (work_.entry.size() < work_.keys.size()) work_.entry.resize(work_.keys.size());
  std::size_t found = 0;
  for (const Kind kind : {kBetween, kInside}) {
    if (!has(kinds, kind)) continue;
    KindLookup& lookup = lookup_[kind];
    for (Range* range : {&lookup.rest, &lookup.past, &lookup.tags}) find(*range, found);
  }
}

void TableScorer::add(const FollowedHistories& /*followed*/, std::int32_t /*t*/, KindSet kinds,
                      double* state) {
  for (const Kind kind : {kBetween, kInside}) {
    if (has(kinds, kind)) add_row(kind, state);
  }
  for (const Kind kind : {kBetween, kInside}) {
    if (has(kinds, kind)) add_entries(lookup_[kind], state);
  }
}

void TableScorer::add_entries(const KindLookup& lookup, double* state) const {
  for (const std::uint32_t each : entries({lookup.rest.begin, lookup.past.end})) table_.add_to(each, state);
  if (lookup.kept == nullptr) return;
  Past& past = *lookup.kept;
  if (past.is_known) {
    for (const std::uint32_t each : past.entry) table_.add_to(each, state);
  } else {
    const auto found = entries(lookup.past);
    past.entry.assign(found.begin(), found.end());
    past.is_known = true;
  }
}

void TableScorer::add_row(Kind kind, double* state) {
  const KindLookup& lookup = lookup_[kind];
  TagRows& kept = work_.tags[kind];
  float* row = kept.row.get() + lookup.row * row_size_;
  if (kept.key[lookup.row] != lookup.row_key) {
    kept.key[lookup.row] = lookup.row_key;
    std::fill(work_.row.begin(), work_.row.end(), 0.0);
    for (const std::uint32_t each : entries(lookup.tags)) table_.add_to(each, work_.row.data());
    for_each_label(
        kind, [&](std::size_t label, std::size_t at) { row[at] = static_cast<float>(work_.row[label]); });
  }
  for (const LabelWords::Run& run : words_.runs) {
    if (run.kind != kind) continue;
    const std::size_t size = run.end - run.begin;
    double* to = state + run.begin;
    for (std::size_t l = 0; l < size; ++l) to[l] += row[l];
    row += size;
  }
}

}  // namespace duilian
