// Splits text into sentences and units around protected spans, and records what is known about the units.
#include "duilian/text/split.hpp"

#include <algorithm>

#include "duilian/text/characters.hpp"

namespace duilian {

namespace {

[[nodiscard]] bool is_one_of(char32_t c, std::u32string_view set) { return set.find(c) != set.npos; }

/// Marks that are in no word of our corpora, as brackets are in some: 惠（君音）.
constexpr std::u32string_view kClauseMarks = U"，。！？；";

/// Whether it can be part of a punctuation word.
[[nodiscard]] bool is_mark(std::uint8_t facts) {
  const CharClass kind = class_in(facts);
  return kind != CharClass::han && kind != CharClass::letter && kind != CharClass::digit;
}

[[nodiscard]] bool is_web_character(char32_t c) {
  const CharClass kind = char_class(c);
  return c < 0x80 && (kind == CharClass::letter || kind == CharClass::digit || is_one_of(c, U"=&/"));
}

[[nodiscard]] bool ends_sentence(std::u32string_view text, std::size_t at) {
  const char32_t c = text[at];
  if ((char_facts(c) & kSentenceEnd) != 0) return true;
  return (c == U'!' || c == U'?') && (at + 1 == text.size() || !is_web_character(text[at + 1]));
}

/// Whether it belongs to no unit although it is not white space, such as a control character or zero-width
/// space.
[[nodiscard]] bool is_invisible(char32_t c) {
  return char_class(c) == CharClass::space && !is_white_space(c);
}

/// The protected spans of the visible text: 1<U+200B>2 is the number 12. Otherwise, one standard might join
/// what another cuts.
[[nodiscard]] std::vector<WholeSpan> visible_whole_spans(std::u32string_view text) {
  if (std::none_of(text.begin(), text.end(), is_invisible)) return find_whole_spans(text);
  std::u32string visible;
  std::vector<std::int64_t> place;  // of each visible character
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (is_invisible(text[at])) continue;
    visible += text[at];
    place.push_back(static_cast<std::int64_t>(at));
  }
  std::vector<WholeSpan> out = find_whole_spans(visible);
  for (auto& [span, kind] : out) {
    span = {place[static_cast<std::size_t>(span.begin)], place[static_cast<std::size_t>(span.end) - 1] + 1};
  }
  return out;
}

/// Finds the sentences of a text whose protected spans are known.
class SentenceSplitter {
 public:
  SentenceSplitter(std::u32string_view text, const std::vector<WholeSpan>& whole)
      : text_(text), whole_(whole) {}

  [[nodiscard]] std::vector<Span> split() {
    std::size_t begin = 0;
    for (std::size_t at = 0; at < text_.size();) {
      const std::size_t end = end_at(at);
      if (end != at && !is_inside(end)) {
        add(begin, end);
        begin = end;
      }
      at = std::max(end, at + 1);
    }
    add(begin, text_.size());
    return std::move(out_);
  }

 private:
  /// Where the sentence ends if its final punctuation begins at `at`; otherwise `at`.
  [[nodiscard]] std::size_t end_at(std::size_t at) const {
    if ((char_facts(text_[at]) & kLineBreak) != 0) return at + 1;
    std::size_t end = at;
    while (end < text_.size() && ends_sentence(text_, end)) ++end;
    if (end == at) return at;
    const auto goes_on = [](std::uint8_t facts) {
      return (facts & kCloser) != 0 || class_in(facts) == CharClass::extend;
    };
    while (end < text_.size() && goes_on(char_facts(text_[end]))) ++end;
    return end;
  }

  [[nodiscard]] bool is_inside(std::size_t at) const {
    const auto place = static_cast<std::int64_t>(at);
    const auto next = std::partition_point(whole_.begin(), whole_.end(),
                                           [&](const WholeSpan& each) { return each.span.end <= place; });
    return next != whole_.end() && next->span.begin < place;
  }

  [[nodiscard]] bool is_space(std::size_t at) const { return char_class(text_[at]) == CharClass::space; }

