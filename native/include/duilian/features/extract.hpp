// Running templates over sentences: to keys, to rows of an index, or to readable text (the same program).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "duilian/features/index.hpp"
#include "duilian/features/sentences.hpp"
#include "duilian/features/templates.hpp"

namespace duilian {

/// Features per unit: the unit u has [first[u], first[u + 1]).
template <class Value>
struct PerUnit {
  std::vector<std::int64_t> first{0};  // [units + 1]
  std::vector<Value> value;
};

using FeatureKeys = PerUnit<std::uint64_t>;

/// Rows of an index. Features from templates have the value 1; a user's own may have others.
struct FeatureRows : PerUnit<std::uint32_t> {
  std::vector<float> strength;  // [value.size()], or empty if all are 1

  [[nodiscard]] float strength_of(std::int64_t feature) const {
    return strength.empty() ? 1.0F : strength[feature];
  }
};

/// Throws std::invalid_argument unless the offsets rise from 0 to the number of values.
void check(const FeatureRows& rows);

/// Throws std::invalid_argument if a template asks for a column that the sentences lack.
void check_columns(const TemplateSet& templates, const Sentences& sentences);

/// The keys of sentences [begin, end), unit by unit, in template order.
void extract_keys(const TemplateSet& templates, const Sentences& sentences, std::int64_t begin,
                  std::int64_t end, FeatureKeys& out);
/// The keys of all sentences.
[[nodiscard]] FeatureKeys extract_keys(const TemplateSet& templates, const Sentences& sentences);

/// The number of pseudo units before and after a sentence.
struct Around {
  std::int64_t before = 0;
  std::int64_t after = 0;
};

/// Templates prepared for whole sentences with pseudo units around them. If all of them use only units and
/// columns, without conditions, hashes are fetched once and then only mixed.
class AnchorTemplates {
 public:
  explicit AnchorTemplates(TemplateSet templates);

  /// The keys of one sentence and of the pseudo units around it, replacing the contents of `out`; `program`,
  /// if not null, gets the template of each; `scratch` is reused memory. Columns must have been checked.
  void extract(const Sentences& sentences, std::int64_t sentence, Around around, FeatureKeys& out,
               std::vector<std::uint64_t>& scratch, std::vector<std::uint16_t>* program) const;

 private:
  struct Look {
    std::size_t source;  // 0: the unit, then the columns
    std::int64_t offset;
  };
  void extract_flat(const Sentences& sentences, std::int64_t sentence, Around around, FeatureKeys& out,
                    std::vector<std::uint64_t>& scratch) const;

  TemplateSet set_;
  bool is_flat_ = true;
  std::vector<Look> look_;                 // of all templates
  std::vector<std::size_t> first_{0};      // [templates + 1]
  std::int64_t lowest_ = 0, highest_ = 0;  // offsets
};

/// The rows of the keys that the index knows; unknown features are left out. `scratch` is reused memory.
void extract_rows(const TemplateSet& templates, const Sentences& sentences, std::int64_t begin,
                  std::int64_t end, const FeatureIndex& index, FeatureKeys& scratch, FeatureRows& out);

/// The rows of all sentences.
[[nodiscard]] FeatureRows extract_rows(const TemplateSet& templates, const Sentences& sentences,
                                       const FeatureIndex& index, std::size_t threads);

/// Every key of all sentences seen at least `min_count` times, in order of first occurrence.
[[nodiscard]] std::vector<std::uint64_t> count_keys(const TemplateSet& templates, const Sentences& sentences,
                                                    std::uint32_t min_count, std::size_t threads = 1);

/// The same keys, and the rows of an index of them, in one pass.
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
