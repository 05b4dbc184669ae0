// Stores a user's words in one hash table, and finds them in texts by rolling hashes.
#include "duilian/lexicon/word_list.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <stdexcept>

#include "duilian/concat.hpp"
#include "duilian/text/characters.hpp"

namespace duilian {

namespace {

constexpr std::uint64_t kBase = 0x9E3779B97F4A7C15U;
constexpr std::size_t kBits = 63;  // lengths below this have a bit of their own
constexpr std::size_t kMaxFilter = std::size_t{1} << 20U;
constexpr std::size_t kFewSlots = 64;

/// The hash of a text is a polynomial in its characters, so the hash of any part follows from those of two
/// prefixes: h(a b) = h(a) B^|b| + h(b).
[[nodiscard]] std::uint64_t push(std::uint64_t hash, char32_t c) { return hash * kBase + c + 1; }

[[nodiscard]] std::uint64_t hash_of(std::u32string_view text) {
  return std::accumulate(text.begin(), text.end(), std::uint64_t{0}, push);
}

/// Low bits of the polynomial depend only on low bits of the characters; this mixes in the others.
[[nodiscard]] std::uint64_t mixed(std::uint64_t hash) {
  hash = (hash ^ (hash >> 32U)) * 0xD6E8FEB86659FD93U;
  return hash ^ (hash >> 32U);
}

/// Takes the next field up to a tab; returns false if there is none.
bool take_field(std::string_view& line, std::string_view& field) {
  if (line.data() == nullptr) return false;
  const std::size_t tab = line.find('\t');
  field = line.substr(0, tab);
  line = tab == line.npos ? std::string_view() : line.substr(tab + 1);
  return true;
}

[[nodiscard]] bool is_plain(std::u32string_view text) {
  return !text.empty() &&
         std::none_of(text.begin(), text.end(), [](char32_t c) { return char_class(c) == CharClass::space; });
}

/// Accepts digits with at most one point inside, which every locale reads as the same number.
[[nodiscard]] bool parse_weight(std::string_view field, double& out) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (field.empty() || !is_digit(field.front()) || !is_digit(field.back())) return false;
  if (!std::all_of(field.begin(), field.end(), [&](char c) { return is_digit(c) || c == '.'; })) return false;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), out);
  return error == std::errc{} && end == field.data() + field.size();
}

}  // namespace

std::u32string_view WordList::word(std::size_t entry) const {
  const std::size_t begin = entry == 0 ? 0 : end_[entry - 1];
  return std::u32string_view(text_).substr(begin, end_[entry] - begin);
}

