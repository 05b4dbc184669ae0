// The feature template language: one template per line, compiled into a small program that extract.hpp runs.
// docs/templates.md explains the language; this is its grammar:
//
//   line       = [ template ] [ "#" comment ]
//   template   = "t[-1]" | atom { atom } [ "if" condition { "and" condition } ]
//   atom       = "w[k]" | "x[k]" | "c[k,i]" | "c[k,*]" | "repeat[k]" | "prefix[k,n]" | "suffix[k,n]"
//              | "prefix[k,n..m]" | "suffix[k,n..m]" | "type[k]" | "type[k,i]" | "len[k]" | "same[j,k]"
//              | "@name[k]" | "lx[k]" | "jg[k]" | "bias"
//   condition  = [ "not" ] ( "single[k]" | "same[j,k]" | "type[k]=name" )
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace duilian {

/// The message is "line:column: what is wrong", both counted from 1.
struct TemplateSyntaxError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

struct Atom {
  enum class Kind : std::uint8_t {
    text,       // w[k], x[k]
    character,  // c[k,first]
    inner,      // c[k,*]
    repeat,     // repeat[k]
    prefix,     // prefix[k,first..last]
    suffix,
    type,       // type[k]
    char_type,  // type[k,first]
    length,     // len[k]
    same,       // same[k,first]
    column,     // @name[k], lx[k], jg[k]; first is the number of the column
    bias,
  };
  Kind kind = Kind::bias;
  std::int32_t offset = 0;  // k
  std::int32_t first = 0;
  std::int32_t last = 0;

  [[nodiscard]] bool yields_several() const {
    return kind == Kind::inner || kind == Kind::repeat ||
           ((kind == Kind::prefix || kind == Kind::suffix) && first != last);
  }
};

struct Condition {
  enum class Kind : std::uint8_t { single, same, type };
  Kind kind = Kind::single;
  std::int32_t offset = 0;
  std::int32_t other = 0;    // same[offset,other]
  std::u32string type_name;  // type[offset]=name
  bool is_negated = false;
};

struct Template {
  std::string text;      // atoms and conditions separated by single blanks
  std::uint64_t id = 0;  // hash of the text, so keys stay the same when other templates come or go
  std::vector<Atom> atoms;
  std::vector<Condition> conditions;
  bool is_plain = false;  // texts and columns only, which always have a value
};

struct TemplateSet {
  std::vector<Template> templates;
  std::vector<std::string> columns;  // every column that templates use, including those of a dictionary
  bool has_transitions = false;      // t[-1]

  [[nodiscard]] std::vector<std::string> texts() const;
  /// The columns that must come with the sentences.
  [[nodiscard]] std::vector<std::string> given_columns() const;
  /// Whether templates use columns of a dictionary.
  [[nodiscard]] bool needs_dictionary() const { return given_columns().size() != columns.size(); }
};

[[nodiscard]] TemplateSet parse_templates(std::string_view text);

}  // namespace duilian
