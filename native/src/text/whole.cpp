// The rules for protected spans (see whole.hpp). Each is a method of Scanner; kRules has their order.
#include "duilian/text/whole.hpp"

#include <algorithm>
#include <array>

#include "duilian/text/characters.hpp"

namespace duilian {

namespace {

constexpr std::size_t kNoEnd = 0;
constexpr std::size_t kMaxName = 20;   // characters of a Han name after an @
constexpr std::size_t kMaxTopic = 64;  // characters between two #
constexpr char32_t kKeycap = 0x20E3;
constexpr std::u32string_view kCurrency = U"$€￥¥£₩₽＄￡";
constexpr std::u32string_view kFractions = U"¼½¾⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞";
constexpr std::u32string_view kSmallDigits = U"⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉";  // superscripts and subscripts
// Units of one character; a letter or digit may precede them.
constexpr std::u32string_view kShortUnits = U"%‰％℃℉°㎏㎎㎞㎝㎜㎡㏄";

using namespace std::string_view_literals;

constexpr std::array kSchemes = {U"http"sv, U"https"sv, U"ftp"sv, U"ftps"sv, U"ws"sv, U"wss"sv};
// Top-level domains of host names without a scheme; others are too easily confused with a full stop that
// lacks a space.
constexpr std::array kDomains = {U"ai"sv, U"app"sv, U"biz"sv, U"cc"sv,  U"cn"sv,  U"co"sv,   U"com"sv,
                                 U"de"sv, U"dev"sv, U"edu"sv, U"gov"sv, U"hk"sv,  U"info"sv, U"io"sv,
                                 U"jp"sv, U"me"sv,  U"mo"sv,  U"net"sv, U"org"sv, U"sg"sv,   U"top"sv,
                                 U"tv"sv, U"tw"sv,  U"uk"sv,  U"us"sv,  U"vip"sv, U"xyz"sv};
constexpr std::array kUnits = {
    U"km"sv,   U"m"sv,   U"dm"sv,  U"cm"sv,  U"mm"sv,  U"nm"sv,  U"kg"sv,  U"g"sv,    U"mg"sv,   U"t"sv,
    U"l"sv,    U"L"sv,   U"ml"sv,  U"mL"sv,  U"s"sv,   U"ms"sv,  U"min"sv, U"h"sv,    U"KB"sv,   U"MB"sv,
    U"GB"sv,   U"TB"sv,  U"PB"sv,  U"kb"sv,  U"Mb"sv,  U"Gb"sv,  U"bps"sv, U"Kbps"sv, U"Mbps"sv, U"Gbps"sv,
    U"Hz"sv,   U"kHz"sv, U"MHz"sv, U"GHz"sv, U"W"sv,   U"kW"sv,  U"MW"sv,  U"GW"sv,   U"kWh"sv,  U"Wh"sv,
    U"V"sv,    U"kV"sv,  U"mA"sv,  U"mAh"sv, U"Pa"sv,  U"kPa"sv, U"MPa"sv, U"hPa"sv,  U"kJ"sv,   U"cal"sv,
    U"kcal"sv, U"dB"sv,  U"px"sv,  U"dpi"sv, U"fps"sv, U"rpm"sv, U"ha"sv,  U"km/h"sv, U"m/s"sv,  U"am"sv,
    U"pm"sv,   U"AM"sv,  U"PM"sv,  U"m²"sv,  U"m³"sv,  U"km²"sv, U"cm²"sv, U"cm³"sv};
constexpr std::size_t kLongestUnit = 4;
constexpr std::size_t kLongestEntity = 8;  // characters between & and ;
// Names of HTML elements; others are too easily confused with signs: a<b>c.
constexpr std::array kElements = {
    U"a"sv,       U"b"sv,      U"blockquote"sv, U"body"sv,   U"br"sv,     U"button"sv, U"center"sv,
    U"code"sv,    U"dd"sv,     U"del"sv,        U"div"sv,    U"dl"sv,     U"dt"sv,     U"em"sv,
    U"font"sv,    U"footer"sv, U"form"sv,       U"h1"sv,     U"h2"sv,     U"h3"sv,     U"h4"sv,
    U"h5"sv,      U"h6"sv,     U"head"sv,       U"header"sv, U"hr"sv,     U"html"sv,   U"i"sv,
    U"iframe"sv,  U"img"sv,    U"input"sv,      U"label"sv,  U"li"sv,     U"link"sv,   U"meta"sv,
    U"nav"sv,     U"ol"sv,     U"option"sv,     U"p"sv,      U"pre"sv,    U"s"sv,      U"script"sv,
    U"section"sv, U"select"sv, U"small"sv,      U"span"sv,   U"strong"sv, U"style"sv,  U"sub"sv,
    U"sup"sv,     U"table"sv,  U"tbody"sv,      U"td"sv,     U"th"sv,     U"thead"sv,  U"title"sv,
    U"tr"sv,      U"u"sv,      U"ul"sv,         U"video"sv};
// Faces that can mean nothing else; :) is just as often a closing bracket.
constexpr std::array kFaces = {U":-)"sv, U":-("sv, U":-D"sv, U":-P"sv, U";-)"sv,
                               U"^_^"sv, U"T_T"sv, U">_<"sv, U"-_-"sv};

[[nodiscard]] bool is_one_of(char32_t c, std::u32string_view set) { return set.find(c) != set.npos; }
[[nodiscard]] bool is_ascii_digit(char32_t c) { return c >= U'0' && c <= U'9'; }
[[nodiscard]] bool is_ascii_letter(char32_t c) { return (c | 0x20U) >= U'a' && (c | 0x20U) <= U'z'; }
[[nodiscard]] bool is_ascii_alnum(char32_t c) { return is_ascii_digit(c) || is_ascii_letter(c); }

[[nodiscard]] char32_t lower(char32_t c) { return c >= U'A' && c <= U'Z' ? c | 0x20U : c; }

[[nodiscard]] bool is_letter(char32_t c) { return char_class(c) == CharClass::letter; }
[[nodiscard]] bool is_digit(char32_t c) { return char_class(c) == CharClass::digit; }
[[nodiscard]] bool is_alnum(char32_t c) { return is_letter(c) || is_digit(c); }
[[nodiscard]] bool is_in_word(char32_t c) { return is_alnum(c) || is_one_of(c, kSmallDigits); }
[[nodiscard]] bool is_wide_digit(char32_t c) { return c >= U'０' && c <= U'９'; }
[[nodiscard]] bool is_host(char32_t c) { return is_ascii_alnum(c) || c == U'-'; }
[[nodiscard]] bool is_local(char32_t c) { return is_ascii_alnum(c) || is_one_of(c, U"._%+-"); }
[[nodiscard]] bool is_in_url(char32_t c) { return c > 0x20 && c < 0x7F && !is_one_of(c, U"<>\"{}|\\^`"); }

/// Scans the text at one place; every rule returns the end of what begins there, or kNoEnd. To the rules, the
/// text ends where a span would reach its maximum length, so that each takes bounded time.
class Scanner {
 public:
  Scanner(std::u32string_view text, std::size_t at)
      : text_(text.substr(0, std::min(text.size(), at + kLongestWhole))) {}

