// Feeds arbitrary bytes to what reads files in native code: lexicons, lines of text, rows of fields.
#include <cstdlib>
#include <string>
#include <vector>

#include "bytes.hpp"
#include "duilian/lexicon/lookup.hpp"
#include "duilian/score/lines.hpp"
#include "duilian/score/predictor.hpp"
#include "duilian/text/characters.hpp"

namespace fuzzing {

using namespace duilian;

namespace {

/// Two labels, B and I, and a weight for 中.
[[nodiscard]] const Predictor& tagger(bool has_column) {
  const auto build = [](const char* templates) {
    CompiledWeights weights;
    weights.slot = {kNoSlot, 0, (std::uint64_t{7} << 32U) | 1U};
    weights.label = {kLastEntry, 1 | kLastEntry};
    weights.weight = {0.5F, -0.5F};
    weights.transition.assign(9, 0.0F);
    return Predictor(2, {}, std::move(weights), parse_templates(templates), Folding());
  };
  static const Predictor plain = build("w[0]\nw[-1] w[0]");
  static const Predictor with_column = build("w[0] @pos[0]");
  return has_column ? with_column : plain;
}

void read_lexicon(std::string_view text) {
  WordList words;
  std::size_t at = 0;
  while (at < text.size()) {  // like a caller that reports a line and skips it
    const std::size_t next = words.add_lines(text, at, 1e6);
    if (next < at || next > text.size()) std::abort();
    const std::size_t end = text.find('\n', next);
    at = end == std::string_view::npos ? text.size() : end + 1;
  }
  for (const std::uint32_t entry : words.sorted()) {
    if (words.find(words.word(entry)) != entry) std::abort();
  }
  static_cast<void>(find_occurrences(words, "我们中国a b，2026年"));
}

void label_lines(std::string_view text, std::uint8_t choice) {
  const LineOptions options{
      (choice & 4) != 0, {(choice & 8) != 0, (choice & 16) != 0}, {"N", "V"}, {1, 0}, " ", "/"};
  const std::string found = tag_lines(tagger(false), text, options, 1);
  if (std::count(found.begin(), found.end(), '\n') != std::count(text.begin(), text.end(), '\n'))
    std::abort();
}

void label_rows(std::string_view text, std::uint8_t choice) {
  const LineOptions options{true, {}, {"N", "V"}, {1, 1}, "\t", ""};
  const std::vector<std::size_t> field = {static_cast<std::size_t>(choice >> 6U)};
  const bool has_column = (choice & 4) != 0;
  static_cast<void>(
      tag_rows(tagger(has_column), text, has_column ? field : std::vector<std::size_t>{}, options, 1));
}

}  // namespace

void attack(std::span<const std::uint8_t> input) {
  Bytes bytes(input);
  const std::uint8_t choice = bytes.byte();
  const std::string_view text = bytes.rest();
  switch (choice % 3) {
    case 0:
      return read_lexicon(text);
    case 1:
      return label_lines(text, choice);
    default:
      return label_rows(text, choice);
  }
}

}  // namespace fuzzing
