// Turns labels into words, and puts blanks between the words of texts (see words.hpp).
#include "duilian/score/words.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <stdexcept>

#include "duilian/text/characters.hpp"
#include "duilian/text/split.hpp"

namespace duilian {

namespace {

void check(const LabelEdges& edges, const LabelledUnits& units) {
  const std::size_t count = units.label.size();
  const bool fits = units.span.size() == 2 * count && units.known.size() == count &&
                    (units.p.empty() || units.p.size() == count) && edges.starts.size() == edges.ends.size();
  if (!fits) throw std::invalid_argument("the labels do not match the units");
  const auto& first = units.sentence;
  if (first.empty() || first.front() != 0 || first.back() != static_cast<std::int64_t>(count) ||
      !std::is_sorted(first.begin(), first.end()))
    throw std::invalid_argument("the sentences do not match the units");
  const auto labels = static_cast<std::int32_t>(edges.starts.size());
  if (std::any_of(units.label.begin(), units.label.end(), [&](auto l) { return l < 0 || l >= labels; }))
    throw std::invalid_argument("a label is out of range");
  constexpr std::int64_t kFarthest = std::numeric_limits<std::int32_t>::max();
  if (static_cast<std::int64_t>(count) > kFarthest)
    throw std::invalid_argument("there are more than 2^31 - 1 units");
  if (std::any_of(units.span.begin(), units.span.end(), [&](auto at) { return at < 0 || at > kFarthest; }))
    throw std::invalid_argument("a unit is too far from the beginning of its text");
}

}  // namespace

WordColumns words_of_labels(const LabelEdges& edges, const LabelledUnits& units) {
  check(edges, units);
  WordColumns out;
  out.sentence.push_back(0);
  const bool has_p = !units.p.empty();
  for (std::size_t s = 0; s + 1 < units.sentence.size(); ++s) {
    const auto begin = static_cast<std::size_t>(units.sentence[s]);
    const auto end = static_cast<std::size_t>(units.sentence[s + 1]);
    for (std::size_t u = begin; u < end; ++u) {
      const auto label = static_cast<std::size_t>(units.label[u]);
      const bool begins =
          u == begin || (units.known[u] & kApart) != 0 ||
          (edges.starts[label] != 0 && edges.ends[static_cast<std::size_t>(units.label[u - 1])] != 0);
      if (begins) {
        out.first.push_back(static_cast<std::int32_t>(u));
        out.start.push_back(static_cast<std::int32_t>(units.span[2 * u]));
        out.end.push_back(0);
        out.label.push_back(units.label[u]);
        if (has_p) out.p.push_back(units.p[u]);
      }
      out.end.back() = static_cast<std::int32_t>(units.span[2 * u + 1]);
      if (has_p) out.p.back() = std::min(out.p.back(), units.p[u]);
    }
    out.sentence.push_back(static_cast<std::int32_t>(out.first.size()));
  }
  return out;
}

std::u32string spaced(std::u32string_view text, std::span<const std::int32_t> start,
                      std::span<const std::int32_t> end) {
  if (start.size() != end.size())
    throw std::invalid_argument("there must be as many ends as starts of words");
  std::u32string out;
  out.reserve(text.size() + 2 * start.size());
  std::size_t done = 0;
  for (std::size_t word = 0; word < start.size(); ++word) {
    const auto from = static_cast<std::size_t>(start[word]);
    const auto to = static_cast<std::size_t>(end[word]);
    if (from < done || to < from || to > text.size())
      throw std::invalid_argument("a word is not inside its text");
    const std::u32string_view gap = text.substr(done, from - done);
    if (word > 0) {
      const auto first = std::find_if(gap.begin(), gap.end(), is_white_space);
      const auto last = std::find_if(gap.rbegin(), std::make_reverse_iterator(first), is_white_space).base();
      const std::size_t blanks = first == gap.end() ? 0 : static_cast<std::size_t>(last - first);
      const auto place = first == gap.end() ? gap.end() : last;
      out.append(gap.begin(), place);
      if (blanks < 2) out.append(2 - blanks, U' ');
      out.append(place, gap.end());
    } else {
      out += gap;
    }
    out += text.substr(from, to - from);
    done = to;
  }
  out += text.substr(done);
  return out;
}

std::vector<std::string> spaced_texts(std::span<const std::u32string> texts,
                                      std::span<const std::int32_t> start, std::span<const std::int32_t> end,
                                      std::span<const std::int64_t> first) {
  const auto words = static_cast<std::int64_t>(start.size());
  if (end.size() != start.size() || first.size() != texts.size() + 1 || first.front() != 0 ||
      first.back() != words || !std::is_sorted(first.begin(), first.end()))
    throw std::invalid_argument("the words do not match the texts");
  std::vector<std::string> out;
  out.reserve(texts.size());
  for (std::size_t k = 0; k < texts.size(); ++k) {
    const auto at = static_cast<std::size_t>(first[k]);
    const auto count = static_cast<std::size_t>(first[k + 1]) - at;
    out.push_back(encode_utf8(spaced(texts[k], start.subspan(at, count), end.subspan(at, count))));
  }
  return out;
}

}  // namespace duilian
