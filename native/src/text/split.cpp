#include "duilian/text/split.hpp"

#include <algorithm>

#include "duilian/text/characters.hpp"

namespace duilian {

namespace {

constexpr std::u32string_view kClosers = U"”’」』》〉】）］｝〕\"')]}";
constexpr std::u32string_view kLineBreaks = U"\n\r\v\f\u0085\u2028\u2029";
// Marks that share a word with no number and no word in Latin letters, unless they are part of it: 1,234.
constexpr std::u32string_view kSeparators = U"，,；;。！!？?“”\"《》()（）[]［］【】{}｛｝=＝<>＜＞|｜";
// Marks that are punctuation in all corpora. Other signs may be units, names or numbers: ℃, ××, ○.
constexpr std::u32string_view kPunctuation =
    U"，,。．.、；;：:？?！!…“”‘’\"'（）()《》〈〉【】「」『』〔〕［］[]｛｝{}—～~";

[[nodiscard]] bool is_one_of(char32_t c, std::u32string_view set) { return set.find(c) != set.npos; }

/// Whether it may be a punctuation word.
[[nodiscard]] bool is_mark(char32_t c) {
  const CharClass kind = char_class(c);
  return kind != CharClass::han && kind != CharClass::letter && kind != CharClass::digit;
}

[[nodiscard]] bool is_web_character(char32_t c) {
  const CharClass kind = char_class(c);
  return c < 0x80 && (kind == CharClass::letter || kind == CharClass::digit || is_one_of(c, U"=&/"));
}

[[nodiscard]] bool ends_sentence(std::u32string_view text, std::size_t at) {
  const char32_t c = text[at];
  if (is_one_of(c, U"。！？…｡")) return true;
  return is_one_of(c, U"!?") && (at + 1 == text.size() || !is_web_character(text[at + 1]));
}

/// In no unit, though no white space: a control, a zero-width space.
[[nodiscard]] bool is_invisible(char32_t c) {
  return char_class(c) == CharClass::space && !is_white_space(c);
}

/// The parts of the text as it looks: 1<U+200B>2 is the number 12. Else one standard might join what another
/// cuts.
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

/// Sentences of a text whose protected spans are known.
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
  /// Where the sentence ends if one of its last characters is at `at`; else `at`.
  [[nodiscard]] std::size_t end_at(std::size_t at) const {
    if (is_one_of(text_[at], kLineBreaks)) return at + 1;
    std::size_t end = at;
    while (end < text_.size() && ends_sentence(text_, end)) ++end;
    if (end == at) return at;
    while (end < text_.size() &&
           (is_one_of(text_[end], kClosers) || char_class(text_[end]) == CharClass::extend)) {
      ++end;
    }
    return end;
  }

  [[nodiscard]] bool is_inside(std::size_t at) const {
    const auto place = static_cast<std::int64_t>(at);
    const auto next = std::partition_point(whole_.begin(), whole_.end(),
                                           [&](const WholeSpan& each) { return each.span.end <= place; });
    return next != whole_.end() && next->span.begin < place;
  }

  [[nodiscard]] bool is_space(std::size_t at) const { return char_class(text_[at]) == CharClass::space; }

  /// Strips white space at both ends; drops a span without a visible character.
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

