// A text with its words as JSON.
#include "duilian/text/json.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings.hpp"

namespace duilian::bindings {

using namespace nb::literals;

namespace {

using Codes = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
/// The names of a column: a number for each word, and each name once.
using Names = std::pair<Codes, nb::tuple>;
using Numbers = Input<std::int32_t>;
/// Standard; starts, ends and sentences; tags and xpos; confidence; heads and relations.
using Layer = std::tuple<nb::str, Numbers, Numbers, Numbers, std::optional<Names>, std::optional<Names>,
                         std::optional<Input<double>>, std::optional<Numbers>, std::optional<Names>>;

/// The bytes of a string, which Python keeps as long as the string.
[[nodiscard]] std::string_view utf8(nb::handle text) {
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (bytes == nullptr) nb::raise_python_error();
  return {bytes, static_cast<std::size_t>(size)};
}

template <class Code>
[[nodiscard]] JsonNames named(const Names& names) {
  const auto* code = static_cast<const Code*>(names.first.data());
  JsonNames out(names.first.size());
  for (std::size_t w = 0; w < out.size(); ++w) {
    if (code[w] >= names.second.size()) throw std::invalid_argument("a number has no name");
    const nb::object name = names.second[code[w]];
    if (!name.is_none()) out[w] = utf8(name);
  }
  return out;
}

[[nodiscard]] JsonNames column(const Names& names) {
  const nb::dlpack::dtype type = names.first.dtype();
  if (type == nb::dtype<std::uint8_t>()) return named<std::uint8_t>(names);
  if (type == nb::dtype<std::uint16_t>()) return named<std::uint16_t>(names);
  if (type == nb::dtype<std::uint32_t>()) return named<std::uint32_t>(names);
  throw std::invalid_argument("numbers of names must be small and not negative");
}

[[nodiscard]] JsonLayer layer_of(const Layer& given) {
  const auto& [standard, start, end, sentence, tags, xpos, confidence, heads, relations] = given;
  JsonLayer out{utf8(standard), view(start), view(end), view(sentence), {}, {}, {}, {}, {}};
  if (tags) out.tags = column(*tags);
  if (xpos) out.xpos = column(*xpos);
  if (confidence) out.confidence = view(*confidence);
  if (heads) out.heads = view(*heads);
  if (relations) out.relations = column(*relations);
  return out;
}

}  // namespace

void bind_json(nb::module_& m) {
  m.def(
      "document_json",
      [](const nb::str& text, const std::vector<Layer>& layers) {
        std::vector<JsonLayer> found;
        found.reserve(layers.size());
        for (const Layer& each : layers) found.push_back(layer_of(each));
        return to_bytes(document_json(utf8(text), found));
      },
      "text"_a, "layers"_a,
      // The arrays of numbers have no one type, for which there is no stub.
      nb::sig("def document_json(text: str, layers: list[tuple[object, ...]]) -> bytes"));
}

}  // namespace duilian::bindings