  [[nodiscard]] std::size_t url(std::size_t at) const {
    if (is_alnum(before(at)) || !is_ascii_alnum(text_[at])) return kNoEnd;
    const std::size_t letters = run(at, is_ascii_letter);
    if (starts_with(letters, U"://") && is_listed(text_.substr(at, letters - at), kSchemes)) {
      const std::size_t end = end_of_url(letters + 3);
      return end > letters + 3 && is_alnum(text_[letters + 3]) ? end : kNoEnd;
    }
    if (is_one_of(before(at), U"@.-")) return kNoEnd;
    const std::size_t host = end_of_host(at);
    if (host == kNoEnd || is_one_of(peek(host), U"@")) return kNoEnd;
    return is_one_of(peek(host), U"/?#:") ? std::max(host, end_of_url(host)) : host;
  }

  [[nodiscard]] std::size_t email(std::size_t at) const {
    if (is_local(before(at)) || !is_ascii_alnum(text_[at])) return kNoEnd;
    const std::size_t sign = run(at, is_local);
    if (peek(sign) != U'@' || !is_ascii_alnum(peek(sign + 1))) return kNoEnd;
    std::size_t end = run(sign + 1, is_host);
    bool has_dot = false;
    while (peek(end) == U'.' && is_ascii_alnum(peek(end + 1))) {
      end = run(end + 1, is_host);
      has_dot = true;
    }
    while (text_[end - 1] == U'-') --end;
    return has_dot && is_ascii_letter(text_[end - 1]) ? end : kNoEnd;
  }

