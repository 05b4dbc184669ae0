#include "duilian/features/extract.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "duilian/concat.hpp"
#include "duilian/text/characters.hpp"

namespace duilian {

namespace {

constexpr std::u32string_view kBefore = U"<s>";
constexpr std::u32string_view kAfter = U"</s>";
constexpr std::u32string_view kLengths[] = {U"0", U"1", U"2", U"3", U"4", U"5+"};
constexpr std::size_t kMaxValues = 8;

/// One sentence, with the pseudo units around it: each is one character, `<s>` or `</s>`.
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
    return is_inside(unit) ? sentences_.column(column_of_[number]).at(unit) : edge(unit);
  }
  [[nodiscard]] std::uint64_t column_hash(std::int32_t number, std::int64_t unit) const {
    return is_inside(unit) ? sentences_.column(column_of_[number]).hash[unit] : edge_hash(unit);
  }
  /// Number of characters; a pseudo unit counts as one.
  [[nodiscard]] std::int64_t length(std::int64_t unit) const {
    return is_inside(unit) ? static_cast<std::int64_t>(sentences_.text().at(unit).size()) : 1;
  }
  /// Characters [from, from + count) of a unit that has them.
  [[nodiscard]] std::u32string_view characters(std::int64_t unit, std::int64_t from,
                                               std::int64_t count) const {
    return is_inside(unit) ? sentences_.text().at(unit).substr(static_cast<std::size_t>(from),
                                                               static_cast<std::size_t>(count))
                           : edge(unit);
  }
  [[nodiscard]] std::u32string_view type(std::int64_t unit) const {
    if (!is_inside(unit)) return U"edge";
    const std::u32string_view chars = text(unit);
    const CharClass kind = char_class(chars.front());
    for (const char32_t c : chars.substr(1)) {
      const CharClass other = char_class(c);
      if (other != kind && other != CharClass::extend) return U"mixed";
    }
    return char_type_name(kind);
  }

 private:
  const Sentences& sentences_;
  std::int64_t begin_;
  std::int64_t end_;
  std::vector<std::size_t> column_of_;
};

struct Value {
  std::u32string_view text;
  std::uint64_t hash = 0;
  bool is_there = false;
};

[[nodiscard]] Value value_of(std::u32string_view text) { return {text, hash_text(text), true}; }

/// The i-th character, counted from the end if negative.
[[nodiscard]] Value character(const Window& x, std::int64_t unit, std::int32_t i) {
  const std::int64_t length = x.length(unit);
  const std::int64_t at = i >= 0 ? i : length + i;
  return at < 0 || at >= length ? Value{} : value_of(x.characters(unit, at, 1));
}

[[nodiscard]] Value prefix(const Window& x, std::int64_t unit, std::int32_t n) {
  return n > x.length(unit) ? Value{} : value_of(x.characters(unit, 0, n));
}

[[nodiscard]] Value suffix(const Window& x, std::int64_t unit, std::int32_t n) {
  const std::int64_t length = x.length(unit);
  return n > length ? Value{} : value_of(x.characters(unit, length - n, n));
}

/// The value of an atom that has one at most.
[[nodiscard]] Value evaluate(const Window& x, const Atom& atom, std::int64_t t) {
  const std::int64_t unit = t + atom.offset;
  using Kind = Atom::Kind;
  switch (atom.kind) {
    case Kind::text:
      return {x.text(unit), x.text_hash(unit), true};
    case Kind::character:
      return character(x, unit, atom.first);
    case Kind::prefix:
      return prefix(x, unit, atom.first);
    case Kind::suffix:
      return suffix(x, unit, atom.first);
    case Kind::type:
      return value_of(x.type(unit));
    case Kind::char_type: {
      if (!x.is_inside(unit)) return atom.first == 0 || atom.first == -1 ? value_of(U"edge") : Value{};
      const Value c = character(x, unit, atom.first);
      return c.is_there ? value_of(char_type_name(char_class(c.text.front()))) : c;
    }
    case Kind::length:
      return value_of(kLengths[std::min<std::int64_t>(x.length(unit), 5)]);
    case Kind::same:
      return value_of(x.text(unit) == x.text(t + atom.first) ? U"yes" : U"no");
    case Kind::column:
      return {x.column(atom.first, unit), x.column_hash(atom.first, unit), true};
    default:
      return value_of(U"");  // bias
  }
}

/// Calls take(value) for each value of an atom that may have several.
template <class Take>
void evaluate_several(const Window& x, const Atom& atom, std::int64_t t, const Take& take) {
  const std::int64_t unit = t + atom.offset;
  const std::int64_t length = x.length(unit);
  using Kind = Atom::Kind;
  if (atom.kind == Kind::inner) {
    for (std::int64_t k = 1; k + 1 < length; ++k) take(value_of(x.characters(unit, k, 1)));
  } else if (atom.kind == Kind::repeat) {
    for (std::int64_t k = 0; k + 1 < length; ++k) {
      if (x.characters(unit, k, 1) == x.characters(unit, k + 1, 1)) take(value_of(x.characters(unit, k, 1)));
    }
  } else {
    for (std::int32_t n = atom.first; n <= std::min<std::int64_t>(atom.last, length); ++n) {
      take(atom.kind == Kind::prefix ? prefix(x, unit, n) : suffix(x, unit, n));
    }
  }
}

