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

namespace {

/// Whether an atom has exactly one value at any unit, whatever its text.
[[nodiscard]] bool is_always_there(const Atom& atom) {
  using Kind = Atom::Kind;
  return atom.kind == Kind::text || atom.kind == Kind::column || atom.kind == Kind::type ||
         atom.kind == Kind::same || atom.kind == Kind::length || atom.kind == Kind::bias;
}

/// Writes the hash of what a unit is asked, for the units [begin, end).
void write_hashes(const Window& x, const Atom& asked, std::int64_t begin, std::int64_t end,
                  std::uint64_t* out) {
  switch (asked.kind) {
    case Atom::Kind::text:
      for (std::int64_t unit = begin; unit < end; ++unit) *out++ = x.text_hash(unit);
      return;
    case Atom::Kind::column:
      for (std::int64_t unit = begin; unit < end; ++unit) *out++ = x.column_hash(asked.first, unit);
      return;
    case Atom::Kind::same: {
      const std::uint64_t answer[] = {value_of_answer(false).hash, value_of_answer(true).hash};
      for (std::int64_t unit = begin; unit < end; ++unit) {
        const std::int64_t other = unit + asked.first;
        const bool is_same = x.text_hash(unit) == x.text_hash(other) && x.text(unit) == x.text(other);
        *out++ = answer[is_same ? 1 : 0];
      }
      return;
    }
    default:
      for (std::int64_t unit = begin; unit < end; ++unit) *out++ = evaluate(x, asked, unit).hash;
  }
}

}  // namespace

AnchorTemplates::AnchorTemplates(TemplateSet templates) : set_(std::move(templates)) {
  for (const Template& program : set_.templates) {
    is_flat_ = is_flat_ && program.conditions.empty() && std::ranges::all_of(program.atoms, is_always_there);
    every_.push_back(programs_.size());
    std::vector<Look>& looks = programs_.emplace_back();
    for (const Atom& atom : program.atoms) {
      const std::int32_t number = atom.kind == Atom::Kind::column ? atom.first
                                  : atom.kind == Atom::Kind::same ? atom.first - atom.offset
                                                                  : 0;
      looks.push_back({number_of({atom.kind, number}), atom.offset});
      lowest_ = std::min<std::int64_t>(lowest_, atom.offset);
      highest_ = std::max<std::int64_t>(highest_, atom.offset);
    }
  }
}

std::size_t AnchorTemplates::number_of(Source source) {
  const auto at = std::ranges::find(sources_, source);
  const auto number = static_cast<std::size_t>(at - sources_.begin());
  if (at == sources_.end()) sources_.push_back(source);
  return number;
}

AnchorTemplates::Sight AnchorTemplates::hashes(const Sentences& sentences, std::int64_t sentence,
                                               Around around, std::vector<std::uint64_t>& out) const {
  const Window x(set_, sentences, sentence);
  const std::int64_t begin = sentences.begin_of(sentence) - around.before;
  const std::int64_t end = sentences.end_of(sentence) + around.after;
  const auto seen = static_cast<std::size_t>(end + highest_ - begin - lowest_);
  out.resize(std::max(out.size(), sources_.size() * seen));
  for (std::size_t k = 0; k < sources_.size(); ++k) {
    const Atom asked{sources_[k].kind, 0, sources_[k].number, 0};
    write_hashes(x, asked, begin + lowest_, end + highest_, out.data() + k * seen);
  }
  return {static_cast<std::size_t>(end - begin), seen, lowest_};
}

void AnchorTemplates::keys(std::span<const std::size_t> wanted, const Sight& sight,
                           std::span<const std::uint64_t> hashes, std::vector<std::uint64_t>& out) const {
  const std::size_t step = wanted.size();
  const std::size_t units = sight.units;
  out.resize(units * step);
  const auto of = [&](const Look& look) {
    return hashes.data() + look.source * sight.seen + static_cast<std::size_t>(look.offset - lowest_);
  };
  for (std::size_t w = 0; w < step; ++w) {
    std::uint64_t* key = out.data() + w;
    const std::uint64_t id = set_.templates[wanted[w]].id;
    const std::vector<Look>& looks = programs_[wanted[w]];
    const std::uint64_t* hash = of(looks[0]);
    if (looks.size() == 2) {
      const std::uint64_t* other = of(looks[1]);
      for (std::size_t t = 0; t < units; ++t) key[t * step] = mix(mix(id, hash[t]), other[t]);
      continue;
    }
    for (std::size_t t = 0; t < units; ++t) key[t * step] = mix(id, hash[t]);
    for (std::size_t k = 1; k < looks.size(); ++k) {
      hash = of(looks[k]);
      for (std::size_t t = 0; t < units; ++t) key[t * step] = mix(key[t * step], hash[t]);
    }
  }
}

void AnchorTemplates::extract(const Sentences& sentences, std::int64_t sentence, Around around,
                              FeatureKeys& out, std::vector<std::uint64_t>& scratch,
                              std::vector<std::uint16_t>* program) const {
  out.first.assign(1, 0);
  if (program != nullptr) program->clear();
  const std::size_t programs = set_.templates.size();
  if (is_flat_) {
    const Sight sight = hashes(sentences, sentence, around, scratch);
    keys(every_, sight, scratch, out.value);
    for (std::size_t t = 1; t <= sight.units; ++t)
      out.first.push_back(static_cast<std::int64_t>(t * programs));
    for (std::size_t k = 0; program != nullptr && k < out.value.size(); ++k)
      program->push_back(static_cast<std::uint16_t>(k % programs));
    return;
  }
  out.value.clear();
  const Window x(set_, sentences, sentence);
  const std::int64_t end = sentences.end_of(sentence) + around.after;
  for (std::int64_t t = sentences.begin_of(sentence) - around.before; t < end; ++t) {
    for (std::size_t p = 0; p < programs; ++p) {
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