  /// Adds a sentence without white space at its ends, in several parts if it is too long; skips one without
  /// visible characters.
  void add(std::size_t begin, std::size_t end) {
    while (true) {
      while (begin < end && is_space(begin)) ++begin;
      while (end > begin && is_space(end - 1)) --end;
      if (end - begin <= kLongestSentence) break;
      const std::size_t cut = cut_before(begin, end);
      if (cut == end) break;
      add(begin, cut);
      begin = cut;
    }
    if (begin < end) out_.push_back({static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end)});
  }

  /// Where to cut a sentence that is too long: at the last good place in the second half of the maximum
  /// length.
  [[nodiscard]] std::size_t cut_before(std::size_t begin, std::size_t end) const {
    const auto may_cut = [&](std::size_t at) {
      return char_class(text_[at]) != CharClass::extend && !is_inside(at);
    };
    std::size_t possible = 0;
    for (std::size_t at = begin + kLongestSentence; at > begin + kLongestSentence / 2; --at) {
      if (!may_cut(at)) continue;
      if (is_space(at - 1) || char_class(text_[at - 1]) == CharClass::punct) return at;
      possible = std::max(possible, at);
    }
    if (possible != 0) return possible;
    std::size_t at = begin + kLongestSentence;
    while (at < end && !may_cut(at)) ++at;
    return at;
  }

  std::u32string_view text_;
  const std::vector<WholeSpan>& whole_;
  std::vector<Span> out_;
};

/// Adds the units of one text after another.
class UnitSplitter {
 public:
  UnitSplitter(const SplitOptions& options, SplitTexts& out) : options_(options), out_(out) {}

  void add(std::u32string_view text) {
    text_ = text;
    begin_ = out_.unit.size();
    const auto whole = visible_whole_spans(text);
    const auto sentences = options_.is_one_sentence
                               ? std::vector<Span>{{0, static_cast<std::int64_t>(text.size())}}
                               : SentenceSplitter(text, whole).split();
    for (const Span& sentence : sentences) {
      const std::size_t before = out_.unit.size();
      add_units(text, sentence, options_.units, out_.unit);
      if (out_.unit.size() == before) continue;
      out_.first.push_back(static_cast<std::int64_t>(out_.unit.size()));
      note_edges(before);
    }
    for (const WholeSpan& part : whole) {
      if (options_.whole[static_cast<std::size_t>(part.kind)]) note(part);
    }
    out_.text.push_back(static_cast<std::int64_t>(out_.first.size()) - 1);
  }

 private:
  /// Records gaps between the units of the last sentence, and which units cannot be punctuation or must be.
  /// In no corpus is a word with a letter, digit or Han character punctuation, but a model may take unseen
  /// characters for it, above all at the end of a sentence.
  void note_edges(std::size_t begin) {
    const std::size_t end = out_.unit.size();
    out_.known.resize(end, 0);
    const auto facts_at = [&](std::size_t k) {
      return char_facts(text_[static_cast<std::size_t>(out_.unit[k].begin)]);
    };
    const auto is_own = [&](std::size_t k, std::uint8_t facts) {
      return (facts & kPunctuation) != 0 && out_.unit[k].end == out_.unit[k].begin + 1;
    };
    bool follows_mark = true, follows_own = false;
    std::uint8_t facts = facts_at(begin);
    for (std::size_t k = begin; k < end; ++k) {
      if (k > begin) note_gap(k);
      const bool is_last = k + 1 == end;
      const std::uint8_t next = is_last ? std::uint8_t{0} : facts_at(k + 1);
      const bool is_at_mark = is_mark(facts), is_punctuation = is_own(k, facts);
      // Only beside marks, which a model may attach to a word: a limit on every unit would cost a quarter of
      // the time.
      if (!is_at_mark) {
        if (follows_mark || is_last || is_mark(next)) out_.known[k] |= kNoMark;
      } else if (is_punctuation) {
        const bool is_in_row = follows_own || (!is_last && is_own(k + 1, next));
        out_.known[k] |= is_in_row ? kPunctuationMark | kMarkInRow : kPunctuationMark;
        if (is_one_of(text_[static_cast<std::size_t>(out_.unit[k].begin)], kClauseMarks)) {
          out_.known[k] |= kClauseMark;
        }
      }
      follows_mark = is_at_mark;
      follows_own = is_punctuation;
      facts = next;
    }
  }

