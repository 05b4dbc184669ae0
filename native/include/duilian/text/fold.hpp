// Folding: what features see of a character. Character by character, so that every offset stays valid; the
// output always has the user's own characters. Every unit of letters may be replaced by one and the same word
// (the unified replacement of Zhao et al. 2012), or by one of five that show its case.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace duilian {

inline constexpr std::u32string_view kEnglish = U"ENG";

/// What features see of a unit of letters: itself, kEnglish, or how it is written: eng, Eng, ENG, eNG, and E
/// for a single letter.
enum class Letters : std::uint8_t { as_is, unified, cased };

/// Characters to put in place of others: a table for the Basic Multilingual Plane, as it is asked for every
/// character of every text.
class CharMap {
 public:
  explicit CharMap(std::span<const std::pair<char32_t, char32_t>> pairs);

  [[nodiscard]] char32_t operator()(char32_t c) const {
    if (c < plane_.size()) return plane_[c];
    const auto found = rare_.find(c);
    return found == rare_.end() ? c : found->second;
  }

 private:
  std::vector<char32_t> plane_;
  std::unordered_map<char32_t, char32_t> rare_;
};

/// Full-width forms become narrow ones (Ａ → A, １ → 1, ，→ ,) if asked; further pairs, such as
/// traditional → simplified, come from outside.
class Folding {
 public:
  Folding() = default;
  Folding(bool folds_width, std::span<const std::pair<char32_t, char32_t>> pairs,
          Letters letters = Letters::as_is);

  [[nodiscard]] char32_t operator()(char32_t c) const;
  [[nodiscard]] std::u32string operator()(std::u32string_view text) const;
  /// Whether features see another word in place of this unit: it has letters only, and they are not as is.
  [[nodiscard]] bool is_unified(std::u32string_view unit) const;
  /// The word in place of a unit that is unified; `folded` is the unit after folding.
  [[nodiscard]] std::u32string_view word_for(std::u32string_view folded) const;
  /// A whole unit.
  [[nodiscard]] std::u32string unit(std::u32string_view text) const;
  /// Whether a dictionary finds units of letters in lower case.
  [[nodiscard]] bool lowers_letters() const { return letters_ == Letters::cased; }

 private:
  bool folds_width_ = false;
  Letters letters_ = Letters::as_is;
  // Shared: foldings are copied for every batch, and there are thousands of pairs.
  std::shared_ptr<const CharMap> pairs_;
};

/// ASCII letters in lower case.
void make_lower(std::u32string& text);

}  // namespace duilian
