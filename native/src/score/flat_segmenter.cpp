// Reads and checks a flat segmenter file, and segments text with it (see flat_segmenter.hpp).
#include "duilian/score/flat_segmenter.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "duilian/score/words.hpp"
#include "duilian/text/characters.hpp"

namespace duilian {

namespace {

constexpr std::string_view kMagic("DUISEG\0\1", 8);
constexpr std::size_t kPrelude = 24;
constexpr std::size_t kMaxLabels = 4096;
constexpr float kMaxWeight = 1e12F;

static_assert(std::endian::native == std::endian::little, "the file is little-endian");

[[noreturn]] void refuse(const char* what) { throw std::invalid_argument(what); }

/// The sections of a file, one after another.
class Sections {
 public:
  explicit Sections(std::string_view bytes) : left_(bytes) {}

  [[nodiscard]] std::string_view next() {
    std::uint64_t size = 0;
    if (left_.size() < sizeof size) refuse("a section is missing");
    std::memcpy(&size, left_.data(), sizeof size);
    left_.remove_prefix(sizeof size);
    if (size > left_.size()) refuse("a section extends beyond the file");
    const std::string_view found = left_.substr(0, size);
    left_.remove_prefix(size);
    return found;
  }
  template <class T>
  [[nodiscard]] std::vector<T> numbers() {
    const std::string_view bytes = next();
    if (bytes.size() % sizeof(T) != 0) refuse("a section ends inside a number");
    std::vector<T> found(bytes.size() / sizeof(T));
    if (!found.empty()) std::memcpy(found.data(), bytes.data(), bytes.size());
    return found;
  }
  void end() const {
    if (!left_.empty()) refuse("there are bytes after the last section");
  }

 private:
  std::string_view left_;
};

[[nodiscard]] std::string_view checked_body(std::string_view bytes) {
  if (bytes.size() < kPrelude || bytes.substr(0, kMagic.size()) != kMagic) {
    refuse("it is not a segmenter file of this version");
  }
  std::uint64_t size = 0;
  std::uint64_t checksum = 0;
  std::memcpy(&size, bytes.data() + kMagic.size(), sizeof size);
  std::memcpy(&checksum, bytes.data() + kMagic.size() + sizeof size, sizeof checksum);
  if (size != bytes.size()) refuse("the file is truncated, or has bytes after its end");
  const std::string_view body = bytes.substr(kPrelude);
  if (checksum != flat_checksum(body)) refuse("the checksum does not match, so the file is damaged");
  return body;
}

[[nodiscard]] Folding read_folding(Sections& in, bool folds_width, std::uint8_t letters) {
  const auto codes = in.numbers<std::uint32_t>();
  if (codes.size() % 2 != 0 || letters > 2) refuse("the folding is incomplete");
  std::vector<std::pair<char32_t, char32_t>> pairs;
  for (std::size_t k = 0; k < codes.size(); k += 2) {
    if (codes[k] > 0x10FFFF || codes[k + 1] > 0x10FFFF) refuse("the folding has a character beyond U+10FFFF");
    pairs.emplace_back(codes[k], codes[k + 1]);
  }
  return {folds_width, pairs, static_cast<Letters>(letters)};
}

[[nodiscard]] CompiledWeights read_weights(Sections& in) {
  CompiledWeights found;
  found.slot = in.numbers<std::uint64_t>();
  found.label = in.numbers<std::uint16_t>();
  found.weight = in.numbers<float>();
  found.transition = in.numbers<float>();
  for (const auto* weights : {&found.weight, &found.transition}) {
    for (const float weight : *weights) {
      if (!(std::abs(weight) <= kMaxWeight)) refuse("a weight is not a number between -1e12 and 1e12");
    }
  }
  return found;
}

[[nodiscard]] Dictionary read_dictionary(Sections& in) {
  DictionaryArrays found;
  found.alphabet = in.numbers<std::uint32_t>();
  found.symbol = in.numbers<std::uint16_t>();
  found.flags = in.numbers<std::uint8_t>();
  found.frequency = in.numbers<std::uint32_t>();
  found.tag = in.numbers<std::uint8_t>();
  std::string_view names = in.next();  // each ends with a line feed
  while (!names.empty()) {
    const std::size_t end = names.find('\n');
    if (end == std::string_view::npos) refuse("the name of a tag is incomplete");
    if (found.tags.size() == Dictionary::kMaxTags) refuse("the dictionary has too many tags");
    found.tags.emplace_back(names.substr(0, end));
    names.remove_prefix(end + 1);
  }
  return found.symbol.empty() ? Dictionary() : Dictionary(std::move(found));
}

}  // namespace

std::uint64_t flat_checksum(std::string_view bytes) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  // Eight bytes at a time, because single bytes would take longer than everything else.
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    hash = (hash ^ word) * 0x100000001B3U;
  }
  for (; at < bytes.size(); ++at) {
    hash = (hash ^ static_cast<std::uint8_t>(bytes[at])) * 0x100000001B3U;
  }
  return hash;
}

