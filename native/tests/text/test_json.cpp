// Words as JSON: the bytes of Python's json module. `tests/views/test_document.py` compares with the module
// itself.
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "duilian/text/json.hpp"

using namespace duilian;
using namespace testing;

namespace {

using Places = std::vector<std::int32_t>;

}  // namespace

TEST(a_text_without_analyses_is_json) {
  CHECK(document_json("", {}) == R"({"text": "", "standards": {}})");
  CHECK(document_json("他说\"a\\b\"\n\x01\x0B\x7F", {}) == R"({"text": "他说\"a\\b\"\n\u0001\u000b)"
                                                           "\x7F"
                                                           R"(", "standards": {}})");
  CHECK(document_json("\b\t\f\r\x1F", {}) == R"({"text": "\b\t\f\r\u001f", "standards": {}})");
}

TEST(columns_are_lists_and_those_that_are_missing_are_left_out) {
  const Places start{0, 1}, end{1, 3}, sentence{0, 2}, heads{2, -1};
  const std::vector<double> confidence{1, 0.25};
  JsonLayer layer{"pku", start, end, sentence, {}, {}, {}, {}, {}};
  const std::string words = R"("words": ["他", "去\""], "spans": [[0, 1], [1, 3]], "sentences": [0, 2])";
  const std::string before = R"({"text": "他去\"", "standards": {"pku": {)" + words;
  CHECK(document_json("他去\"", {&layer, 1}) == before + "}}}");
  layer.heads = heads;
  CHECK(document_json("他去\"", {&layer, 1}) == before + R"(, "heads": [2, null], "relations": []}}})");
  layer.tags = JsonNames{"r", "v"};
  layer.confidence = confidence;
  layer.relations = JsonNames{"nsubj", {}};
  CHECK(document_json("他去\"", {&layer, 1}) ==
        before + R"(, "tags": ["r", "v"], "confidence": [1.0, 0.25], "heads": [2, null], )"
                 R"("relations": ["nsubj", null]}}})");
}

TEST(confidence_has_four_decimals_at_most) {
  const std::vector<double> confidence{0, 0.00005, 0.00004, 0.12345, 0.99994, 0.99996, 0.5};
  const Places sentence{0, 0};
  JsonLayer layer{"x", {}, {}, sentence, {}, {}, confidence, {}, {}};
  const std::string found = document_json("", {&layer, 1});
  CHECK(found.find("[0.0, 0.0, 0.0, 0.1234, 0.9999, 1.0, 0.5]") != std::string::npos);
}

TEST(what_does_not_fit_is_refused) {
  const Places two{0, 1}, one{1}, beyond{1, 3}, sentence{0, 2};
  const std::vector<double> wrong{1.5};
  const auto refused = [](const JsonLayer& layer) {
    CHECK_THROWS((void)document_json("他去", {&layer, 1}), std::invalid_argument);
  };
  refused({"x", two, one, sentence, {}, {}, {}, {}, {}});
  refused({"x", two, beyond, sentence, {}, {}, {}, {}, {}});
  refused({"x", beyond, two, sentence, {}, {}, {}, {}, {}});
  refused({"x", {}, {}, sentence, {}, {}, wrong, {}, {}});
}
