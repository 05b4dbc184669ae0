// Folds characters and units (see fold.hpp).
#include "duilian/text/fold.hpp"

#include <algorithm>
#include <numeric>

#include "duilian/text/characters.hpp"

namespace duilian {

namespace {

[[nodiscard]] char32_t narrow(char32_t c) {
  if (c >= 0xFF01 && c <= 0xFF5E) return c - 0xFEE0;
  switch (c) {
    case 0x3000:
      return U' ';
    case 0x3002:  // the Chinese full stop, for which some corpora have the Latin one
      return U'.';
    case 0xFFE0:
      return 0xA2;
    case 0xFFE1:
      return 0xA3;
    case 0xFFE2:
      return 0xAC;
    case 0xFFE3:
      return 0xAF;
    case 0xFFE4:
      return 0xA6;
    case 0xFFE5:
      return 0xA5;
    case 0xFFE6:
      return 0x20A9;
    default:
      return c;
  }
}

[[nodiscard]] bool is_capital(char32_t c) { return c >= U'A' && c <= U'Z'; }

/// The word that shows the case of another.
[[nodiscard]] std::u32string_view case_of(std::u32string_view word) {
  if (word.size() == 1) return U"E";
  const auto capitals = std::count_if(word.begin(), word.end(), is_capital);
  if (capitals == 0) return U"eng";
  if (static_cast<std::size_t>(capitals) == word.size()) return U"ENG";
  return capitals == 1 && is_capital(word.front()) ? U"Eng" : U"eNG";
}

}  // namespace

CharMap::CharMap(std::span<const std::pair<char32_t, char32_t>> pairs) : plane_(0x10000) {
  std::iota(plane_.begin(), plane_.end(), char32_t{0});
  // If a character has two pairs, the first counts.
  for (auto pair = pairs.rbegin(); pair != pairs.rend(); ++pair) {
    const auto [from, to] = *pair;
    if (from < plane_.size())
      plane_[from] = to;
    else
      rare_[from] = to;
  }
}

Folding::Folding(bool folds_width, std::span<const std::pair<char32_t, char32_t>> pairs, Letters letters)
    : folds_width_(folds_width), letters_(letters) {
  if (!pairs.empty()) pairs_ = std::make_shared<const CharMap>(pairs);
}

char32_t Folding::operator()(char32_t c) const {
  if (folds_width_) c = narrow(c);
  return pairs_ == nullptr ? c : (*pairs_)(c);
}

std::u32string Folding::operator()(std::u32string_view text) const {
  std::u32string out(text);
  for (char32_t& c : out) c = (*this)(c);
  return out;
}

bool Folding::is_unified(std::u32string_view unit) const {
  const auto is_letter = [](char32_t c) {
    const CharClass kind = char_class(c);
    return kind == CharClass::letter || kind == CharClass::extend;
  };
  return letters_ != Letters::as_is && char_class(unit.front()) == CharClass::letter &&
         std::all_of(unit.begin(), unit.end(), is_letter);
}

std::u32string_view Folding::word_for(std::u32string_view folded) const {
  return letters_ == Letters::cased ? case_of(folded) : kEnglish;
}

std::u32string Folding::unit(std::u32string_view text) const {
  std::u32string folded = (*this)(text);
  return is_unified(text) ? std::u32string(word_for(folded)) : folded;
}

void make_lower(std::u32string& text) {
  for (char32_t& c : text) {
    if (is_capital(c)) c += U'a' - U'A';
  }
}

}  // namespace duilian
