// Reads lines of text and writes lines of analysed text, both in UTF-8: for whole files.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "duilian/score/predictor.hpp"
#include "duilian/text/split.hpp"

namespace duilian {

/// Labels sentences; one object per thread.
class SentenceLabeler {
 public:
  SentenceLabeler() = default;
  SentenceLabeler(const SentenceLabeler&) = delete;
  SentenceLabeler& operator=(const SentenceLabeler&) = delete;
  virtual ~SentenceLabeler() = default;
  /// The best labels of the first sentence, given what is known about its units (sets of Known, or empty).
  virtual void label(const Sentences& sentences, std::span<const std::uint8_t> known,
                     std::span<std::int32_t> out) = 0;
};

/// A trained model of any kind that labels units.
class LabelModel {
 public:
  LabelModel() = default;
  LabelModel(const LabelModel&) = delete;
  LabelModel& operator=(const LabelModel&) = delete;
  virtual ~LabelModel() = default;
  [[nodiscard]] virtual std::int32_t labels() const = 0;
  [[nodiscard]] virtual const TemplateSet& templates() const = 0;
  [[nodiscard]] virtual const Reading& reading() const = 0;
  [[nodiscard]] virtual std::unique_ptr<SentenceLabeler> labeler() const = 0;
};

/// Wraps a plain tagger; starts[l] says whether label l begins a word.
[[nodiscard]] std::unique_ptr<LabelModel> label_model(const Predictor& predictor,
                                                      std::span<const std::uint8_t> starts);

/// Likewise, with other labelers, made from the `starts` that the model keeps.
using MakeLabeler = std::function<std::unique_ptr<SentenceLabeler>(std::span<const std::uint8_t>)>;
[[nodiscard]] std::unique_ptr<LabelModel> label_model(const Predictor& predictor,
                                                      std::span<const std::uint8_t> starts, MakeLabeler make);

/// Whether it is known that a word begins at a unit, or that none does.
[[nodiscard]] constexpr bool tells_of_edges(std::uint8_t known) {
  return (known & (kWordBegins | kWordGoesOn)) != 0;
}

/// Whether a label contradicts what is known about a unit, given whether the label begins a word.
[[nodiscard]] constexpr bool is_barred(std::uint8_t known, bool starts) {
  return (known & (starts ? kWordGoesOn : kWordBegins)) != 0;
}

/// Forbids such labels in the scores in `work`.
void forbid_labels(const Predictor& predictor, std::span<const std::uint8_t> starts,
                   std::span<const std::uint8_t> known, Predictor::Work& work);

/// How lines become units, and labels become words.
struct LineOptions {
  bool has_words = false;  // lines are words separated by blanks, not raw text
  UnitOptions units;       // for raw text
  // [L]  the tag that a label gives its word; if all are empty, text is only segmented.
  std::vector<std::string> name;
  std::vector<std::uint8_t> starts;  // [L]  whether a label begins a word (at word level, all do)
  std::string between;               // put between words
  std::string before_tag;            // put between a word and its tag
};

/// One line of output for each line of input, with the same line breaks. A blank between two characters of
/// raw text ends a word, and protected spans are not cut. Throws std::invalid_argument with the number of the
/// line if one is not UTF-8.
[[nodiscard]] std::string tag_lines(const LabelModel& model, std::string_view text,
                                    const LineOptions& options, std::size_t threads);

/// For words with further columns: rows of fields separated by white space, and a blank line between
/// sentences. Field 0 is the word; `field` gives the place of each column that the templates use. Every row
/// is returned, followed by `between` and its label. Throws std::invalid_argument with the number of the row
/// if a field is missing.
[[nodiscard]] std::string tag_rows(const LabelModel& model, std::string_view text,
                                   std::span<const std::size_t> field, const LineOptions& options,
                                   std::size_t threads);

/// Tags lines with a plain tagger.
[[nodiscard]] inline std::string tag_lines(const Predictor& predictor, std::string_view text,
                                           const LineOptions& options, std::size_t threads) {
  return tag_lines(*label_model(predictor, options.starts), text, options, threads);
}
[[nodiscard]] inline std::string tag_rows(const Predictor& predictor, std::string_view text,
                                          std::span<const std::size_t> field, const LineOptions& options,
                                          std::size_t threads) {
  return tag_rows(*label_model(predictor, options.starts), text, field, options, threads);
}

}  // namespace duilian