  /// Where to cut a sentence that is too long: the last good place in the second half of the maximum length.
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

/// Records what a part says about its units, unless its edges cut one.
void note(std::u32string_view text, const WholeSpan& part, SplitText& out) {
  const auto& unit = out.unit;
  const auto begin = std::partition_point(unit.begin(), unit.end(),
                                          [&](const Span& u) { return u.begin < part.span.begin; });
  const auto end =
      std::partition_point(begin, unit.end(), [&](const Span& u) { return u.end < part.span.end; });
  if (end == unit.end() || begin->begin != part.span.begin || end->end != part.span.end) return;
  const auto first = static_cast<std::size_t>(begin - unit.begin());
  const auto after = static_cast<std::size_t>(end - unit.begin()) + 1;
  for (std::size_t k = first + 1; k < after; ++k) out.known[k] |= kWordGoesOn;
  for (std::size_t k = first; part.kind == WholeKind::word && k < after; ++k) out.known[k] |= kNoNumber;
  // T恤 is one word, but a name with a dot, Node.js or U.S.A., is never part of one.
  const bool is_alone =
      is_word(part.kind) ||
      (part.kind == WholeKind::word &&
       is_one_of(U'.', text.substr(static_cast<std::size_t>(part.span.begin),
                                   static_cast<std::size_t>(part.span.end - part.span.begin))));
  const auto is_apart = [&](std::int64_t at) {
    if (is_alone) return true;
    if (at < 0 || at >= static_cast<std::int64_t>(text.size())) return false;
    return is_one_of(text[static_cast<std::size_t>(at)], kSeparators);
  };
  if (is_apart(part.span.begin - 1)) out.known[first] |= kWordBegins;
  if (after < unit.size() && is_apart(part.span.end)) out.known[after] |= kWordBegins;
  out.whole.push_back({{static_cast<std::int64_t>(first), static_cast<std::int64_t>(after)}, part.kind});
}

/// Records gaps between the units of each sentence, and which may be punctuation or nothing else. No corpus
/// has a word with a letter, digit or Han that is punctuation, but a model takes what it has never seen for
/// it, above all at the end of a sentence.
void note_edges(std::u32string_view text, SplitText& out) {
  out.known.assign(out.unit.size(), 0);
  for (std::size_t s = 0; s + 1 < out.first.size(); ++s) {
    const auto begin = static_cast<std::size_t>(out.first[s]),
               end = static_cast<std::size_t>(out.first[s + 1]);
    for (std::size_t k = begin + 1; k < end; ++k) {
      const std::int64_t gap = out.unit[k - 1].end, after = out.unit[k].begin;
      if (gap == after) continue;
      const auto between = text.substr(static_cast<std::size_t>(gap), static_cast<std::size_t>(after - gap));
      const bool is_apart = std::any_of(between.begin(), between.end(), is_white_space);
      out.known[k] = is_apart ? kGap | kApart | kWordBegins : kGap;
    }
    const auto is_own = [&](std::size_t k) {
      return out.unit[k].end == out.unit[k].begin + 1 &&
             is_one_of(text[static_cast<std::size_t>(out.unit[k].begin)], kPunctuation);
    };
    const auto is_mark_unit = [&](std::size_t k) {
      return is_mark(text[static_cast<std::size_t>(out.unit[k].begin)]);
    };
    // Only where a mark may be taken for part of a word: a limit on every unit would take a quarter of the
    // time.
    for (std::size_t k = begin; k < end; ++k) {
      const bool is_at_edge = k == begin || k + 1 == end || is_mark_unit(k - 1) || is_mark_unit(k + 1);
      if (!is_mark_unit(k)) {
        if (is_at_edge) out.known[k] |= kNoMark;
      } else if (is_own(k)) {
        const bool is_in_row = (k > begin && is_own(k - 1)) || (k + 1 < end && is_own(k + 1));
        out.known[k] |= is_in_row ? kPunctuationMark | kMarkInRow : kPunctuationMark;
      }
    }
  }
}

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

SplitText split_text(std::u32string_view text, const SplitOptions& options) {
  const auto whole = visible_whole_spans(text);
  SplitText out;
  out.first.push_back(0);
  const auto sentences = options.is_one_sentence
                             ? std::vector<Span>{{0, static_cast<std::int64_t>(text.size())}}
                             : SentenceSplitter(text, whole).split();
  for (const Span& sentence : sentences) {
    const auto begin = static_cast<std::size_t>(sentence.begin);
    for (const Span& unit :
         split_units(text.substr(begin, static_cast<std::size_t>(sentence.end) - begin), options.units))
      out.unit.push_back({unit.begin + sentence.begin, unit.end + sentence.begin});
    const auto units = static_cast<std::int64_t>(out.unit.size());
    if (units > out.first.back()) out.first.push_back(units);
  }
  note_edges(text, out);
  for (const WholeSpan& part : whole) {
    if (options.whole[static_cast<std::size_t>(part.kind)]) note(text, part, out);
  }
  return out;
}

SplitTexts split_texts(std::span<const std::u32string> texts, const SplitOptions& options) {
  SplitTexts out;
  out.first.push_back(0);
  out.text.push_back(0);
  for (const std::u32string& text : texts) {
    const SplitText own = split_text(text, options);
    const auto before = static_cast<std::int64_t>(out.unit.size());
    out.unit.insert(out.unit.end(), own.unit.begin(), own.unit.end());
    out.known.insert(out.known.end(), own.known.begin(), own.known.end());
    for (std::size_t s = 1; s < own.first.size(); ++s) out.first.push_back(before + own.first[s]);
    for (const WholeSpan& each : own.whole)
      out.whole.push_back({{before + each.span.begin, before + each.span.end}, each.kind});
    out.text.push_back(static_cast<std::int64_t>(out.first.size()) - 1);
  }
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
