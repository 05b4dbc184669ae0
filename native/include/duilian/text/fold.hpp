// Folding: what features see of a character. Character by character, so that every offset stays valid; the
// output always has the user's own characters. Every unit of letters may be replaced by one and the same word
// (the unified replacement of Zhao et al. 2012).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace duilian {

inline constexpr std::u32string_view kEnglish = U"ENG";

/// Full-width forms become narrow ones (Ａ → A, １ → 1, ，→ ,) if asked; further pairs, such as
/// traditional → simplified, come from outside.
class Folding {
 public:
  Folding() = default;
  Folding(bool folds_width, std::span<const std::pair<char32_t, char32_t>> pairs,
          bool unifies_letters = false);

  [[nodiscard]] char32_t operator()(char32_t c) const;
  [[nodiscard]] std::u32string operator()(std::u32string_view text) const;
  /// Whether a unit becomes kEnglish: it has letters only, and they are unified.
  [[nodiscard]] bool is_unified(std::u32string_view unit) const;
  /// A whole unit: kEnglish for one of letters only, if they are unified.
  [[nodiscard]] std::u32string unit(std::u32string_view text) const;

 private:
  bool folds_width_ = false;
  bool unifies_letters_ = false;
  // Shared: foldings are copied for every batch, and there are thousands of pairs.
  std::shared_ptr<const std::unordered_map<char32_t, char32_t>> pairs_;
};

}  // namespace duilian
