// The template language: any text must be refused with its position, or extract features.
#include "duilian/features/templates.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include "bytes.hpp"
#include "duilian/features/extract.hpp"

namespace fuzzing {

using namespace duilian;

void attack(std::span<const std::uint8_t> input) {
  const std::string_view text = Bytes(input).rest();
  const TemplateSet set = parse_templates(text);
  std::string again;
  for (const std::string& line : set.texts()) again += line + "\n";
  if (parse_templates(again).texts() != set.texts()) std::abort();

  const std::vector<std::string> columns = set.given_columns();
  if (set.needs_dictionary() || columns.size() > 16 || set.templates.size() > 200) return;
  Sentences sentences(Reading{}, columns);
  const std::vector<std::string> units = {"中", "iPhone", "2026", "。", "\U00020000e\u0301"};
  sentences.add(units, std::vector(columns.size(), units));
  sentences.add({}, std::vector(columns.size(), std::vector<std::string>{}));
  sentences.add(std::span(units).first(1), std::vector(columns.size(), std::vector<std::string>{"x"}));
  const FeatureKeys keys = extract_keys(set, sentences);
  if (keys.first.size() != static_cast<std::size_t>(sentences.units()) + 1) std::abort();
}

}  // namespace fuzzing