  /// Remains of HTML: &nbsp; &#39; <br> </div>. White space ends them, so a tag with attributes does not
  /// count.
  [[nodiscard]] std::size_t markup(std::size_t at) const {
    if (text_[at] == U'&') {
      const std::size_t name = peek(at + 1) == U'#' ? at + 2 : at + 1, end = run(name, is_ascii_alnum);
      return end > name + 1 && end - name <= kLongestEntity && peek(end) == U';' ? end + 1 : kNoEnd;
    }
    if (text_[at] != U'<' || (is_alnum(before(at)) && peek(at + 2) == U'>')) return kNoEnd;  // a<b>c
    const std::size_t name = peek(at + 1) == U'/' ? at + 2 : at + 1, end = run(name, is_ascii_alnum);
    const std::size_t close = peek(end) == U'/' ? end + 1 : end;
    return peek(close) == U'>' && is_listed(text_.substr(name, end - name), kElements) ? close + 1 : kNoEnd;
  }

  /// #topic# as on Weibo; or #topic in letters, or up to white space.
  [[nodiscard]] std::size_t hashtag(std::size_t at) const {
    if (!is_one_of(text_[at], U"#＃") || is_alnum(before(at))) return kNoEnd;
    for (std::size_t end = at + 1; end < std::min(text_.size(), at + 2 + kMaxTopic); ++end) {
      if (char_class(text_[end]) == CharClass::space) break;
      if (is_one_of(text_[end], U"#＃")) {
        if (end > at + 1) return end + 1;
        break;
      }
    }
    return name(at + 1, U"");
  }

  [[nodiscard]] std::size_t mention(std::size_t at) const {
    if (!is_one_of(text_[at], U"@＠") || is_alnum(before(at))) return kNoEnd;
    return name(at + 1, U":：");
  }

  /// A number with its unit.
  [[nodiscard]] std::size_t quantity(std::size_t at) const {
    const Amount found = amount(at);
    return found.has_unit ? found.end : kNoEnd;
  }

  [[nodiscard]] std::size_t number(std::size_t at) const {
    const Amount found = amount(at);
    return found.has_unit ? kNoEnd : found.end;
  }

  /// Letters, with digits and single - ' . & _ + inside: Wi-Fi, COVID-19, iPhone15, 5G, C++, H₂O, U.S.A.
  [[nodiscard]] std::size_t word(std::size_t at) const {
    if (is_alnum(before(at)) || !is_alnum(text_[at])) return kNoEnd;
    const std::size_t initials = end_of_initials(at);
    if (initials != kNoEnd) return initials;
    std::size_t end = at;
    bool has_letter = false;
    while (true) {
      for (; end < text_.size() && is_in_word(text_[end]); end = end_of_character(text_, end))
        has_letter = has_letter || is_letter(text_[end]);
      if (!is_one_of(peek(end), U"-'’.&_+") || !is_alnum(peek(end + 1)) || !has_letter) break;
      // A dot is inside a word if a digit or lower-case letter follows: v1.2, Node.js, but not ok.Then
      if (peek(end) == U'.' && !is_digit(peek(end + 1)) && lower(peek(end + 1)) != peek(end + 1)) break;
      ++end;
    }
    if (!has_letter) return kNoEnd;
    const bool is_short = end - at <= 2;
    if (is_short && starts_with(end, U"++") && peek(end + 2) != U'+') return end + 2;
    return is_short && peek(end) == U'#' && !is_alnum(peek(end + 1)) && end - at == 1 ? end + 1 : end;
  }

