// Runs templates over sentences and yields keys, rows of an index, or readable text, all by the same program.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "duilian/features/index.hpp"
#include "duilian/features/sentences.hpp"
#include "duilian/features/templates.hpp"

namespace duilian {

/// Features of each unit: those of unit u are [first[u], first[u + 1]).
template <class Value>
struct PerUnit {
  std::vector<std::int64_t> first{0};  // [units + 1]
  std::vector<Value> value;
};

using FeatureKeys = PerUnit<std::uint64_t>;

/// Rows of an index. Features from templates have strength 1; features supplied by a user may have another.
struct FeatureRows : PerUnit<std::uint32_t> {
  std::vector<float> strength;  // [value.size()], or empty if all are 1

  [[nodiscard]] float strength_of(std::int64_t feature) const {
    return strength.empty() ? 1.0F : strength[feature];
  }
};

/// Throws std::invalid_argument unless the offsets rise from 0 to the number of values.
void check(const FeatureRows& rows);

/// Throws std::invalid_argument if a template uses a column that the sentences lack.
void check_columns(const TemplateSet& templates, const Sentences& sentences);

/// The keys of sentences [begin, end), unit by unit, in template order.
void extract_keys(const TemplateSet& templates, const Sentences& sentences, std::int64_t begin,
                  std::int64_t end, FeatureKeys& out);
[[nodiscard]] FeatureKeys extract_keys(const TemplateSet& templates, const Sentences& sentences);

/// How many pseudo units before and after a sentence get keys.
struct Around {
  std::int64_t before = 0;
  std::int64_t after = 0;
};

/// Templates prepared for whole sentences including the pseudo units around them. They are flat if every one
/// always has exactly one feature; then the hash of each value is found once per unit and only mixed.
class AnchorTemplates {
 public:
  explicit AnchorTemplates(TemplateSet templates);

  [[nodiscard]] const TemplateSet& set() const { return set_; }

  /// Replaces the contents of `out` by the keys of one sentence and its pseudo units. If `program` is not
  /// null, it receives the template of each key. `scratch` is reused memory. Columns must have been checked
  /// before.
  void extract(const Sentences& sentences, std::int64_t sentence, Around around, FeatureKeys& out,
               std::vector<std::uint64_t>& scratch, std::vector<std::uint16_t>* program) const;

  /// An atom: what a unit is asked, and where it is.
  struct Look {
    std::size_t source;
    std::int64_t offset;
  };
  [[nodiscard]] bool is_flat() const { return is_flat_; }
  /// The atoms of each template.
  [[nodiscard]] const std::vector<std::vector<Look>>& programs() const { return programs_; }

  /// The units that templates see from a sentence: `seen` of them, the first `lowest` away from the first of
  /// the `units` that get keys.
  struct Sight {
    std::size_t units;
    std::size_t seen;
    std::int64_t lowest;
  };
  /// If templates are flat: writes the hashes of all values, [sources][seen].
  [[nodiscard]] Sight hashes(const Sentences& sentences, std::int64_t sentence, Around around,
                             std::vector<std::uint64_t>& out) const;
  /// The keys of these templates, [units][templates], from hashes.
  void keys(std::span<const std::size_t> wanted, const Sight& sight, std::span<const std::uint64_t> hashes,
            std::vector<std::uint64_t>& out) const;

 private:
  /// What a unit is asked: an atom without its offset.
  struct Source {
    Atom::Kind kind;
    std::int32_t number;  // of the column, or the distance of the unit that may be the same
    bool operator==(const Source&) const = default;
  };
  [[nodiscard]] std::size_t number_of(Source source);

  TemplateSet set_;
  bool is_flat_ = true;
  std::vector<Source> sources_;
  std::vector<std::vector<Look>> programs_;
  std::vector<std::size_t> every_;         // the numbers of all templates
  std::int64_t lowest_ = 0, highest_ = 0;  // smallest and largest offset
};

/// The rows of all keys found in the index; unknown features are skipped. `scratch` is reused memory.
void extract_rows(const TemplateSet& templates, const Sentences& sentences, std::int64_t begin,
                  std::int64_t end, const FeatureIndex& index, FeatureKeys& scratch, FeatureRows& out);

[[nodiscard]] FeatureRows extract_rows(const TemplateSet& templates, const Sentences& sentences,
                                       const FeatureIndex& index, std::size_t threads);

/// Every key that occurs at least `min_count` times, in order of first occurrence.
[[nodiscard]] std::vector<std::uint64_t> count_keys(const TemplateSet& templates, const Sentences& sentences,
                                                    std::uint32_t min_count, std::size_t threads = 1);

/// These keys together with the rows of an index of them, from a single pass.
struct IndexedFeatures {
  std::vector<std::uint64_t> keys;
  FeatureRows rows;
};
[[nodiscard]] IndexedFeatures index_features(const TemplateSet& templates, const Sentences& sentences,
                                             std::uint32_t min_count, std::size_t threads);

/// Readable features, for people and golden tests: `w[0] c[1,0]=国务院 新`, in UTF-8.
[[nodiscard]] std::vector<std::vector<std::string>> describe_features(const TemplateSet& templates,
                                                                      const Sentences& sentences,
                                                                      std::int64_t sentence);

}  // namespace duilian
