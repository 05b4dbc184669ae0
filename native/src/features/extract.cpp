// Runs templates over the units of sentences, one at a time or, for simple templates, a sentence at a time.
#include "duilian/features/extract.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "duilian/concat.hpp"
#include "duilian/features/evaluate.hpp"
#include "duilian/text/characters.hpp"

namespace duilian {

namespace {

using namespace templating;

/// One sentence with the pseudo units around it; each of these is one character, `<s>` or `</s>`.
class Window {
 public:
  Window(const TemplateSet& set, const Sentences& sentences, std::int64_t sentence)
      : sentences_(sentences), begin_(sentences.begin_of(sentence)), end_(sentences.end_of(sentence)) {
    for (const std::string& name : set.columns) {
      const auto& names = sentences.column_names();
      column_of_.push_back(
          static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin()));
    }
  }
  [[nodiscard]] bool is_inside(std::int64_t unit) const { return unit >= begin_ && unit < end_; }
  [[nodiscard]] std::u32string_view edge(std::int64_t unit) const { return unit < begin_ ? kBefore : kAfter; }
  [[nodiscard]] std::uint64_t edge_hash(std::int64_t unit) const {
    static const std::uint64_t before = hash_text(kBefore);
    static const std::uint64_t after = hash_text(kAfter);
    return unit < begin_ ? before : after;
  }
  [[nodiscard]] std::u32string_view text(std::int64_t unit) const {
    return is_inside(unit) ? sentences_.text().at(unit) : edge(unit);
  }
  [[nodiscard]] std::uint64_t text_hash(std::int64_t unit) const {
    return is_inside(unit) ? sentences_.text().hash[unit] : edge_hash(unit);
  }
  [[nodiscard]] std::u32string_view column(std::int32_t number, std::int64_t unit) const {
    return is_inside(unit) ? sentences_.column(column_of_[number], unit) : edge(unit);
  }
  [[nodiscard]] std::uint64_t column_hash(std::int32_t number, std::int64_t unit) const {
    return is_inside(unit) ? sentences_.column_hash(column_of_[number], unit) : edge_hash(unit);
  }
  [[nodiscard]] std::int64_t length(std::int64_t unit) const {
    return is_inside(unit) ? static_cast<std::int64_t>(sentences_.text().at(unit).size()) : 1;
  }
  /// Characters [from, from + count) of a unit; it must have them.
  [[nodiscard]] std::u32string_view characters(std::int64_t unit, std::int64_t from,
                                               std::int64_t count) const {
    return is_inside(unit) ? sentences_.text().at(unit).substr(static_cast<std::size_t>(from),
                                                               static_cast<std::size_t>(count))
                           : edge(unit);
  }
  [[nodiscard]] std::u32string_view type(std::int64_t unit) const {
    if (!is_inside(unit)) return U"edge";
    return type_of(text(unit));
  }

 private:
  const Sentences& sentences_;
  std::int64_t begin_;
  std::int64_t end_;
  std::vector<std::size_t> column_of_;
};

/// A sink that adds the key of each feature.
[[nodiscard]] auto add_key(FeatureKeys& out) {
  return [&out](const Template& from, std::span<const AtomValue> values) {
    std::uint64_t key = from.id;
    for (const AtomValue& value : values) key = mix(key, value.hash);
    out.value.push_back(key);
  };
}

}  // namespace

void check(const FeatureRows& rows) {
  if (rows.first.empty() || rows.first.front() != 0 ||
      !std::is_sorted(rows.first.begin(), rows.first.end()) ||
      rows.first.back() != static_cast<std::int64_t>(rows.value.size()) ||
      (!rows.strength.empty() && rows.strength.size() != rows.value.size())) {
    throw std::invalid_argument("the offsets of the feature rows are inconsistent");
  }
}

void check_columns(const TemplateSet& templates, const Sentences& sentences) {
  const auto& names = sentences.column_names();
  for (const std::string& name : templates.columns) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      if (std::find(kDictionaryColumns.begin(), kDictionaryColumns.end(), name) != kDictionaryColumns.end())
        throw std::invalid_argument(concat("the template atom ", name, " needs a dictionary"));
      throw std::invalid_argument(concat("the templates need a column '", name, "' that the sentences lack"));
    }
  }
}

void extract_keys(const TemplateSet& templates, const Sentences& sentences, std::int64_t begin,
                  std::int64_t end, FeatureKeys& out) {
  check_columns(templates, sentences);
  for (std::int64_t sentence = begin; sentence < end; ++sentence) {
    const Window x(templates, sentences, sentence);
    for (std::int64_t t = sentences.begin_of(sentence); t < sentences.end_of(sentence); ++t) {
      append_keys(templates, x, t, out.value);
      out.first.push_back(static_cast<std::int64_t>(out.value.size()));
    }
  }
}

AnchorTemplates::AnchorTemplates(TemplateSet templates) : set_(std::move(templates)) {
  for (const Template& program : set_.templates) {
    is_flat_ = is_flat_ && program.is_plain;
    for (const Atom& atom : program.atoms) {
      const bool is_column = atom.kind == Atom::Kind::column;
      look_.push_back({is_column ? 1 + static_cast<std::size_t>(atom.first) : 0, atom.offset});
      lowest_ = std::min<std::int64_t>(lowest_, atom.offset);
      highest_ = std::max<std::int64_t>(highest_, atom.offset);
    }
    first_.push_back(look_.size());
  }
}