  /// A currency sign before a price, or a dash at the beginning of a line.
  [[nodiscard]] std::size_t sign(std::size_t at) const {
    if (is_one_of(text_[at], kCurrency)) return at + 1;
    const auto joins = [](char32_t c) { return is_alnum(c) || is_one_of(c, U"-<>=_"); };
    return text_[at] == U'-' && !joins(before(at)) && !joins(peek(at + 1)) ? at + 1 : kNoEnd;
  }

  [[nodiscard]] std::size_t emoji(std::size_t at) const {
    const std::size_t end = end_of_character(text_, at);
    const bool is_keycap =
        text_[end - 1] == kKeycap && (is_ascii_digit(text_[at]) || is_one_of(text_[at], U"#*"));
    if (is_keycap || char_class(text_[at]) == CharClass::emoji) return end;
    if (text_[at] > 0x7F || is_alnum(before(at))) return kNoEnd;
    for (const std::u32string_view face : kFaces) {
      if (starts_with(at, face) && !is_alnum(peek(at + face.size()))) return at + face.size();
    }
    return kNoEnd;
  }

 private:
  [[nodiscard]] char32_t peek(std::size_t at) const { return at < text_.size() ? text_[at] : 0; }
  [[nodiscard]] char32_t before(std::size_t at) const { return at > 0 ? text_[at - 1] : 0; }
  [[nodiscard]] bool starts_with(std::size_t at, std::u32string_view what) const {
    return at <= text_.size() && text_.substr(at).starts_with(what);
  }
  template <class Is>
  [[nodiscard]] std::size_t run(std::size_t at, const Is& is) const {
    while (at < text_.size() && is(text_[at])) ++at;
    return at;
  }
  template <class List>
  [[nodiscard]] static bool is_listed(std::u32string_view text, const List& list) {
    return std::any_of(list.begin(), list.end(), [&](std::u32string_view each) {
      return std::equal(text.begin(), text.end(), each.begin(), each.end(),
                        [](char32_t a, char32_t b) { return lower(a) == b; });
    });
  }

  /// A URL extends up to the first character that no URL has, minus the punctuation of the sentence around
  /// it.
  [[nodiscard]] std::size_t end_of_url(std::size_t at) const {
    std::size_t end = run(at, is_in_url);
    std::int64_t open = 0;  // open brackets
    for (std::size_t k = at; k < end; ++k) open += text_[k] == U'(' ? 1 : text_[k] == U')' ? -1 : 0;
    for (; end > at && is_one_of(text_[end - 1], U".,;:!?'*)]"); --end) {
      if (text_[end - 1] != U')') continue;
      if (open >= 0) break;
      ++open;
    }
    return end;
  }

  /// www.… or labels separated by dots, of which the last is a known domain.
  [[nodiscard]] std::size_t end_of_host(std::size_t at) const {
    std::size_t end = run(at, is_host);
    const bool is_www = is_listed(text_.substr(at, end - at), std::array{U"www"sv});
    std::size_t known = kNoEnd;
    while (peek(end) == U'.' && is_ascii_alnum(peek(end + 1))) {
      const std::size_t label = end + 1;
      end = run(label, is_host);
      if (is_www || is_listed(text_.substr(label, end - label), kDomains)) known = end;
    }
    return known == end && !is_alnum(peek(end)) ? end : kNoEnd;
  }

