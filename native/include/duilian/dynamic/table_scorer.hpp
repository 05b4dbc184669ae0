// Scores labels by words, from compiled weights. The search announces words ahead of time, so that their
// weights can be prefetched meanwhile. Much is cached: the scores of tag features, those of a new word of
// which only the first unit is known, and those of the words before the current one for as long as it
// continues.
//
// A word feature has two keys, one for labels that begin words and one for labels that continue them, because
// a search usually needs only one of them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "duilian/dynamic/search.hpp"
#include "duilian/dynamic/word_keys.hpp"
#include "duilian/score/weight_table.hpp"

namespace duilian {

inline constexpr std::array<std::uint64_t, kKinds> kAboutKind{0xB5297A4D'3F84D5B5U, 0x68E31DA4'1B56C4E9U};

/// Templates, grouped by what they use.
struct SortedTemplates {
  explicit SortedTemplates(const WordTemplates& all)
      : tags(all.part(Asks::tags)), past(all.part(Asks::past)), rest(all.part(Asks::rest)) {}
  WordKeys tags, past, rest;
};

class TableScorer final : public WordScorer {
 public:
  /// Caches the scores that tags of words give to labels of a kind. The tags of three words are usually among
  /// the same few, and their features have entries for most labels, so adding a row is faster than looking
  /// them up again.
  struct TagRows {
    static constexpr std::size_t kRows = 1024;
    std::vector<std::uint64_t> key;  // [kRows]  0 if unused
    std::unique_ptr<float[]> row;    // [kRows][labels of the kind]  written only where there is a key
  };
  /// Entries of features of the words before the one that begins at a unit.
  struct Past {
    std::array<std::int32_t, kWordsBack> begin{}, label{};  // of those words
    std::vector<std::uint32_t> entry;
    bool is_known = false;
  };
  struct Work {
    std::array<TagRows, kKinds> tags;
    std::vector<Past> past;  // [T]
    std::vector<std::uint64_t> keys;
    std::vector<std::uint32_t> entry;
    std::vector<double> row;  // [stride]
  };

  /// Scores the sentence of the window.
  TableScorer(const WeightTable& table, const SortedTemplates& templates, const LabelWords& words,
              WordWindow& window, std::size_t length, std::size_t stride, Work& work);

  void expect(const FollowedHistories& followed, std::int32_t t, KindSet kinds) override;
  void add(const FollowedHistories& followed, std::int32_t t, KindSet kinds, double* state) override;

 private:
  struct Range {
    std::size_t begin = 0, end = 0;
  };
  /// What will be looked up for the labels of a kind.
  struct KindLookup {
    Range rest, past, tags;  // ranges of keys, later of their entries
    std::size_t row = 0;     // index into the TagRows of the kind
    std::uint64_t row_key = 0;
    Past* kept = nullptr;  // where entries of the words before are cached, if at all
  };

  [[nodiscard]] Range append_keys(const WordKeys& templates, Kind kind);
  void find(Range& range, std::size_t& found);
  [[nodiscard]] std::span<const std::uint32_t> entries(Range range) const {
    return std::span(work_.entry).subspan(range.begin, range.end - range.begin);
  }
  [[nodiscard]] Past* kept_past(const History& history);
  void expect_row(Kind kind, KindLookup& lookup);
  void add_row(Kind kind, double* state);
  void add_entries(const KindLookup& lookup, double* state) const;
  /// Calls take(label, index among the labels of its kind).
  template <class Take>
  void for_each_label(Kind kind, const Take& take) const {
    std::size_t at = 0;
    for (const LabelWords::Run& run : words_.runs) {
      if (run.kind != kind) continue;
      for (std::size_t l = run.begin; l < run.end; ++l) take(l, at++);
    }
  }

  const WeightTable& table_;
  const SortedTemplates& templates_;
  const LabelWords& words_;
  WordWindow& window_;
  Work& work_;
  std::size_t row_size_ = 0;
  std::array<KindLookup, kKinds> lookup_;
};

}  // namespace duilian