WordList::Tags WordList::all_tags() const {
  Tags out;
  for (const Tags& set : sets_) out.insert(out.end(), set.begin(), set.end());
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<std::uint32_t> WordList::sorted() const {
  std::vector<std::uint32_t> out(size());
  std::iota(out.begin(), out.end(), 0U);
  std::sort(out.begin(), out.end(), [&](std::uint32_t a, std::uint32_t b) { return word(a) < word(b); });
  return out;
}

std::uint32_t WordList::find(std::u32string_view text, std::uint64_t hash) const {
  if (slots_.empty()) return kNone;
  const std::uint64_t key = mixed(hash);
  const auto check = static_cast<std::uint32_t>(key >> 32U);
  for (std::size_t at = key & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
    const Slot& slot = slots_[at];
    if (slot.entry == kNone || (slot.check == check && word(slot.entry) == text)) return slot.entry;
  }
}

std::uint32_t WordList::find(std::u32string_view word) const { return find(word, hash_of(word)); }

void WordList::place(std::uint64_t hash, std::uint32_t entry) {
  const std::uint64_t key = mixed(hash);
  std::size_t at = key & (slots_.size() - 1);
  while (slots_[at].entry != kNone) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = {static_cast<std::uint32_t>(key >> 32U), entry};
}

void WordList::grow() {
  slots_.assign(std::max(kFewSlots, slots_.size() * 2), {});
  lengths_.assign(std::min(slots_.size(), kMaxFilter), 0);
  for (std::uint32_t entry = 0; entry < size(); ++entry) {
    place(hash_of(word(entry)), entry);
    note_length(word(entry));
  }
}

std::size_t WordList::filter_place(std::u32string_view text) const {
  return static_cast<std::size_t>(mixed(push(push(0, text[0]), text[1])) & (lengths_.size() - 1));
}

void WordList::note_length(std::u32string_view word) {
  const std::size_t length = word.size();
  if (length < 2) return;  // words of one character may occur anywhere
  lengths_[filter_place(word)] |= std::uint64_t{1} << std::min(length, kBits);
  if (length < kBits) return;
  const auto place = std::lower_bound(long_lengths_.begin(), long_lengths_.end(), length);
  if (place == long_lengths_.end() || *place != length) long_lengths_.insert(place, length);
}

std::uint32_t WordList::intern(Tags tags) {
  std::sort(tags.begin(), tags.end());
  tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
  const auto [found, is_new] = set_number_.try_emplace(tags, static_cast<std::uint32_t>(sets_.size()));
  if (is_new) sets_.push_back(std::move(tags));
  return found->second;
}

bool WordList::insert(std::u32string_view word, std::uint32_t tag_set, double weight) {
  const std::uint64_t hash = hash_of(word);
  const std::uint32_t known = find(word, hash);
  if (known != kNone) {
    const bool is_same = weight == weight_[known] || (weight != weight && !has_weight(known));
    if (is_same && tag_set_[known] != tag_set) {
      Tags both = sets_[tag_set_[known]];
      both.insert(both.end(), sets_[tag_set].begin(), sets_[tag_set].end());
      tag_set_[known] = intern(std::move(both));
    }
    return is_same;
  }
  if (word.size() >= kNone - text_.size())
    throw std::invalid_argument("a lexicon cannot have more than four billion characters");
  text_ += word;
  end_.push_back(static_cast<std::uint32_t>(text_.size()));
  tag_set_.push_back(tag_set);
  weight_.push_back(weight);
  if (size() * 2 > slots_.size()) {
    grow();
  } else {
    place(hash, static_cast<std::uint32_t>(size() - 1));
    note_length(word);
  }
  return true;
}

bool WordList::add(std::u32string_view word, Tags tags, double weight) {
  if (word.empty()) throw std::invalid_argument("a word must not be empty");
  return insert(word, intern(std::move(tags)), weight);
}

bool WordList::add_line(std::string_view line, double max_weight) {
  if (line.empty() || line.front() == '#') return true;
  std::string_view word;
  std::string_view field;
  double weight = kNoWeight;
  std::uint32_t tag_set = 0;
  take_field(line, word);
  const std::u32string text = decode_utf8(word);
  if (!is_plain(text)) return false;
  if (take_field(line, field) && !field.empty()) {
    const auto known = field_set_.find(std::string(field));
    if (known == field_set_.end()) {
      Tags tags;
      for (std::size_t at = 0; at <= field.size();) {
        const std::size_t bar = std::min(field.find('|', at), field.size());
        tags.emplace_back(field.substr(at, bar - at));
        if (!is_plain(decode_utf8(tags.back()))) return false;
        at = bar + 1;
      }
      tag_set = field_set_[std::string(field)] = intern(std::move(tags));
    } else {
      tag_set = known->second;
    }
  }
  if (take_field(line, field) && (!parse_weight(field, weight) || !(weight > 0.0 && weight <= max_weight)))
    return false;
  return line.data() == nullptr && insert(text, tag_set, weight);
}

std::size_t WordList::add_lines(std::string_view lines, double max_weight) {
  std::size_t at = 0;
  while (at < lines.size()) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    if (!add_line(lines.substr(at, end - at), max_weight)) break;
    at = std::min(end + 1, lines.size());
  }
  return at;
}

std::size_t WordList::add_lines(std::string_view lines, std::size_t begin, double max_weight) {
  if (begin > lines.size()) throw std::out_of_range("the text ends before the given byte");
  return begin + add_lines(lines.substr(begin), max_weight);
}

std::size_t WordList::checked(std::size_t entry) const {
  if (entry >= size()) throw std::out_of_range(concat("there is no entry ", entry));
  return entry;
}

