// A recursive-descent parser for the template language (templates.hpp has the grammar).
#include "duilian/features/templates.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "duilian/concat.hpp"
#include "duilian/features/dictionary.hpp"
#include "duilian/features/sentences.hpp"
#include "duilian/text/characters.hpp"

namespace duilian {

namespace {

constexpr std::int32_t kMaxOffset = 32;
constexpr std::size_t kMaxAtoms = 8;
constexpr std::size_t kMaxConditions = 8;
constexpr std::size_t kMaxTemplates = 1000;
constexpr std::array<std::string_view, 9> kTypeNames = {"digit", "letter", "han",   "punct", "space",
                                                        "emoji", "other",  "mixed", "edge"};

/// One line, read from left to right; knows its position for error messages.
class Line {
 public:
  Line(std::string_view text, std::size_t number) : text_(text.substr(0, text.find('#'))), number_(number) {}

  [[noreturn]] void fail(std::size_t at, const std::string& message) const {
    // Columns count characters, not bytes.
    const auto column = std::count_if(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at),
                                      [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; });
    throw TemplateSyntaxError(concat(number_, ":", column + 1, ": ", message));
  }
  [[noreturn]] void fail_here(const std::string& message) const { fail(at_, message); }

  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  [[nodiscard]] bool is_at_end() {
    skip_blanks();
    return at_ == text_.size();
  }
  [[nodiscard]] std::size_t at() const { return at_; }

  [[nodiscard]] bool takes(char wanted) {
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!takes(wanted)) fail_here(concat("expected '", wanted, "', found ", shown()));
  }
  /// Letters, digits, _ and a leading @ or - , as in names.
  [[nodiscard]] std::string_view word() {
    const std::size_t begin = at_;
    if (at_ < text_.size() && text_[at_] == '@') ++at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  [[nodiscard]] std::int32_t number() {
    std::int32_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc{}) fail_here(concat("expected a whole number, found ", shown()));
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }
  [[nodiscard]] std::string canonical() const {
    std::string out;
    for (const char c : text_) {
      if (!is_blank(c)) {
        out.push_back(c);
      } else if (!out.empty() && out.back() != ' ') {
        out.push_back(' ');
      }
    }
    if (!out.empty() && out.back() == ' ') out.pop_back();
    return out;
  }

 private:
  [[nodiscard]] static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  [[nodiscard]] static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  [[nodiscard]] std::string shown() const {
    if (at_ == text_.size()) return "the end of the line";
    std::size_t end = at_ + 1;  // the whole character, not only its first byte
    while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xC0U) == 0x80) ++end;
    return concat("'", text_.substr(at_, end - at_), "'");
  }

  std::string_view text_;
  std::size_t number_;
  std::size_t at_ = 0;
};

[[nodiscard]] std::int32_t offset_in(Line& line) {
  const std::size_t at = line.at();
  const std::int32_t offset = line.number();
  if (offset < -kMaxOffset || offset > kMaxOffset)
    line.fail(at, concat("the offset ", offset, " is beyond ±", kMaxOffset));
  return offset;
}

[[nodiscard]] std::int32_t column_number(std::string_view name, TemplateSet& set) {
  const auto found = std::find(set.columns.begin(), set.columns.end(), name);
  const auto index = static_cast<std::int32_t>(found - set.columns.begin());
  if (found == set.columns.end()) set.columns.emplace_back(name);
  return index;
}

[[nodiscard]] bool is_of_dictionary(std::string_view column) {
  return std::find(kDictionaryColumns.begin(), kDictionaryColumns.end(), column) != kDictionaryColumns.end();
}

/// Reads the lengths of prefix[k,n] or prefix[k,n..m], after the comma.
void read_lengths(Line& line, Atom& atom) {
  const std::size_t at = line.at();
  atom.first = atom.last = line.number();
  if (line.takes('.')) {
    line.expect('.');
    atom.last = line.number();
  }
  if (atom.first < 1 || atom.last < atom.first) line.fail(at, "lengths must ascend from 1, as in 1..4");
}

void read_character(Line& line, Atom& atom) {
  if (line.takes('*')) {
    atom.kind = Atom::Kind::inner;
  } else {
    atom.kind = Atom::Kind::character;
    atom.first = line.number();
  }
}

[[nodiscard]] Atom read_atom(Line& line, std::string_view name, std::size_t at, TemplateSet& set) {
  Atom atom;
  if (name == "bias") return atom;
  using Kind = Atom::Kind;
  if (name.starts_with('@')) {
    if (name.size() == 1) line.fail(at, "a column needs a name, as in @pos[0]");
    name.remove_prefix(1);
    if (is_of_dictionary(name)) line.fail(at, concat("write ", name, "[0] for the dictionary's column"));
    atom.kind = Kind::column;
    atom.first = column_number(name, set);
  } else if (is_of_dictionary(name)) {
    atom.kind = Kind::column;
    atom.first = column_number(name, set);
  } else if (name == "w" || name == "x") {
    atom.kind = Kind::text;
  } else if (name == "repeat") {
    atom.kind = Kind::repeat;
  } else if (name == "len") {
    atom.kind = Kind::length;
  } else if (name != "c" && name != "prefix" && name != "suffix" && name != "type" && name != "same") {
    line.fail(
        at,
        concat("unknown atom '", name,
               "'; there are w, x, c, repeat, prefix, suffix, type, len, same, @column, lx, jg, bias and t"));
  }
  line.expect('[');
  atom.offset = offset_in(line);
  if (name == "c" || name == "prefix" || name == "suffix" || name == "same") {
    line.expect(',');
    if (name == "c") read_character(line, atom);
    if (name == "prefix" || name == "suffix") {
      atom.kind = name == "prefix" ? Kind::prefix : Kind::suffix;
      read_lengths(line, atom);
    }
    if (name == "same") {
      atom.kind = Kind::same;
      atom.first = offset_in(line);
    }
  } else if (name == "type") {
    atom.kind = line.takes(',') ? Kind::char_type : Kind::type;
    if (atom.kind == Kind::char_type) atom.first = line.number();
  }
  line.expect(']');
  return atom;
}