  /// Letters, digits, _ and -; also Han if the name begins with Han and is followed by white space, the end
  /// of the text or one of `stops`, since otherwise its end is unclear.
  [[nodiscard]] std::size_t name(std::size_t at, std::u32string_view stops) const {
    const auto is_plain = [](char32_t c) { return is_alnum(c) || is_one_of(c, U"_-"); };
    const auto is_han = [](char32_t c) { return char_class(c) == CharClass::han; };
    if (is_han(peek(at))) {
      std::size_t end = at;
      while (end < text_.size() && end - at <= kMaxName && (is_plain(text_[end]) || is_han(text_[end])))
        ++end;
      const bool is_closed =
          end == text_.size() || char_class(text_[end]) == CharClass::space || is_one_of(text_[end], stops);
      return is_closed && end - at <= kMaxName ? end : kNoEnd;
    }
    std::size_t end = run(at, is_plain);
    while (end > at && text_[end - 1] == U'-') --end;
    return run(at, is_digit) == end ? kNoEnd : end;  // #1 is not a topic
  }

  struct Amount {
    std::size_t end = kNoEnd;
    bool has_unit = false;
  };

  [[nodiscard]] Amount amount(std::size_t at) const {
    if (is_alnum(before(at))) return {};
    const bool has_sign = is_one_of(text_[at], U"+-−＋－");
    const std::size_t begin = at + (has_sign ? 1 : 0);
    const bool is_fraction = is_one_of(peek(begin), kFractions);
    if (!is_digit(peek(begin)) && !is_fraction) return {};
    const std::size_t groups = end_of_groups(begin, text_[at] == U'+' ? 2 : 3);
    std::size_t end = groups != kNoEnd ? groups : is_fraction ? begin : end_of_digits(begin);
    if (groups == kNoEnd) end = run(end, [](char32_t c) { return is_one_of(c, kSmallDigits); });
    const std::size_t number = end;
    if (groups == kNoEnd) end = end_of_unit(end);
    if (is_in_word(peek(end))) return {};
    // After Han and other signs, a minus is a dash (北京-2) unless only a number can follow (气温-3℃).
    const bool is_dash = before(at) != 0 && char_class(before(at)) != CharClass::space;
    const bool is_sure = is_one_of(peek(number), U"℃℉°") || (groups != kNoEnd && text_[at] == U'+');
    return has_sign && is_dash && !is_sure ? Amount{} : Amount{end, end > number};
  }

  /// At least `min_groups` groups of digits joined by -, as in a telephone number: +86-10-1234-5678,
  /// 010-12345678.
  [[nodiscard]] std::size_t end_of_groups(std::size_t at, std::size_t min_groups) const {
    const std::size_t first = run(at, is_digit);
    std::size_t end = first;
    std::size_t count = 1;
    for (; is_one_of(peek(end), U"-－") && is_digit(peek(end + 1)); ++count) end = run(end + 1, is_digit);
    const bool has_area = count == 2 && is_one_of(text_[at], U"0０") && first - at <= 4 && end - first >= 8;
    return count >= min_groups || has_area ? end : kNoEnd;
  }

  /// U.S.A., e.g. and U.S: single letters, each followed by a dot; the last may lack it.
  [[nodiscard]] std::size_t end_of_initials(std::size_t at) const {
    std::size_t end = at;
    while (is_ascii_letter(peek(end)) && peek(end + 1) == U'.') end += 2;
    if (end == at) return kNoEnd;
    if (is_ascii_letter(peek(end)) && !is_alnum(peek(end + 1)) && peek(end + 1) != U'.') return end + 1;
    return end >= at + 4 ? end : kNoEnd;
  }

  /// 1,234.5 and 1.2.3, 12:30, 2026-11-16.
  [[nodiscard]] std::size_t end_of_digits(std::size_t at) const {
    const std::size_t first = run(at, is_digit);
    const std::size_t date = end_of_date(at, first);
    if (date != kNoEnd) return date;
    std::size_t end = first;
    // A full-width comma separates numbers, unless everything is full-width.
    const auto parts_thousands = [&](std::size_t comma) {
      return peek(comma) == U',' || (peek(comma) == U'，' && is_wide_digit(text_[comma - 1]));
    };
    while (first - at <= 3 && parts_thousands(end) && run(end + 1, is_digit) == end + 4) end += 4;
    while (is_one_of(peek(end), U".．") && is_digit(peek(end + 1))) end = run(end + 1, is_digit);
    while (is_one_of(peek(end), U":：") && end - at <= 5 && run(end + 1, is_digit) == end + 3) end += 3;
    return end;
  }

