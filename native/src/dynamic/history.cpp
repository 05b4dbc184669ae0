// Words of unfinished paths as templates see them, and how templates are grouped (see history.hpp).
#include "duilian/dynamic/history.hpp"

#include <algorithm>
#include <stdexcept>

#include "duilian/concat.hpp"
#include "duilian/features/evaluate.hpp"

namespace duilian {

namespace {

constexpr std::u32string_view kUnknownWordTag = U"?";
const std::uint64_t kUnknownWordTagHash = hash_text(kUnknownWordTag);
const std::uint64_t kBeforeHash = hash_text(templating::kBefore);
const std::uint64_t kAfterHash = hash_text(templating::kAfter);
// Keeps keys distinct from those of unit templates.
constexpr std::uint64_t kAboutWords = 0x57F1'D3A9'6C24'E80BU;

[[nodiscard]] std::uint64_t length_hash(std::int64_t characters) {
  static const auto known = [] {
    std::array<std::uint64_t, std::size(templating::kLengths)> out{};
    std::transform(std::begin(templating::kLengths), std::end(templating::kLengths), out.begin(), hash_text);
    return out;
  }();
  return known[std::min<std::size_t>(static_cast<std::size_t>(characters), known.size() - 1)];
}

void check_offset(const Template& each, std::int32_t offset) {
  if (offset < -kWordsBack) {
    throw std::invalid_argument(
        concat("the template '", each.text, "' looks more than ", kWordsBack, " words back"));
  }
}

}  // namespace

LabelWords::LabelWords(std::vector<std::uint8_t> starting, std::vector<std::uint8_t> ending,
                       std::vector<std::u32string> tags)
    : starts(std::move(starting)), ends(std::move(ending)), tag(std::move(tags)) {
  if (starts.size() != ends.size() || starts.size() != tag.size())
    throw std::invalid_argument("the lists about labels differ in length");
  for (const std::u32string& each : tag) tag_hash.push_back(hash_text(each));
  const auto add = [](std::vector<Run>& to, std::size_t label, Kind kind) {
    if (to.empty() || kind != to.back().kind) to.push_back({label, label, kind});
    to.back().end = label + 1;
  };
  for (std::size_t l = 0; l < tag.size(); ++l) {
    add(runs, l, kind_of(l));
    add(runs_after, l, kind_after(l));
  }
}

void check(const LabelWords& words, std::int32_t labels) {
  if (words.tag.size() != static_cast<std::size_t>(labels))
    throw std::invalid_argument("the lists about labels do not match the labels");
}

WordTemplates::WordTemplates(TemplateSet set) : set_(std::move(set)) {
  for (Template& each : set_.templates) {
    for (const Atom& atom : each.atoms) {
      check_offset(each, atom.offset);
      if (atom.kind == Atom::Kind::same) check_offset(each, atom.first);
    }
    for (const Condition& condition : each.conditions) {
      check_offset(each, condition.offset);
      if (condition.kind == Condition::Kind::same) check_offset(each, condition.other);
    }
    each.id = mix(each.id, kAboutWords);
  }
}

Asks WordTemplates::asks_of(const Template& each) const {
  if (!each.conditions.empty()) return Asks::rest;
  const auto is_tag = [&](const Atom& atom) {
    return atom.kind == Atom::Kind::column && atom.offset <= 0 &&
           set_.columns[static_cast<std::size_t>(atom.first)] == kTagColumn;
  };
  const auto is_past = [&](const Atom& atom) {
    return atom.offset < 0 && (is_tag(atom) || atom.kind == Atom::Kind::text);
  };
  if (std::all_of(each.atoms.begin(), each.atoms.end(), is_tag)) return Asks::tags;
  return std::all_of(each.atoms.begin(), each.atoms.end(), is_past) ? Asks::past : Asks::rest;
}

TemplateSet WordTemplates::part(Asks asks) const {
  TemplateSet out = set_;
  std::erase_if(out.templates, [&](const Template& each) { return asks_of(each) != asks; });
  return out;
}

std::vector<std::string> WordTemplates::columns() const {
  std::vector<std::string> out = set_.given_columns();
  std::erase(out, kTagColumn);
  return out;
}

WordWindow::WordWindow(const WordTemplates& templates, const LabelWords& words, const Sentences& sentences,
                       std::int64_t sentence)
    : words_(words),
      sentences_(sentences),
      begin_(sentences.begin_of(sentence)),
      end_(sentences.end_of(sentence)),
      known_(static_cast<std::size_t>(end_ - begin_)) {
  const auto& have = sentences.column_names();
  for (const std::string& name : templates.set().columns) {
    const auto found = std::find(have.begin(), have.end(), name);
    if (name != kTagColumn && found == have.end()) {
      throw std::invalid_argument(concat("the templates need a column '", name, "' that the sentences lack"));
    }
    column_of_.push_back(name == kTagColumn ? kTag : static_cast<std::size_t>(found - have.begin()));
  }
}

void WordWindow::move_to(const History& history, std::int32_t t) {
  t_ = t;
  const std::size_t newest = history.is_open ? 0 : 1;  // the place of the newest word in the history
  if (!history.is_open) word_[0] = {begin_ + t, begin_ + t + 1, -1};
  std::int64_t end = history.is_open ? begin_ + t + 1 : begin_ + t;
  for (std::size_t k = 0; k + newest < word_.size(); ++k) {
    Word& word = word_[k + newest];
    word = {};
    if (history.begin[k] < 0) continue;
    word.begin = begin_ + history.begin[k];
    word.end = end;
    word.label = history.label[k];
    end = word.begin;
  }
  find_hashes();
}

void WordWindow::find_hashes() {
  const std::vector<std::int64_t>& first = sentences_.text().first;
  for (std::size_t k = 0; k < kWordPlaces; ++k) {
    const Word& word = word_[k];
    const bool is_there = word.begin >= 0;
    const std::uint64_t unknown = is_there ? kUnknownWordTagHash : kBeforeHash;
    hash_[kTextHash + k] = is_there ? word_hash(word) : kBeforeHash;
    hash_[kTagHash + k] = word.label >= 0 ? words_.tag_hash[word.label] : unknown;
    hash_[kLengthHash + k] = length_hash(is_there ? first[word.end] - first[word.begin] : 1);
  }
  const std::int64_t next = begin_ + t_ + 1;
  hash_[kNextHash] = next < end_ ? sentences_.text().hash[next] : kAfterHash;
}

std::uint64_t WordWindow::word_hash(const Word& word) {
  const TextColumn& units = sentences_.text();
  Known& known = known_[static_cast<std::size_t>(word.begin - begin_)];
  if (known.end == word.end) return known.hash;
  if (known.end <= word.begin || known.end > word.end) known = {word.begin + 1, units.hash[word.begin]};
  const std::u32string_view all(units.characters);
  const std::int64_t from = units.first[known.end];
  known.hash = hash_more(known.hash, all.substr(static_cast<std::size_t>(from),
                                                static_cast<std::size_t>(units.first[word.end] - from)));
  known.end = word.end;
  return known.hash;
}

std::u32string_view WordWindow::text(std::int64_t place) const {
  const TextColumn& units = sentences_.text();
  if (!is_inside(place)) return place < 0 ? templating::kBefore : templating::kAfter;
  if (place > 0) return units.at(begin_ + t_ + place);
  const std::int64_t from = units.first[at(place).begin];
  return {units.characters.data() + from, static_cast<std::size_t>(units.first[at(place).end] - from)};
}

std::u32string_view WordWindow::column(std::int32_t number, std::int64_t place) const {
  if (!is_inside(place)) return place < 0 ? templating::kBefore : templating::kAfter;
  const std::size_t column = column_of_[static_cast<std::size_t>(number)];
  if (column == kTag) return place > 0 || at(place).label < 0 ? kUnknownWordTag : words_.tag[at(place).label];
  return sentences_.column(column, place > 0 ? begin_ + t_ + place : at(place).end - 1);
}

std::u32string_view WordWindow::type(std::int64_t place) const {
  return is_inside(place) ? templating::type_of(text(place)) : U"edge";
}

namespace {

/// Moves a window along the labelled units of all sentences, and calls take(window) at each.
template <class Take>
void walk(const WordTemplates& templates, const LabelWords& words, const Sentences& sentences,
          std::span<const std::int32_t> labels, const Take& take) {
  const auto L = static_cast<std::int32_t>(words.tag.size());
  if (static_cast<std::int64_t>(labels.size()) != sentences.units())
    throw std::invalid_argument("the labels do not match the sentences");
  if (std::any_of(labels.begin(), labels.end(), [&](std::int32_t l) { return l < 0 || l >= L; }))
    throw std::invalid_argument("a label is out of range");
  for (std::int64_t sentence = 0; sentence < sentences.size(); ++sentence) {
    WordWindow window(templates, words, sentences, sentence);
    History now;
    for (std::int64_t unit = sentences.begin_of(sentence); unit < sentences.end_of(sentence); ++unit) {
      const auto t = static_cast<std::int32_t>(unit - sentences.begin_of(sentence));
      window.move_to(now, t);
      take(window);
      now.extend(words, t, labels[static_cast<std::size_t>(unit)]);
    }
  }
}

}  // namespace

FeatureKeys word_keys(const WordTemplates& templates, const LabelWords& words, const Sentences& sentences,
                      std::span<const std::int32_t> labels) {
  FeatureKeys out;
  walk(templates, words, sentences, labels, [&](const WordWindow& window) {
    templating::append_keys(templates.set(), window, 0, out.value);
    out.first.push_back(static_cast<std::int64_t>(out.value.size()));
  });
  return out;
}

std::vector<std::vector<std::string>> describe_words(const WordTemplates& templates, const LabelWords& words,
                                                     const Sentences& sentences,
                                                     std::span<const std::int32_t> labels) {
  std::vector<std::vector<std::string>> out;
  walk(templates, words, sentences, labels, [&](const WordWindow& window) {
    templating::append_texts(templates.set(), window, 0, out.emplace_back());
  });
  return out;
}

}  // namespace duilian
