#include "duilian/text/json.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <stdexcept>

#include "duilian/text/utf8_column.hpp"

namespace duilian {

namespace {

constexpr std::size_t kBytesOfWord = 48;  // about what a word takes with its span, tag, head and relation
constexpr double kConfidenceSteps = 1e4;

[[nodiscard]] bool is_escaped(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
}

void write_escaped(std::string& out, char c) {
  constexpr std::string_view kLetters = "btn fr";  // of U+0008 to U+000D; U+000B has none
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto code = static_cast<unsigned char>(c);
  out += '\\';
  if (code >= 0x20) {
    out += c;
  } else if (code >= 0x08 && code <= 0x0D && code != 0x0B) {
    out += kLetters[code - 0x08U];
  } else {
    out += "u00";
    out += kDigits[code >> 4U];
    out += kDigits[code & 15U];
  }
}

void write_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t plain = 0;  // where the characters begin that can be copied as they are
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_escaped(text[i])) continue;
    out += text.substr(plain, i - plain);
    write_escaped(out, text[i]);
    plain = i + 1;
  }
  out += text.substr(plain);
  out += '"';
}

void write_name(std::string& out, std::string_view name) {
  if (name.data() == nullptr)
    out += "null";
  else
    write_string(out, name);
}

void write_int(std::string& out, std::int32_t number) {
  std::array<char, 12> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

void write_head(std::string& out, std::int32_t head) {
  if (head == -1)
    out += "null";
  else
    write_int(out, head);
}

/// As Python writes a number that is rounded to four decimals: no zeros at the end, but one decimal at least.
void write_confidence(std::string& out, double confidence) {
  if (!(confidence >= 0 && confidence <= 1)) throw std::invalid_argument("a confidence is not from 0 to 1");
  auto left = static_cast<int>(std::nearbyint(confidence * kConfidenceSteps));
  out += left == 10'000 ? "1." : "0.";
  left %= 10'000;
  int step = 1'000;
  do {
    out += static_cast<char>('0' + left / step);
    left %= step;
    step /= 10;
  } while (left > 0);
}

/// The values, each as `write` writes it.
template <class Values, class Write>
void write_list(std::string& out, const Values& values, const Write& write) {
  out += '[';
  bool is_first = true;
  for (const auto& value : values) {
    if (!is_first) out += ", ";
    is_first = false;
    write(out, value);
  }
  out += ']';
}

void write_words(std::string& out, std::string_view text, const JsonLayer& layer) {
  Utf8Cursor cursor(text);
  out += "\"words\": [";
  for (std::size_t w = 0; w < layer.start.size(); ++w) {
    if (w > 0) out += ", ";
    write_string(out, cursor.word(layer.start[w], layer.end[w]));
  }
  out += "], \"spans\": [";
  for (std::size_t w = 0; w < layer.start.size(); ++w) {
    out += w > 0 ? ", [" : "[";
    write_int(out, layer.start[w]);
    out += ", ";
    write_int(out, layer.end[w]);
    out += ']';
  }
  out += "], \"sentences\": ";
  write_list(out, layer.sentence, write_int);
}

void write_layer(std::string& out, std::string_view text, const JsonLayer& layer) {
  write_string(out, layer.standard);
  out += ": {";
  write_words(out, text, layer);
  if (layer.tags) {
    out += ", \"tags\": ";
    write_list(out, *layer.tags, write_name);
  }
  if (layer.xpos) {
    out += ", \"xpos\": ";
    write_list(out, *layer.xpos, write_name);
  }
  if (layer.confidence) {
    out += ", \"confidence\": ";
    write_list(out, *layer.confidence, write_confidence);
  }
  if (layer.heads) {
    out += ", \"heads\": ";
    write_list(out, *layer.heads, write_head);
    out += ", \"relations\": ";
    write_list(out, layer.relations, write_name);
  }
  out += '}';
}

}  // namespace

std::string document_json(std::string_view text, std::span<const JsonLayer> layers) {
  std::string out;
  std::size_t words = 2;
  for (const JsonLayer& layer : layers) {
    if (layer.start.size() != layer.end.size()) throw std::invalid_argument("the words do not fit the text");
    words += layer.start.size();
  }
  out.reserve((layers.size() + 1) * text.size() + words * kBytesOfWord);
  out += "{\"text\": ";
  write_string(out, text);
  out += ", \"standards\": {";
  for (std::size_t k = 0; k < layers.size(); ++k) {
    if (k > 0) out += ", ";
    write_layer(out, text, layers[k]);
  }
  out += "}}";
  return out;
}

}  // namespace duilian
