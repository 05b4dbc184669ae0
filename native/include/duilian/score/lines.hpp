// Lines of text in, lines of analysed text out, all in UTF-8: for whole files.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "duilian/score/predictor.hpp"
#include "duilian/text/split.hpp"

namespace duilian {

/// Labels sentences for one thread.
class SentenceLabeler {
 public:
  SentenceLabeler() = default;
  SentenceLabeler(const SentenceLabeler&) = delete;
  SentenceLabeler& operator=(const SentenceLabeler&) = delete;
  virtual ~SentenceLabeler() = default;
  /// The best labels of the first sentence, given what is known about its units (sets of Known; empty:
  /// nothing).
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

/// A plain tagger; starts[l]: label l begins a word.
[[nodiscard]] std::unique_ptr<LabelModel> label_model(const Predictor& predictor,
                                                      std::span<const std::uint8_t> starts);

/// The same with other labelers, made from the starts that the model keeps.
using MakeLabeler = std::function<std::unique_ptr<SentenceLabeler>(std::span<const std::uint8_t>)>;
[[nodiscard]] std::unique_ptr<LabelModel> label_model(const Predictor& predictor,
                                                      std::span<const std::uint8_t> starts, MakeLabeler make);

/// Whether it is known that a word begins, or does not begin, at a unit.
[[nodiscard]] constexpr bool tells_of_edges(std::uint8_t known) {
  return (known & (kWordBegins | kWordGoesOn)) != 0;
}

/// Whether a label that begins a word, or does not, contradicts what is known about a unit.
[[nodiscard]] constexpr bool is_barred(std::uint8_t known, bool starts) {
  return (known & (starts ? kWordGoesOn : kWordBegins)) != 0;
}

/// Forbids such labels in the scores in `work`.
void forbid_labels(const Predictor& predictor, std::span<const std::uint8_t> starts,
                   std::span<const std::uint8_t> known, Predictor::Work& work);

/// How lines become units and how labels become words.
struct LineOptions {
  bool has_words = false;         // lines are words separated by blanks; else raw text
  UnitOptions units;              // of raw text
  std::vector<std::string> name;  // [L]  the tag that a label puts on its word; all empty: segmentation only
  std::vector<std::uint8_t> starts;  // [L]  whether a label begins a word (words: all do)
  std::string between;               // words of a line
  std::string before_tag;            // word and tag
};

/// One line of output for each line of input; line breaks stay as they were. A blank between two characters
/// of raw text ends a word, and protected spans are not cut. Throws std::invalid_argument with the
/// line's number if a line is not UTF-8.
[[nodiscard]] std::string tag_lines(const LabelModel& model, std::string_view text,
                                    const LineOptions& options, std::size_t threads);

/// For words with further columns: rows of white-space fields, a blank line between sentences. Field 0 is the
/// word; `field` says where each column of the model's templates is. Every row comes back followed by
/// `between` and its label. Throws std::invalid_argument with the row's number if a field is missing.
[[nodiscard]] std::string tag_rows(const LabelModel& model, std::string_view text,
                                   std::span<const std::size_t> field, const LineOptions& options,
                                   std::size_t threads);

/// The same for a plain tagger.
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
