// UTF-8, sentences, units and protected spans: units and the gaps between them must make up the text, in
// order.
#include <cstdlib>
#include <string>
#include <vector>

#include "bytes.hpp"
#include "duilian/text/characters.hpp"
#include "duilian/text/fold.hpp"
#include "duilian/text/split.hpp"

namespace fuzzing {

using namespace duilian;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check_spans(std::span<const Span> spans, std::size_t size) {
  std::int64_t at = 0;
  for (const Span& each : spans) {
    require(each.begin >= at && each.end > each.begin);
    at = each.end;
  }
  require(at <= static_cast<std::int64_t>(size));
}

void check_split(std::u32string_view text, const SplitOptions& options) {
  const SplitText found = split_text(text, options);
  check_spans(found.unit, text.size());
  require(found.known.size() == found.unit.size() && !found.first.empty());
  require(found.first.back() == static_cast<std::int64_t>(found.unit.size()));
  std::int64_t at = 0;
  for (const WholeSpan& each : found.whole) {
    require(each.span.begin >= at && each.span.end <= static_cast<std::int64_t>(found.unit.size()));
    at = each.span.end;
  }
}

}  // namespace

void attack(std::span<const std::uint8_t> input) {
  Bytes bytes(input);
  const std::uint8_t choice = bytes.byte();
  const std::string_view raw = bytes.rest();
  const std::u32string text = decode_utf8(raw);
  require(encode_utf8(text) == raw);
  require(char_types(raw).size() == text.size());
  const UnitOptions joins{(choice & 1) != 0, (choice & 2) != 0};
  check_spans(split_units(text, joins), text.size());
  check_spans(split_sentences(text), text.size());
  for (const WholeSpan& each : find_whole_spans(text)) require(each.span.end > each.span.begin);
  SplitOptions options;
  options.units = joins;
  options.is_one_sentence = (choice & 4) != 0;
  if ((choice & 8) != 0) options.whole = choice >> 4U;
  check_split(text, options);
  const Folding folding((choice & 16) != 0, {}, static_cast<Letters>((choice >> 5U) % 3));
  require(folding(text).size() == text.size());
}

}  // namespace fuzzing
