#include "duilian/score/words.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "duilian/text/split.hpp"

namespace duilian {

namespace {

void check(const LabelEdges& edges, const LabelledUnits& units) {
  const std::size_t count = units.label.size();
  const bool fits = units.span.size() == 2 * count && units.known.size() == count &&
                    (units.p.empty() || units.p.size() == count) && edges.starts.size() == edges.ends.size();
  if (!fits) throw std::invalid_argument("the labels do not fit the units");
  const auto& first = units.sentence;
  if (first.empty() || first.front() != 0 || first.back() != static_cast<std::int64_t>(count) ||
      !std::is_sorted(first.begin(), first.end()))
    throw std::invalid_argument("the sentences do not fit the units");
  const auto labels = static_cast<std::int32_t>(edges.starts.size());
  if (std::any_of(units.label.begin(), units.label.end(), [&](auto l) { return l < 0 || l >= labels; }))
    throw std::invalid_argument("a label is out of range");
  constexpr std::int64_t kFarthest = std::numeric_limits<std::int32_t>::max();
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
        out.first.push_back(static_cast<std::int64_t>(u));
        out.start.push_back(static_cast<std::int32_t>(units.span[2 * u]));
        out.end.push_back(0);
        out.label.push_back(units.label[u]);
        if (has_p) out.p.push_back(units.p[u]);
      }
      out.end.back() = static_cast<std::int32_t>(units.span[2 * u + 1]);
      if (has_p) out.p.back() = std::min(out.p.back(), units.p[u]);
    }
    out.sentence.push_back(static_cast<std::int64_t>(out.first.size()));
  }
  return out;
}

}  // namespace duilian
