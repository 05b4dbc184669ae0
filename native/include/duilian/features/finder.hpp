// Finds the features of a sentence in a table of weights. What templates with a single atom find depends on
// one value, such as a character, so it is remembered; only keys of several values are looked up each time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "duilian/features/extract.hpp"

namespace duilian {

/// What a table returns for a key that it lacks.
inline constexpr std::uint32_t kNotFound = std::numeric_limits<std::uint32_t>::max();

/// `Table` has prefetch(key) and find(key).
template <class Table>
class FeatureFinder {
 public:
  struct Work {
    std::vector<std::int64_t> first;   // [T + 1]  the features of each unit, found or not
    std::vector<std::uint32_t> found;  // what the table has for them, or kNotFound
    FeatureKeys keys;
    std::vector<std::uint64_t> hashes;
    std::vector<std::uint64_t> known;   // [sources][kKnown]  values of which the findings are remembered
    std::vector<std::uint32_t> memory;  // [sources][kKnown][templates of the source]
    const void* owner = nullptr;        // of what is remembered
  };

  explicit FeatureFinder(TemplateSet templates) : templates_(std::move(templates)) {
    if (!templates_.is_flat()) return;
    const auto& all = templates_.programs();
    for (std::size_t p = 0; p < all.size(); ++p) {
      if (all[p].size() > 1) {
        several_.push_back(p);
        continue;
      }
      const auto at = std::ranges::find(singles_, all[p][0].source, &Single::source);
      Single& own = at == singles_.end() ? singles_.emplace_back(all[p][0].source) : *at;
      own.look.push_back({p, all[p][0].offset});
      singles_at_once_ = std::max(singles_at_once_, own.look.size());
    }
  }

  [[nodiscard]] const TemplateSet& templates() const { return templates_.set(); }

  /// Finds the features of one sentence. Always the same table must come with `work`.
  void find(const Table& table, const Sentences& sentences, std::int64_t sentence, Work& work) const {
    if (!templates_.is_flat()) {
      templates_.extract(sentences, sentence, {}, work.keys, work.hashes, nullptr);
      work.first = work.keys.first;
      work.found.resize(work.keys.value.size());
      look_up(table, work.keys.value, 1, work.found.data(), [](std::size_t) { return std::size_t{0}; });
      return;
    }
    const std::size_t programs = templates_.programs().size();
    const AnchorTemplates::Sight sight = templates_.hashes(sentences, sentence, {}, work.hashes);
    work.first.resize(sight.units + 1);
    for (std::size_t t = 0; t <= sight.units; ++t) work.first[t] = static_cast<std::int64_t>(t * programs);
    work.found.resize(sight.units * programs);
    templates_.keys(several_, sight, work.hashes, work.keys.value);
    for (std::size_t k = 0; k < std::min(kAhead, work.keys.value.size()); ++k)
      table.prefetch(work.keys.value[k]);
    recall(table, sight, work);
    look_up(
        table, work.keys.value, several_.size(), work.found.data(),
        [&](std::size_t k) { return several_[k]; }, programs);
  }

 private:
  struct Look {
    std::size_t program;
    std::int64_t offset;
  };
  struct Single {
    std::size_t source;
    std::vector<Look> look{};
  };
  static constexpr std::size_t kKnown = 1U << 12U;  // values of one source
  static constexpr std::size_t kAhead = 24;

  /// Writes what each key finds: key k of `each` at place(k), then the next ones `step` further on.
  template <class Place>
  static void look_up(const Table& table, std::span<const std::uint64_t> keys, std::size_t each,
                      std::uint32_t* to, const Place& place, std::size_t step = 1) {
    const std::uint64_t* key = keys.data();
    const std::uint64_t* last = key + keys.size();
    for (; key != last; to += step) {
      for (std::size_t k = 0; k < each; ++k, ++key) {
        if (last - key > static_cast<std::ptrdiff_t>(kAhead)) table.prefetch(key[kAhead]);
        to[place(k)] = table.find(*key);
      }
    }
  }

  /// Writes what templates with one atom find at each unit.
  void recall(const Table& table, const AnchorTemplates::Sight& sight, Work& work) const {
    if (work.owner != this) {
      work.known.assign(singles_.size() * kKnown, 0);
      work.memory.assign(singles_.size() * kKnown * singles_at_once_, kNotFound);
      work.owner = this;
    }
    const std::size_t programs = templates_.programs().size();
    const auto units = static_cast<std::int64_t>(sight.units);
    const auto seen = static_cast<std::int64_t>(sight.seen);
    for (std::size_t s = 0; s < singles_.size(); ++s) {
      const Single& single = singles_[s];
      const std::uint64_t* hash = work.hashes.data() + single.source * sight.seen;
      for (std::int64_t u = 0; u < seen; ++u) {
        const std::size_t at = s * kKnown + static_cast<std::size_t>(hash[u] % kKnown);
        std::uint32_t* own = work.memory.data() + at * singles_at_once_;
        if (work.known[at] != hash[u]) {
          work.known[at] = hash[u];
          for (std::size_t k = 0; k < single.look.size(); ++k)
            own[k] = table.find(mix(templates().templates[single.look[k].program].id, hash[u]));
        }
        for (const Look& look : single.look) {
          const std::int64_t t = u + sight.lowest - look.offset;
          const std::uint32_t found = *own++;
          if (t >= 0 && t < units) work.found[static_cast<std::size_t>(t) * programs + look.program] = found;
        }
      }
    }
  }

  AnchorTemplates templates_;
  std::vector<Single> singles_;
  std::vector<std::size_t> several_;  // templates with several atoms
  std::size_t singles_at_once_ = 0;
};

}  // namespace duilian
