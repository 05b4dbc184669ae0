// Tags files line by line, or row by row with further columns (see lines.hpp).
#include "duilian/score/lines.hpp"

#include <algorithm>
#include <stdexcept>

#include "duilian/concat.hpp"
#include "duilian/parallel.hpp"
#include "duilian/text/characters.hpp"
#include "duilian/text/split.hpp"

namespace duilian {

namespace {

constexpr std::size_t kLinesPerPiece = 64;

/// One sentence: its units as they are in the text, and what is known about them.
struct Row {
  std::vector<std::string> unit;
  std::vector<std::uint8_t> known;  // empty if nothing is known
};

[[nodiscard]] std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

[[nodiscard]] std::string_view line_break(std::string_view line) {
  std::size_t end = line.size();
  while (end > 0 && (line[end - 1] == '\n' || line[end - 1] == '\r')) --end;
  return line.substr(end);
}

[[nodiscard]] std::string slice(std::u32string_view text, const Span& span) {
  return encode_utf8(
      text.substr(static_cast<std::size_t>(span.begin), static_cast<std::size_t>(span.end - span.begin)));
}

/// A line of words is one sentence.
[[nodiscard]] Row words_of(std::u32string_view line) {
  Row row;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t end = at;
    while (end < line.size() && char_class(line[end]) != CharClass::space) ++end;
    if (end > at) row.unit.push_back(encode_utf8(line.substr(at, end - at)));
    at = end + 1;
  }
  return row;
}

/// Splits a line of text into sentences and units. A word begins after each blank; by the rules, another ends
/// before it.
void split_line(std::u32string_view line, UnitOptions options, std::vector<Row>& rows) {
  const SplitText found = split_text(line, {.units = options});
  for (std::size_t s = 0; s + 1 < found.first.size(); ++s) {
    Row& row = rows.emplace_back();
    const auto begin = static_cast<std::size_t>(found.first[s]);
    for (std::size_t u = begin; u < static_cast<std::size_t>(found.first[s + 1]); ++u) {
      const bool follows_blank = u == begin || found.unit[u].begin > found.unit[u - 1].end;
      row.unit.push_back(slice(line, found.unit[u]));
      row.known.push_back(static_cast<std::uint8_t>(found.known[u] | (follows_blank ? kWordBegins : 0)));
    }
  }
}

class PlainLabeler final : public SentenceLabeler {
 public:
  PlainLabeler(const Predictor& predictor, std::span<const std::uint8_t> starts)
      : predictor_(predictor), starts_(starts) {}

  void label(const Sentences& sentences, std::span<const std::uint8_t> known,
             std::span<std::int32_t> out) override {
    predictor_.score(sentences, 0, work_);
    forbid_labels(predictor_, starts_, known, work_);
    const auto chain = predictor_.chain(static_cast<std::int32_t>(out.size()), work_);
    if (!try_best_labels(chain, work_.chain, out))
      throw std::invalid_argument("no path through the lattice is legal");
  }

 private:
  const Predictor& predictor_;
  std::span<const std::uint8_t> starts_;
  Predictor::Work work_;
};

class PlainModel final : public LabelModel {
 public:
  PlainModel(const Predictor& predictor, std::span<const std::uint8_t> starts, MakeLabeler make)
      : predictor_(predictor), starts_(starts.begin(), starts.end()), make_(std::move(make)) {}
  [[nodiscard]] std::int32_t labels() const override { return predictor_.labels(); }
  [[nodiscard]] const TemplateSet& templates() const override { return predictor_.templates(); }
  [[nodiscard]] const Reading& reading() const override { return predictor_.reading(); }
  [[nodiscard]] std::unique_ptr<SentenceLabeler> labeler() const override { return make_(starts_); }

 private:
  const Predictor& predictor_;
  std::vector<std::uint8_t> starts_;
  MakeLabeler make_;
};

class Writer {
 public:
  Writer(const LabelModel& model, const LineOptions& options)
      : model_(model), options_(options), labeler_(model.labeler()) {}

  /// Tags the sentences of one line and appends them to `out`.
  void write(std::string_view line, std::string& out) {
    const std::u32string text = decode_utf8(line.substr(0, line.size() - line_break(line).size()));
    std::vector<Row> rows;
    if (options_.has_words) {
      rows.push_back(words_of(text));
    } else {
      split_line(text, options_.units, rows);
    }
    bool is_first = true;
    for (const Row& row : rows) {
      if (!row.unit.empty()) write_sentence(row, is_first, out);
      is_first = is_first && row.unit.empty();
    }
    out += line_break(line);
  }

 private:
  void write_sentence(const Row& row, bool is_first, std::string& out) {
    Sentences sentences(model_.reading(), {});
    sentences.add(row.unit, {});
    labels_.resize(row.unit.size());
    labeler_->label(sentences, row.known, labels_);
    for (std::size_t t = 0; t < row.unit.size(); ++t) {
      if (options_.starts[labels_[t]] != 0) {
        if (t > 0) end_word(labels_[t - 1], out);
        if (t > 0 || !is_first) out += options_.between;
      }
      out += row.unit[t];
    }
    end_word(labels_.back(), out);
  }

  void end_word(std::int32_t label, std::string& out) const {
    if (options_.name[label].empty()) return;
    out += options_.before_tag;
    out += options_.name[label];
  }

