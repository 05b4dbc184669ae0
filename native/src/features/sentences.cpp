// Folds, hashes and looks up the units of sentences as they are added.
#include "duilian/features/sentences.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "duilian/concat.hpp"
#include "duilian/text/characters.hpp"

namespace duilian {

namespace {

/// Throws std::invalid_argument unless the offsets rise from 0 to `last`.
void check_offsets(std::span<const std::int64_t> offsets, std::size_t last) {
  if (offsets.empty() || offsets.front() != 0 || !std::is_sorted(offsets.begin(), offsets.end()) ||
      static_cast<std::size_t>(offsets.back()) != last)
    throw std::invalid_argument("the places of units, sentences and texts are inconsistent");
}

/// Whether a sentence is among this share of all sentences, which depends on its characters only.
[[nodiscard]] bool is_drawn(std::u32string_view characters, double share) {
  constexpr std::uint64_t kDraw = 0x5D1A9C3E7B42F601U;
  const auto drawn = static_cast<double>(mix(hash_text(characters), kDraw) >> 11U);
  return std::ldexp(drawn, -53) < share;
}

/// What the dictionary says about a unit of a sentence that is read blind.
[[nodiscard]] const CodeText& unread() {
  static const CodeText found{U"?", hash_text(U"?")};
  return found;
}

}  // namespace

std::uint64_t hash_more(std::uint64_t hash, std::u32string_view more) {
  for (const char32_t c : more) hash = mix(hash, c);
  return hash;
}

std::uint64_t hash_text(std::u32string_view text) { return hash_more(0x2545F4914F6CDD1DU, text); }

void TextColumn::add(std::u32string_view text) {
  characters.append(text);
  first.push_back(static_cast<std::int64_t>(characters.size()));
  hash.push_back(hash_text(text));
}

Sentences::Sentences(Reading reading, std::vector<std::string> column_names)
    : reading_(std::move(reading)), column_names_(std::move(column_names)), columns_(column_names_.size()) {
  if (!reading_.dictionary) return;
  for (const std::string_view name : kDictionaryColumns) {
    if (std::find(column_names_.begin(), column_names_.end(), name) != column_names_.end())
      throw std::invalid_argument(
          concat("a column must not be called '", name, "' beside a dictionary, which has one of that name"));
    column_names_.emplace_back(name);
  }
}

void Sentences::add_unit(std::u32string_view unit) {
  const Folding& folding = reading_.folding;
  if (unit.size() == 1 && char_class(unit.front()) != CharClass::letter) {  // by far the most common
    const char32_t c = folding(unit.front());
    text_.add({&c, 1});
    if (!reading_.dictionary) return;
    characters_ += c;
    end_.push_back(static_cast<std::int64_t>(characters_.size()));
    return;
  }
  std::u32string folded = folding(unit);
  const bool is_unified = folding.is_unified(unit);
  text_.add(is_unified ? folding.word_for(folded) : folded);
  if (!reading_.dictionary) return;
  if (is_unified && folding.lowers_letters()) make_lower(folded);
  characters_ += folded;
  end_.push_back(static_cast<std::int64_t>(characters_.size()));
}

void Sentences::end_sentence(std::size_t units) {
  first_.push_back(first_.back() + static_cast<std::int64_t>(units));
  if (!reading_.dictionary) return;
  if (is_drawn(characters_, reading_.blind)) {
    for (auto& column : codes_) column.insert(column.end(), units, &unread());
  } else {
    reading_.dictionary.look_up(characters_, end_, work_, codes_);
  }
  characters_.clear();
  end_.clear();
}

void Sentences::add(std::span<const std::string> units, std::span<const std::vector<std::string>> columns) {
  if (columns.size() != columns_.size()) {
    throw std::invalid_argument(
        concat("the sentence has ", columns.size(), " columns, expected ", columns_.size()));
  }
  for (std::size_t k = 0; k < columns.size(); ++k) {
    if (columns[k].size() != units.size()) {
      throw std::invalid_argument(concat("column ", column_names_[k], " has ", columns[k].size(),
                                         " values for ", units.size(), " units"));
    }
  }
  if (std::any_of(units.begin(), units.end(), [](const std::string& unit) { return unit.empty(); }))
    throw std::invalid_argument("a unit of the sentence is empty");
  for (const std::string& unit : units) add_unit(decode_utf8(unit));
  for (std::size_t k = 0; k < columns.size(); ++k) {
    for (const std::string& value : columns[k]) columns_[k].add(decode_utf8(value));
  }
  end_sentence(units.size());
}

void Sentences::add(std::u32string_view text, std::span<const Span> units) {
  if (!columns_.empty())
    throw std::invalid_argument("the templates need columns, which plain text does not have");
  const auto length = static_cast<std::int64_t>(text.size());
  for (const Span& unit : units) {
    if (unit.begin < 0 || unit.begin >= unit.end || unit.end > length)
      throw std::invalid_argument("a unit is empty or outside the text");
  }
  for (const Span& unit : units)
    add_unit(
        text.substr(static_cast<std::size_t>(unit.begin), static_cast<std::size_t>(unit.end - unit.begin)));
  end_sentence(units.size());
}

void Sentences::add_texts(std::span<const std::u32string> texts, std::span<const std::int64_t> spans,
                          std::span<const std::int64_t> first, std::span<const std::int64_t> text) {
  check_offsets(first, spans.size() / 2);
  check_offsets(text, first.size() - 1);
  if (text.size() != texts.size() + 1)
    throw std::invalid_argument("the places of units, sentences and texts are inconsistent");
  const std::size_t count = text_.hash.size() + spans.size() / 2;
  text_.characters.reserve(count);
  text_.first.reserve(count + 1);
  text_.hash.reserve(count);
  std::vector<Span> units;
  for (std::size_t k = 0; k < texts.size(); ++k) {
    for (std::int64_t s = text[k]; s < text[k + 1]; ++s) {
      units.clear();
      for (std::int64_t u = first[s]; u < first[s + 1]; ++u)
        units.push_back({spans[2 * u], spans[2 * u + 1]});
      add(texts[k], units);
    }
  }
}

}  // namespace duilian