[[nodiscard]] bool holds(const Window& x, const Condition& condition, std::int64_t t) {
  const std::int64_t unit = t + condition.offset;
  bool is_true = false;
  switch (condition.kind) {
    case Condition::Kind::single:
      is_true = x.length(unit) == 1;
      break;
    case Condition::Kind::same:
      is_true = x.text(unit) == x.text(t + condition.other);
      break;
    case Condition::Kind::type:
      is_true = x.type(unit) == condition.type_name;
      break;
  }
  return is_true != condition.is_negated;
}

/// Calls sink(template, values) for every feature of the template at unit t.
template <class Sink>
void run(const Window& x, const Template& program, std::int64_t t, const Sink& sink) {
  for (const Condition& condition : program.conditions) {
    if (!holds(x, condition, t)) return;
  }
  std::array<Value, kMaxValues> values;
  const std::size_t n = program.atoms.size();
  std::size_t several = n;
  for (std::size_t k = 0; k < n; ++k) {
    if (program.atoms[k].yields_several()) {
      several = k;
      continue;
    }
    values[k] = evaluate(x, program.atoms[k], t);
    if (!values[k].is_there) return;
  }
  const std::span<const Value> all(values.data(), n);
  if (several == n) return sink(program, all);
  evaluate_several(x, program.atoms[several], t, [&](const Value& value) {
    values[several] = value;
    sink(program, all);
  });
}

/// A sink that adds the key of each feature.
[[nodiscard]] auto add_key(FeatureKeys& out) {
  return [&out](const Template& from, std::span<const Value> values) {
    std::uint64_t key = from.id;
    for (const Value& value : values) key = mix(key, value.hash);
    out.value.push_back(key);
  };
}

}  // namespace

void check(const FeatureRows& rows) {
  if (rows.first.empty() || rows.first.front() != 0 ||
      !std::is_sorted(rows.first.begin(), rows.first.end()) ||
      rows.first.back() != static_cast<std::int64_t>(rows.value.size()) ||
      (!rows.strength.empty() && rows.strength.size() != rows.value.size())) {
    throw std::invalid_argument("the offsets of the feature rows do not fit");
  }
}

void check_columns(const TemplateSet& templates, const Sentences& sentences) {
  const auto& names = sentences.column_names();
  for (const std::string& name : templates.columns) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw std::invalid_argument(
          concat("the templates ask for a column '", name, "' that the sentences lack"));
    }
  }
}

void extract_keys(const TemplateSet& templates, const Sentences& sentences, std::int64_t begin,
                  std::int64_t end, FeatureKeys& out) {
  check_columns(templates, sentences);
  for (std::int64_t sentence = begin; sentence < end; ++sentence) {
    const Window x(templates, sentences, sentence);
    for (std::int64_t t = sentences.begin_of(sentence); t < sentences.end_of(sentence); ++t) {
      for (const Template& program : templates.templates) run(x, program, t, add_key(out));
      out.first.push_back(static_cast<std::int64_t>(out.value.size()));
    }
  }
}

AnchorTemplates::AnchorTemplates(TemplateSet templates) : set_(std::move(templates)) {
  for (const Template& program : set_.templates) {
    is_flat_ = is_flat_ && program.conditions.empty();
    for (const Atom& atom : program.atoms) {
      const bool is_column = atom.kind == Atom::Kind::column;
      is_flat_ = is_flat_ && (is_column || atom.kind == Atom::Kind::text);
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
  const std::int64_t end = sentences.end_of(sentence) + around.behind;
  // [sources][units that are looked at]
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
  const std::int64_t end = sentences.end_of(sentence) + around.behind;
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
  constexpr std::size_t kAhead = 16;  // keys between asking memory for a slot and reading it
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

std::vector<std::vector<std::string>> describe_features(const TemplateSet& templates,
                                                        const Sentences& sentences, std::int64_t sentence) {
  check_columns(templates, sentences);
  if (sentence < 0 || sentence >= sentences.size()) throw std::invalid_argument("there is no such sentence");
  const Window x(templates, sentences, sentence);
  std::vector<std::vector<std::string>> out;
  for (std::int64_t t = sentences.begin_of(sentence); t < sentences.end_of(sentence); ++t) {
    auto& features = out.emplace_back();
    for (const Template& program : templates.templates) {
      run(x, program, t, [&](const Template& from, std::span<const Value> values) {
        std::string text = from.text;
        const char* before = "=";
        for (std::size_t k = 0; k < values.size(); ++k) {
          if (from.atoms[k].kind == Atom::Kind::bias) continue;
          text += before;
          text += encode_utf8(values[k].text);
          before = " ";
        }
        features.push_back(std::move(text));
      });
    }
  }
  return out;
}

}  // namespace duilian