[[nodiscard]] Condition read_condition(Line& line) {
  Condition condition;
  line.skip_blanks();
  std::size_t at = line.at();
  std::string_view name = line.word();
  if (name == "not") {
    condition.is_negated = true;
    line.skip_blanks();
    at = line.at();
    name = line.word();
  }
  if (name != "single" && name != "same" && name != "type") {
    line.fail(at, concat("expected a condition (single, same or type), found '", name, "'"));
  }
  line.expect('[');
  condition.offset = offset_in(line);
  if (name == "same") {
    condition.kind = Condition::Kind::same;
    line.expect(',');
    condition.other = offset_in(line);
  }
  line.expect(']');
  if (name == "type") {
    condition.kind = Condition::Kind::type;
    line.expect('=');
    const std::size_t value_at = line.at();
    const std::string_view value = line.word();
    if (std::find(kTypeNames.begin(), kTypeNames.end(), value) == kTypeNames.end()) {
      line.fail(value_at, concat("unknown character type '", value, "'"));
    }
    condition.type_name = decode_utf8(value);
  }
  return condition;
}

void read_conditions(Line& line, Template& out) {
  out.conditions.push_back(read_condition(line));
  while (!line.is_at_end()) {
    const std::size_t at = line.at();
    if (line.word() != "and") line.fail(at, "expected 'and' or the end of the line");
    out.conditions.push_back(read_condition(line));
    if (out.conditions.size() > kMaxConditions)
      line.fail(at, concat("a template has at most ", kMaxConditions, " conditions"));
  }
}

/// t[-1] stands alone: transitions have no observations.
void read_transition(Line& line, bool is_alone, TemplateSet& set) {
  line.expect('[');
  const std::size_t at = line.at();
  if (line.number() != -1) line.fail(at, "only the previous tag can be used: t[-1]");
  line.expect(']');
  if (!is_alone || !line.is_at_end()) line.fail(at, "t[-1] must be alone on its line");
  set.has_transitions = true;
}

void read_line(Line& line, TemplateSet& set) {
  Template out;
  bool has_several = false;
  while (!line.is_at_end()) {
    const std::size_t at = line.at();
    const std::string_view name = line.word();
    if (name.empty()) line.fail_here("expected an atom such as w[0]");
    if (name == "t") return read_transition(line, out.atoms.empty(), set);
    if (name == "if") {
      if (out.atoms.empty()) line.fail(at, "a condition needs atoms before it");
      read_conditions(line, out);
      break;
    }
    const Atom atom = read_atom(line, name, at, set);
    if (atom.yields_several() && has_several)
      line.fail(at, "only one atom of a template may yield several values");
    has_several = has_several || atom.yields_several();
    out.atoms.push_back(atom);
    if (out.atoms.size() > kMaxAtoms) line.fail(at, concat("a template has at most ", kMaxAtoms, " atoms"));
  }
  if (out.atoms.empty()) return;
  out.text = line.canonical();
  out.id = hash_text(decode_utf8(out.text));
  const auto twin = std::find_if(set.templates.begin(), set.templates.end(),
                                 [&](const Template& other) { return other.text == out.text; });
  if (twin != set.templates.end()) line.fail(0, concat("the template '", out.text, "' occurs twice"));
  if (set.templates.size() == kMaxTemplates)
    line.fail(0, concat("there are more than ", kMaxTemplates, " templates"));
  out.is_plain =
      out.conditions.empty() && std::all_of(out.atoms.begin(), out.atoms.end(), [](const Atom& atom) {
        return atom.kind == Atom::Kind::text || atom.kind == Atom::Kind::column;
      });
  set.templates.push_back(std::move(out));
}

}  // namespace

std::vector<std::string> TemplateSet::texts() const {
  std::vector<std::string> out;
  for (const Template& each : templates) out.push_back(each.text);
  return out;
}

std::vector<std::string> TemplateSet::given_columns() const {
  std::vector<std::string> out;
  std::remove_copy_if(columns.begin(), columns.end(), std::back_inserter(out), is_of_dictionary);
  return out;
}

TemplateSet parse_templates(std::string_view text) {
  TemplateSet set;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    Line line(text.substr(0, end), ++number);
    if (!line.is_at_end()) read_line(line, set);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (set.templates.empty()) throw TemplateSyntaxError("1:1: expected at least one template besides t[-1]");
  return set;
}

}  // namespace duilian