FlatSegmenter::FlatSegmenter(std::string_view bytes) {
  Sections in(checked_body(bytes));
  const std::string_view templates = in.next();
  const auto flags = in.numbers<std::uint8_t>();
  if (flags.size() != 4) refuse("the flags are incomplete");
  units_ = {flags[0] != 0, flags[1] != 0};
  starts_ = in.numbers<std::uint8_t>();
  ends_ = in.numbers<std::uint8_t>();
  const std::size_t labels = starts_.size();
  Succession rules{static_cast<std::int32_t>(labels), in.numbers<std::uint8_t>()};
  if (labels == 0 || labels > kMaxLabels || ends_.size() != labels ||
      (!rules.is_free() && rules.allows.size() != (labels + 1) * (labels + 1))) {
    refuse("the labels are inconsistent");
  }
  Folding folding = read_folding(in, flags[2] != 0, flags[3]);
  CompiledWeights weights = read_weights(in);
  Reading reading(std::move(folding), read_dictionary(in));
  in.end();
  (void)decode_utf8(templates);
  TemplateSet parsed = parse_templates(templates);
  if (!parsed.given_columns().empty() || (parsed.needs_dictionary() && !reading.dictionary)) {
    refuse("the templates need columns, which plain text does not have");
  }
  for (std::size_t k = 0; k < labels; ++k) {
    const int barred = (starts_[k] != 0 ? kWordGoesOn : kWordBegins) | (ends_[k] != 0 ? 0 : kWordEnds);
    barred_by_.push_back(static_cast<std::uint16_t>(barred));
  }
  predictor_ = std::make_unique<Predictor>(static_cast<std::int32_t>(labels), std::move(rules),
                                           std::move(weights), std::move(parsed), std::move(reading));
}

std::vector<Span> FlatSegmenter::words(std::u32string_view text) const {
  const SplitText split = split_text(text, {.units = units_});
  if (split.unit.empty()) return {};
  Sentences sentences(predictor_->reading(), {});
  std::vector<std::int64_t> flat;
  for (std::size_t s = 0; s + 1 < split.first.size(); ++s) {
    const auto begin = static_cast<std::size_t>(split.first[s]);
    const auto count = static_cast<std::size_t>(split.first[s + 1]) - begin;
    sentences.add(text, std::span(split.unit).subspan(begin, count));
  }
  const std::vector<std::uint16_t> known = with_ends(split.known);
  for (const Span& unit : split.unit) flat.insert(flat.end(), {unit.begin, unit.end});
  const std::vector<std::span<const std::uint16_t>> sides = {barred_by_};
  const std::vector<Constraints> found = restrictions(known, sides);
  std::int64_t impossible = 0;
  const auto label = predict(*predictor_, sentences, found.empty() ? Constraints() : found[0], 1, impossible);
  const WordColumns columns = words_of_labels({starts_, ends_}, {flat, split.first, known, label, {}});
  std::vector<Span> words;
  for (std::size_t k = 0; k < columns.start.size(); ++k) words.push_back({columns.start[k], columns.end[k]});
  return words;
}

}  // namespace duilian
