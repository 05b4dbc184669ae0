#include "duilian/dynamic/history.hpp"

#include <algorithm>
#include <stdexcept>

#include "duilian/concat.hpp"
#include "duilian/features/evaluate.hpp"

namespace duilian {

namespace {

constexpr std::string_view kTagColumn = "pos";
constexpr std::u32string_view kUnknownWordTag = U"?";
constexpr std::uint64_t kAboutWords = 0x57F1'D3A9'6C24'E80BU;  // sets keys apart from those about units

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
    throw std::invalid_argument("what labels say of words is uneven");
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
    throw std::invalid_argument("what labels say of words does not fit the labels");
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

TemplateSet WordTemplates::part(bool is_tags) const {
  const auto asks_for_tag = [&](const Atom& atom) {
    return atom.kind == Atom::Kind::column && atom.offset <= 0 &&
           set_.columns[static_cast<std::size_t>(atom.first)] == kTagColumn;
  };
  TemplateSet out = set_;
  std::erase_if(out.templates, [&](const Template& each) {
    const bool is_of_tags =
        each.conditions.empty() && std::all_of(each.atoms.begin(), each.atoms.end(), asks_for_tag);
    return is_of_tags != is_tags;
  });
  return out;
}

std::vector<std::string> WordTemplates::columns() const {
  std::vector<std::string> out;
  std::copy_if(set_.columns.begin(), set_.columns.end(), std::back_inserter(out),
               [](const std::string& name) { return name != kTagColumn; });
  return out;
}

WordWindow::WordWindow(const WordTemplates& templates, const LabelWords& words, const Sentences& sentences,
                       std::int64_t sentence)
    : words_(words),
      sentences_(sentences),
      begin_(sentences.begin_of(sentence)),
      end_(sentences.end_of(sentence)) {
  const auto& have = sentences.column_names();
  for (const std::string& name : templates.set().columns) {
    const auto found = std::find(have.begin(), have.end(), name);
    if (name != kTagColumn && found == have.end()) {
      throw std::invalid_argument(
          concat("the templates ask for a column '", name, "' that the sentences lack"));
    }
    column_of_.push_back(name == kTagColumn ? kTag : static_cast<std::size_t>(found - have.begin()));
  }
}

void WordWindow::move_to(const History& history, std::int32_t t) {
  t_ = t;
  const std::size_t newest = history.is_open ? 0 : 1;  // the place of the history's newest word
  if (!history.is_open) word_[0] = {begin_ + t, begin_ + t + 1, -1, 0};
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
  for (std::size_t k = 0; k < word_.size(); ++k)
    word_[k].hash = hash_text(text(-static_cast<std::int64_t>(k)));
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
  return sentences_.column(column).at(place > 0 ? begin_ + t_ + place : at(place).end - 1);
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
    throw std::invalid_argument("the labels do not fit the sentences");
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