void AnchorTemplates::extract_flat(const Sentences& sentences, std::int64_t sentence, Around around,
                                   FeatureKeys& out, std::vector<std::uint64_t>& scratch) const {
  const Window x(set_, sentences, sentence);
  const std::int64_t begin = sentences.begin_of(sentence) - around.before;
  const std::int64_t end = sentences.end_of(sentence) + around.after;
  // [sources][units in sight]
  const auto seen = static_cast<std::size_t>(end + highest_ - begin - lowest_);
  scratch.resize((1 + set_.columns.size()) * seen);
  for (std::size_t source = 0; source <= set_.columns.size(); ++source) {
    std::uint64_t* hash = scratch.data() + source * seen;
    for (std::int64_t unit = begin + lowest_; unit < end + highest_; ++unit) {
      *hash++ = source == 0 ? x.text_hash(unit) : x.column_hash(static_cast<std::int32_t>(source - 1), unit);
    }
  }
  const std::size_t programs = set_.templates.size();
  const auto units = static_cast<std::size_t>(end - begin);
  out.value.resize(units * programs);
  for (std::size_t p = 0; p < programs; ++p) {
    std::uint64_t* key = out.value.data() + p;
    const std::size_t from = first_[p], to = first_[p + 1];
    for (std::size_t t = 0; t < units; ++t) {
      std::uint64_t mixed = set_.templates[p].id;
      for (std::size_t k = from; k < to; ++k) {
        const auto at = static_cast<std::size_t>(look_[k].offset - lowest_) + t;
        mixed = mix(mixed, scratch[look_[k].source * seen + at]);
      }
      key[t * programs] = mixed;
    }
  }
  for (std::size_t t = 1; t <= units; ++t) out.first.push_back(static_cast<std::int64_t>(t * programs));
}

void AnchorTemplates::extract(const Sentences& sentences, std::int64_t sentence, Around around,
                              FeatureKeys& out, std::vector<std::uint64_t>& scratch,
                              std::vector<std::uint16_t>* program) const {
  out.first.assign(1, 0);
  out.value.clear();
  if (program != nullptr) program->clear();
  if (is_flat_) {
    extract_flat(sentences, sentence, around, out, scratch);
    for (std::size_t k = 0; program != nullptr && k < out.value.size(); ++k)
      program->push_back(static_cast<std::uint16_t>(k % set_.templates.size()));
    return;
  }
  const Window x(set_, sentences, sentence);
  const std::int64_t end = sentences.end_of(sentence) + around.after;
  for (std::int64_t t = sentences.begin_of(sentence) - around.before; t < end; ++t) {
    for (std::size_t p = 0; p < set_.templates.size(); ++p) {
      run(x, set_.templates[p], t, add_key(out));
      if (program != nullptr) program->resize(out.value.size(), static_cast<std::uint16_t>(p));
    }
    out.first.push_back(static_cast<std::int64_t>(out.value.size()));
  }
}

void extract_rows(const TemplateSet& templates, const Sentences& sentences, std::int64_t begin,
                  std::int64_t end, const FeatureIndex& index, FeatureKeys& scratch, FeatureRows& out) {
  constexpr std::size_t kAhead = 16;  // keys between prefetching a slot and reading it
  for (std::int64_t sentence = begin; sentence < end; ++sentence) {
    scratch.first.assign(1, 0);
    scratch.value.clear();
    extract_keys(templates, sentences, sentence, sentence + 1, scratch);
    const auto& keys = scratch.value;
    for (std::size_t k = 0; k < std::min(kAhead, keys.size()); ++k) index.prefetch(keys[k]);
    std::size_t k = 0;
    for (std::size_t unit = 0; unit + 1 < scratch.first.size(); ++unit) {
      for (; k < static_cast<std::size_t>(scratch.first[unit + 1]); ++k) {
        if (k + kAhead < keys.size()) index.prefetch(keys[k + kAhead]);
        const std::uint32_t row = index.find(keys[k]);
        if (row != kNoRow) out.value.push_back(row);
      }
      out.first.push_back(static_cast<std::int64_t>(out.value.size()));
    }
  }
}

FeatureKeys extract_keys(const TemplateSet& templates, const Sentences& sentences) {
  FeatureKeys out;
  extract_keys(templates, sentences, 0, sentences.size(), out);
  return out;
}

std::vector<std::vector<std::string>> describe_features(const TemplateSet& templates,
                                                        const Sentences& sentences, std::int64_t sentence) {
  check_columns(templates, sentences);
  if (sentence < 0 || sentence >= sentences.size())
    throw std::invalid_argument(concat("there is no sentence ", sentence));
  const Window x(templates, sentences, sentence);
  std::vector<std::vector<std::string>> out;
  for (std::int64_t t = sentences.begin_of(sentence); t < sentences.end_of(sentence); ++t) {
    append_texts(templates, x, t, out.emplace_back());
  }
  return out;
}

}  // namespace duilian