  void note_gap(std::size_t k) {
    const std::int64_t gap = out_.unit[k - 1].end, after = out_.unit[k].begin;
    if (gap == after) return;
    const auto between = text_.substr(static_cast<std::size_t>(gap), static_cast<std::size_t>(after - gap));
    const bool is_apart = std::any_of(between.begin(), between.end(), is_white_space);
    out_.known[k] |= is_apart ? kGap | kApart | kWordBegins : kGap;
  }

  /// Records what a protected span says about its units, unless its edges cut a unit.
  void note(const WholeSpan& part) {
    const auto& unit = out_.unit;
    const auto from = unit.begin() + static_cast<std::ptrdiff_t>(begin_);
    const auto begin =
        std::partition_point(from, unit.end(), [&](const Span& u) { return u.begin < part.span.begin; });
    const auto end =
        std::partition_point(begin, unit.end(), [&](const Span& u) { return u.end < part.span.end; });
    if (end == unit.end() || begin->begin != part.span.begin || end->end != part.span.end) return;
    const auto first = static_cast<std::size_t>(begin - unit.begin());
    const auto after = static_cast<std::size_t>(end - unit.begin()) + 1;
    for (std::size_t k = first + 1; k < after; ++k) out_.known[k] |= kWordGoesOn;
    for (std::size_t k = first; k < after; ++k) out_.known[k] &= static_cast<std::uint16_t>(~kClauseMark);
    for (std::size_t k = first; part.kind == WholeKind::word && k < after; ++k) out_.known[k] |= kNoNumber;
    const bool is_alone = is_word_alone(part);
    if (is_alone || is_separator(part.span.begin - 1)) out_.known[first] |= kWordBegins;
    if (after < unit.size() && (is_alone || is_separator(part.span.end))) out_.known[after] |= kWordBegins;
    out_.whole.push_back({{static_cast<std::int64_t>(first), static_cast<std::int64_t>(after)}, part.kind});
  }

  /// T恤 is one word, but a name with a dot, such as Node.js or U.S.A., is never part of a longer word.
  [[nodiscard]] bool is_word_alone(const WholeSpan& part) const {
    const auto own = text_.substr(static_cast<std::size_t>(part.span.begin),
                                  static_cast<std::size_t>(part.span.end - part.span.begin));
    return is_word(part.kind) || (part.kind == WholeKind::word && is_one_of(U'.', own));
  }

  [[nodiscard]] bool is_separator(std::int64_t at) const {
    if (at < 0 || at >= static_cast<std::int64_t>(text_.size())) return false;
    return (char_facts(text_[static_cast<std::size_t>(at)]) & kSeparator) != 0;
  }

  const SplitOptions& options_;
  SplitTexts& out_;
  std::u32string_view text_;
  std::size_t begin_ = 0;  // units of earlier texts
};

}  // namespace

bool is_white_space(char32_t c) {
  if (c < 0x80) return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20);
  return is_one_of(c, U"\u0085\u00a0\u1680\u2028\u2029\u202f\u205f\u3000") || (c >= 0x2000 && c <= 0x200a);
}

std::bitset<kWholeKinds> whole_kinds(const std::vector<bool>& is_whole) {
  std::bitset<kWholeKinds> out;
  for (std::size_t k = 0; k < std::min(is_whole.size(), kWholeKinds); ++k) out[k] = is_whole[k];
  return out;
}

std::vector<Span> split_sentences(std::u32string_view text) {
  return SentenceSplitter(text, visible_whole_spans(text)).split();
}

SplitTexts split_texts(std::span<const std::u32string> texts, const SplitOptions& options) {
  SplitTexts out;
  out.first.push_back(0);
  out.text.push_back(0);
  UnitSplitter splitter(options, out);
  for (const std::u32string& text : texts) splitter.add(text);
  return out;
}

SplitText split_text(std::u32string_view text, const SplitOptions& options) {
  SplitTexts out;
  out.first.push_back(0);
  UnitSplitter(options, out).add(text);
  return out;
}

std::vector<std::uint16_t> with_ends(std::span<const std::uint16_t> known) {
  std::vector<std::uint16_t> out(known.begin(), known.end());
  for (std::size_t unit = 1; unit < known.size(); ++unit) {
    if ((known[unit] & kWordBegins) != 0) out[unit - 1] |= kWordEnds;
  }
  return out;
}

}  // namespace duilian
