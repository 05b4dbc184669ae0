// Evaluates one template at one place: at a unit of a sentence (extract.hpp) or at a word of an unfinished
// analysis (dynamic/history.hpp). Both are seen through a window, so that the code exists only once.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "duilian/features/sentences.hpp"
#include "duilian/features/templates.hpp"
#include "duilian/text/characters.hpp"

namespace duilian::templating {

inline constexpr std::size_t kMaxValues = 8;  // values of one template

/// What templates look at. Places before the beginning and after the end are pseudo units of one character.
template <class W>
concept TemplateWindow = requires(const W& x, std::int64_t unit, std::int32_t column) {
  { x.is_inside(unit) } -> std::convertible_to<bool>;
  { x.text(unit) } -> std::convertible_to<std::u32string_view>;
  { x.text_hash(unit) } -> std::convertible_to<std::uint64_t>;
  { x.column(column, unit) } -> std::convertible_to<std::u32string_view>;
  { x.column_hash(column, unit) } -> std::convertible_to<std::uint64_t>;
  { x.length(unit) } -> std::convertible_to<std::int64_t>;
  { x.characters(unit, unit, unit) } -> std::convertible_to<std::u32string_view>;
  { x.type(unit) } -> std::convertible_to<std::u32string_view>;
};

inline constexpr std::u32string_view kLengths[] = {U"0", U"1", U"2", U"3", U"4", U"5+"};
inline constexpr std::u32string_view kBefore = U"<s>";
inline constexpr std::u32string_view kAfter = U"</s>";

/// The type that all characters share, or `mixed`.
[[nodiscard]] inline std::u32string_view type_of(std::u32string_view chars) {
  const CharClass kind = char_class(chars.front());
  for (const char32_t c : chars.substr(1)) {
    const CharClass other = char_class(c);
    if (other != kind && other != CharClass::extend) return U"mixed";
  }
  return char_type_name(kind);
}

struct AtomValue {
  std::u32string_view text;
  std::uint64_t hash = 0;
  bool is_there = false;
};

[[nodiscard]] inline AtomValue value_of(std::u32string_view text) { return {text, hash_text(text), true}; }

/// Type names are few, so their hashes are computed once.
[[nodiscard]] inline AtomValue value_of_type(std::u32string_view name) {
  static const std::array known{
      value_of(char_type_name(CharClass::han)), value_of(char_type_name(CharClass::punct)),
      value_of(char_type_name(CharClass::digit)), value_of(char_type_name(CharClass::letter))};
  for (const AtomValue& each : known) {
    if (each.text.data() == name.data()) return each;
  }
  return value_of(name);
}

[[nodiscard]] inline AtomValue value_of_answer(bool is_true) {
  static const AtomValue yes = value_of(U"yes");
  static const AtomValue no = value_of(U"no");
  return is_true ? yes : no;
}

/// The i-th character; negative i counts from the end.
template <TemplateWindow W>
[[nodiscard]] AtomValue character(const W& x, std::int64_t unit, std::int32_t i) {
  const std::int64_t length = x.length(unit);
  const std::int64_t at = i >= 0 ? i : length + i;
  return at < 0 || at >= length ? AtomValue{} : value_of(x.characters(unit, at, 1));
}

template <TemplateWindow W>
[[nodiscard]] AtomValue prefix(const W& x, std::int64_t unit, std::int32_t n) {
  return n > x.length(unit) ? AtomValue{} : value_of(x.characters(unit, 0, n));
}

template <TemplateWindow W>
[[nodiscard]] AtomValue suffix(const W& x, std::int64_t unit, std::int32_t n) {
  const std::int64_t length = x.length(unit);
  return n > length ? AtomValue{} : value_of(x.characters(unit, length - n, n));
}

/// The value of an atom that has one at most.
template <TemplateWindow W>
[[nodiscard]] AtomValue evaluate(const W& x, const Atom& atom, std::int64_t t) {
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
      return value_of_type(x.type(unit));
    case Kind::char_type: {
      if (!x.is_inside(unit)) return atom.first == 0 || atom.first == -1 ? value_of(U"edge") : AtomValue{};
      const AtomValue c = character(x, unit, atom.first);
      return c.is_there ? value_of(char_type_name(char_class(c.text.front()))) : c;
    }
    case Kind::length:
      return value_of(kLengths[std::min<std::int64_t>(x.length(unit), 5)]);
    case Kind::same:
      return value_of_answer(x.text(unit) == x.text(t + atom.first));
    case Kind::column:
      return {x.column(atom.first, unit), x.column_hash(atom.first, unit), true};
    default:
      return value_of(U"");  // bias
  }
}

/// Calls take(value) for each value of an atom that may have several.
template <TemplateWindow W, class Take>
void evaluate_several(const W& x, const Atom& atom, std::int64_t t, const Take& take) {
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

template <TemplateWindow W>
[[nodiscard]] bool holds(const W& x, const Condition& condition, std::int64_t t) {
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
template <TemplateWindow W, class Sink>
void run(const W& x, const Template& program, std::int64_t t, const Sink& sink) {
  for (const Condition& condition : program.conditions) {
    if (!holds(x, condition, t)) return;
  }
  std::array<AtomValue, kMaxValues> values;
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
  const std::span<const AtomValue> all(values.data(), n);
  if (several == n) return sink(program, all);
  evaluate_several(x, program.atoms[several], t, [&](const AtomValue& value) {
    values[several] = value;
    sink(program, all);
  });
}

/// The key of a plain template, which always has exactly one feature; its text is not needed.
template <TemplateWindow W>
[[nodiscard]] std::uint64_t plain_key(const W& x, const Template& program, std::int64_t t) {
  std::uint64_t key = program.id;
  for (const Atom& atom : program.atoms) {
    const std::int64_t unit = t + atom.offset;
    key = mix(key, atom.kind == Atom::Kind::text ? x.text_hash(unit) : x.column_hash(atom.first, unit));
  }
  return key;
}

/// The keys of all features at place t, in template order.
template <TemplateWindow W>
void append_keys(const TemplateSet& set, const W& x, std::int64_t t, std::vector<std::uint64_t>& out) {
  for (const Template& program : set.templates) {
    if (program.is_plain) {
      out.push_back(plain_key(x, program, t));
      continue;
    }
    run(x, program, t, [&](const Template& from, std::span<const AtomValue> values) {
      std::uint64_t key = from.id;
      for (const AtomValue& value : values) key = mix(key, value.hash);
      out.push_back(key);
    });
  }
}

/// The features of all templates at place t in readable form: `w[0] c[1,0]=国务院 新`, in UTF-8.
template <TemplateWindow W>
void append_texts(const TemplateSet& set, const W& x, std::int64_t t, std::vector<std::string>& out) {
  for (const Template& program : set.templates) {
    run(x, program, t, [&](const Template& from, std::span<const AtomValue> values) {
      std::string text = from.text;
      const char* before = "=";
      for (std::size_t k = 0; k < values.size(); ++k) {
        if (from.atoms[k].kind == Atom::Kind::bias) continue;
        text += before;
        text += encode_utf8(values[k].text);
        before = " ";
      }
      out.push_back(std::move(text));
    });
  }
}

}  // namespace duilian::templating