  [[nodiscard]] std::size_t end_of_date(std::size_t at, std::size_t first) const {
    const char32_t sign = peek(first);
    if (first - at != 4 || !is_one_of(sign, U"-/.")) return kNoEnd;
    const std::size_t month = run(first + 1, is_digit);
    if (month == first + 1 || month > first + 3 || peek(month) != sign) return kNoEnd;
    const std::size_t day = run(month + 1, is_digit);
    return day == month + 1 || day > month + 3 ? kNoEnd : day;
  }

  /// Returns `at` if no unit of measurement follows.
  [[nodiscard]] std::size_t end_of_unit(std::size_t at) const {
    if (peek(at) == U'°' && is_one_of(peek(at + 1), U"CF")) return at + 2;
    if (at < text_.size() && (is_one_of(text_[at], kShortUnits) || is_one_of(text_[at], kFractions)))
      return at + 1;
    for (std::size_t length = std::min(kLongestUnit, text_.size() - at); length > 0; --length) {
      const std::u32string_view unit = text_.substr(at, length);
      if (std::find(kUnits.begin(), kUnits.end(), unit) != kUnits.end() && !is_in_word(peek(at + length)))
        return at + length;
    }
    return at;
  }

  std::u32string_view text_;
};

struct Rule {
  WholeKind kind;
  std::size_t (Scanner::*end)(std::size_t) const;
};

// More specific rules come first: a mail address also begins with a word, and 5km with a number.
constexpr std::array<Rule, kWholeKinds> kRules = {{{WholeKind::emoji, &Scanner::emoji},
                                                   {WholeKind::markup, &Scanner::markup},
                                                   {WholeKind::email, &Scanner::email},
                                                   {WholeKind::url, &Scanner::url},
                                                   {WholeKind::hashtag, &Scanner::hashtag},
                                                   {WholeKind::mention, &Scanner::mention},
                                                   {WholeKind::quantity, &Scanner::quantity},
                                                   {WholeKind::number, &Scanner::number},
                                                   {WholeKind::word, &Scanner::word},
                                                   {WholeKind::sign, &Scanner::sign}}};

}  // namespace

std::u32string_view whole_kind_name(WholeKind kind) {
  constexpr std::array<std::u32string_view, kWholeKinds> names = {
      U"url",      U"email", U"hashtag", U"mention", U"number",
      U"quantity", U"word",  U"sign",    U"emoji",   U"markup"};
  return names[static_cast<std::size_t>(kind)];
}

std::vector<WholeSpan> find_whole_spans(std::u32string_view text) {
  std::vector<WholeSpan> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::uint8_t facts = char_facts(text[at]);
    const CharClass kind = class_in(facts);
    std::size_t next = kind == CharClass::space ? at + 1 : end_of_character(text, at);
    const bool is_wide_mark = (facts & kPunctuation) != 0 && text[at] > 0x7F;
    if (kind == CharClass::han || kind == CharClass::space || kind == CharClass::extend || is_wide_mark) {
      at = next;  // nothing begins here
      continue;
    }
    const Scanner scanner(text, at);
    for (const Rule& rule : kRules) {
      const std::size_t found = (scanner.*rule.end)(at);
      if (found <= at) continue;
      // Marks that follow belong to the last character.
      next = rule.kind == WholeKind::emoji ? std::max(next, found) : end_of_character(text, found - 1);
      out.push_back({{static_cast<std::int64_t>(at), static_cast<std::int64_t>(next)}, rule.kind});
      break;
    }
    at = next;
  }
  return out;
}

}  // namespace duilian