template <class Visit>
void WordList::for_each_occurrence(std::u32string_view text, const Visit& visit) const {
  if (slots_.empty()) return;
  std::vector<std::uint64_t> before(text.size() + 1, 0);  // hashes of all prefixes
  for (std::size_t t = 0; t < text.size(); ++t) before[t + 1] = push(before[t], text[t]);
  const std::size_t longest = long_lengths_.empty() ? kBits : long_lengths_.back();
  std::vector<std::uint64_t> power(std::min(longest, text.size()) + 1, 1);  // B^n
  for (std::size_t n = 1; n < power.size(); ++n) power[n] = power[n - 1] * kBase;
  const auto probe = [&](std::size_t start, std::size_t length) {
    if (start + length > text.size()) return true;
    const std::uint64_t hash = before[start + length] - before[start] * power[length];
    const std::uint32_t entry = find(text.substr(start, length), hash);
    return entry == kNone || visit(Occurrence{static_cast<std::int64_t>(start),
                                              static_cast<std::int64_t>(start + length), entry});
  };
  for (std::size_t start = 0; start < text.size(); ++start) {
    if (!probe(start, 1) || lengths_.empty() || start + 1 == text.size()) continue;
    const std::uint64_t lengths = lengths_[filter_place(text.substr(start, 2))];
    bool goes_on = true;
    for (std::uint64_t left = lengths & ~(std::uint64_t{1} << kBits); goes_on && left != 0; left &= left - 1)
      goes_on = probe(start, static_cast<std::size_t>(__builtin_ctzll(left)));
    if (!goes_on || (lengths >> kBits) == 0) continue;
    for (std::size_t k = 0; goes_on && k < long_lengths_.size(); ++k)
      goes_on = probe(start, long_lengths_[k]);
  }
}

void WordList::find_occurrences(std::u32string_view text, std::vector<Occurrence>& out) const {
  for_each_occurrence(text, [&](const Occurrence& each) {
    out.push_back(each);
    return true;
  });
}

std::vector<std::int64_t> WordList::find_starts(std::u32string_view text) const {
  std::vector<std::int64_t> out;
  for_each_occurrence(text, [&](const Occurrence& each) {
    out.push_back(each.start);
    return false;  // whether there are more of them does not matter
  });
  return out;
}

namespace {

// Occurs in no text: marks a gap, so that no word crosses it.
constexpr char32_t kGap = 0xFFFFFFFFU;
constexpr std::int64_t kInside = -1;

/// The characters of all units, and the unit that begins at each character, or kInside.
struct JoinedUnits {
  std::u32string text;
  std::vector<std::int64_t> unit_at;  // [text + 1]
};

[[nodiscard]] JoinedUnits join(std::span<const std::string> units, std::span<const std::int64_t> gaps) {
  JoinedUnits out;
  std::size_t gap = 0;
  for (std::size_t t = 0; t < units.size(); ++t) {
    if (gap < gaps.size() && gaps[gap] == static_cast<std::int64_t>(t)) {
      // A word before the gap ends with the previous unit.
      out.unit_at.push_back(static_cast<std::int64_t>(t));
      out.text.push_back(kGap);
      ++gap;
    }
    const std::u32string unit = decode_utf8(units[t]);
    if (unit.empty()) throw std::invalid_argument("a unit must not be empty");
    out.text += unit;
    out.unit_at.push_back(static_cast<std::int64_t>(t));
    out.unit_at.resize(out.text.size(), kInside);
  }
  if (gap != gaps.size()) throw std::invalid_argument("the gaps do not match the units");
  out.unit_at.push_back(static_cast<std::int64_t>(units.size()));
  return out;
}

}  // namespace

std::vector<WordMatch> match_units(const WordList& words, std::span<const std::string> units,
                                   std::span<const std::int64_t> gaps, bool prefers) {
  const JoinedUnits joined = join(units, gaps);
  std::vector<WordList::Occurrence> found;
  words.find_occurrences(joined.text, found);
  std::vector<WordMatch> matches;
  for (const WordList::Occurrence& each : found) {
    const std::int64_t start = joined.unit_at[static_cast<std::size_t>(each.start)];
    const std::int64_t end = joined.unit_at[static_cast<std::size_t>(each.end)];
    if (start != kInside && end != kInside)
      matches.push_back({start, end, each.entry, prefers || words.has_weight(each.entry)});
  }
  std::sort(matches.begin(), matches.end(), [](const WordMatch& a, const WordMatch& b) {
    if (a.is_soft != b.is_soft) return b.is_soft;
    const std::int64_t longer = (a.end - a.start) - (b.end - b.start);
    return longer != 0 ? longer > 0 : a.start < b.start;
  });
  std::vector<std::uint8_t> is_taken(units.size(), 0);
  std::vector<WordMatch> kept;
  for (const WordMatch& each : matches) {
    const auto begin = is_taken.begin() + each.start;
    const auto end = is_taken.begin() + each.end;
    if (std::find(begin, end, 1) != end) continue;
    std::fill(begin, end, std::uint8_t{1});
    kept.push_back(each);
  }
  std::sort(kept.begin(), kept.end(),
            [](const WordMatch& a, const WordMatch& b) { return a.start < b.start; });
  return kept;
}

}  // namespace duilian