  const LabelModel& model_;
  const LineOptions& options_;
  std::unique_ptr<SentenceLabeler> labeler_;
  std::vector<std::int32_t> labels_;
};

/// The rows of a sentence, or a run of blank lines.
struct RowBlock {
  std::size_t first_row = 0;  // counted from 1, for messages
  std::vector<std::string_view> row;
  bool is_blank = false;
};

[[nodiscard]] bool is_blank_line(std::string_view line) {
  return line.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

[[nodiscard]] std::vector<RowBlock> split_blocks(std::string_view text) {
  std::vector<RowBlock> blocks;
  std::size_t number = 0;
  for (const std::string_view line : split_lines(text)) {
    const bool is_blank = is_blank_line(line);
    if (blocks.empty() || blocks.back().is_blank != is_blank) blocks.push_back({number + 1, {}, is_blank});
    blocks.back().row.push_back(line);
    ++number;
  }
  return blocks;
}

[[nodiscard]] std::vector<std::string> split_fields(std::string_view row) {
  std::vector<std::string> fields;
  for (std::size_t at = row.find_first_not_of(" \t\r\n"); at < row.size();) {
    const std::size_t end = std::min(row.find_first_of(" \t\r\n", at), row.size());
    fields.emplace_back(row.substr(at, end - at));
    at = row.find_first_not_of(" \t\r\n", end);
  }
  return fields;
}

/// Tags the sentence of one block and appends its rows to `out`.
void write_block(const LabelModel& model, const RowBlock& block, std::span<const std::size_t> field,
                 const LineOptions& options, SentenceLabeler& labeler, std::string& out) {
  std::vector<std::string> words;
  std::vector<std::vector<std::string>> columns(field.size());
  for (std::size_t r = 0; r < block.row.size(); ++r) {
    std::vector<std::string> fields = split_fields(block.row[r]);
    for (std::size_t k = 0; k < field.size(); ++k) {
      if (field[k] >= fields.size()) {
        throw std::invalid_argument(
            concat(block.first_row + r, ": expected ", field[k] + 1, " fields, found ", fields.size()));
      }
      columns[k].push_back(fields[field[k]]);
    }
    words.push_back(std::move(fields[0]));
  }
  Sentences sentences(model.reading(), model.templates().given_columns());
  sentences.add(words, columns);
  std::vector<std::int32_t> labels(words.size());
  labeler.label(sentences, {}, labels);
  for (std::size_t r = 0; r < block.row.size(); ++r) {
    const std::string_view rest = line_break(block.row[r]);
    out += block.row[r].substr(0, block.row[r].size() - rest.size());
    out += options.between;
    out += options.name[labels[r]];
    out += rest;
  }
}

[[nodiscard]] std::string join(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += part;
  return all;
}

void check_options(const LabelModel& model, const LineOptions& options) {
  const auto labels = static_cast<std::size_t>(model.labels());
  if (options.name.size() != labels || options.starts.size() != labels) {
    throw std::invalid_argument("the options do not match the labels");
  }
}

}  // namespace

std::unique_ptr<LabelModel> label_model(const Predictor& predictor, std::span<const std::uint8_t> starts) {
  return label_model(predictor, starts, [&predictor](std::span<const std::uint8_t> kept) {
    return std::make_unique<PlainLabeler>(predictor, kept);
  });
}

std::unique_ptr<LabelModel> label_model(const Predictor& predictor, std::span<const std::uint8_t> starts,
                                        MakeLabeler make) {
  return std::make_unique<PlainModel>(predictor, starts, std::move(make));
}

void forbid_labels(const Predictor& predictor, std::span<const std::uint8_t> starts,
                   std::span<const std::uint8_t> known, Predictor::Work& work) {
  for (std::size_t t = 0; t < known.size(); ++t) {
    if (!tells_of_edges(known[t])) continue;
    double* state = work.state.data() + t * predictor.stride();
    for (std::size_t l = 0; l < starts.size(); ++l) {
      if (is_barred(known[t], starts[l] != 0)) state[l] = kForbidden;
    }
  }
}

std::string tag_lines(const LabelModel& model, std::string_view text, const LineOptions& options,
                      std::size_t threads) {
  check_options(model, options);
  if (!model.templates().given_columns().empty())
    throw std::invalid_argument("the templates need columns, which lines of text do not have");
  const auto lines = split_lines(text);
  const std::size_t pieces = (lines.size() + kLinesPerPiece - 1) / kLinesPerPiece;
  std::vector<std::string> out(pieces);
  Team team(threads, pieces);
  std::vector<Writer> writers;
  for (std::size_t k = 0; k < team.size(); ++k) writers.emplace_back(model, options);
  team.for_each(pieces, [&](std::size_t thread, std::size_t piece) {
    for (std::size_t k = piece * kLinesPerPiece; k < std::min(lines.size(), (piece + 1) * kLinesPerPiece);
         ++k) {
      try {
        writers[thread].write(lines[k], out[piece]);
      } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(concat(k + 1, ": ", error.what()));
      }
    }
  });
  return join(out);
}

std::string tag_rows(const LabelModel& model, std::string_view text, std::span<const std::size_t> field,
                     const LineOptions& options, std::size_t threads) {
  check_options(model, options);
  if (field.size() != model.templates().given_columns().size()) {
    throw std::invalid_argument("the number of fields must be the number of columns in the templates");
  }
  const auto blocks = split_blocks(text);
  std::vector<std::string> out(blocks.size());
  Team team(threads, blocks.size());
  std::vector<std::unique_ptr<SentenceLabeler>> labelers;
  for (std::size_t k = 0; k < team.size(); ++k) labelers.push_back(model.labeler());
  team.for_each(blocks.size(), [&](std::size_t thread, std::size_t b) {
    if (!blocks[b].is_blank) {
      return write_block(model, blocks[b], field, options, *labelers[thread], out[b]);
    }
    for (const std::string_view line : blocks[b].row) out[b] += line;
  });
  return join(out);
}

}  // namespace duilian
