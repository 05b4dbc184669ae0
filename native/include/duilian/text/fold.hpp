// Folding: how features see a character. It maps single characters, so every offset stays valid, and the
// output always shows the user's own characters. In addition, every unit of letters can be replaced by one
// fixed word (the unified replacement of Zhao et al. 2012), or by one of five that show its case.
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

/// How features see a unit of letters: as it is; as kEnglish; or by its case: eng, Eng, ENG, eNG, and E for a
/// single letter.
enum class Letters : std::uint8_t { as_is, unified, cased };

/// Replaces characters by others, with a table for the Basic Multilingual Plane, because every character of
/// every text is looked up.
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

/// Full-width forms become half-width (Ａ → A, １ → 1, ，→ ,) on request; further pairs, such as traditional
/// → simplified, come from the caller.
class Folding {
 public:
  Folding() = default;
  Folding(bool folds_width, std::span<const std::pair<char32_t, char32_t>> pairs,
          Letters letters = Letters::as_is);

  [[nodiscard]] char32_t operator()(char32_t c) const;
  [[nodiscard]] std::u32string operator()(std::u32string_view text) const;
  /// Whether features see another word instead of this unit: it is all letters, and letters are not kept as
  /// is.
  [[nodiscard]] bool is_unified(std::u32string_view unit) const;
  /// The replacement for such a unit; `folded` is the unit after folding.
  [[nodiscard]] std::u32string_view word_for(std::u32string_view folded) const;
  /// Folds a whole unit, with its replacement if it has one.
  [[nodiscard]] std::u32string unit(std::u32string_view text) const;
  /// Whether the dictionary is asked for units of letters in lower case.
  [[nodiscard]] bool lowers_letters() const { return letters_ == Letters::cased; }

 private:
  bool folds_width_ = false;
  Letters letters_ = Letters::as_is;
  // Shared, because foldings are copied for every batch and have thousands of pairs.
  std::shared_ptr<const CharMap> pairs_;
};

/// Lowers ASCII letters.
void make_lower(std::u32string& text);

}  // namespace duilian
