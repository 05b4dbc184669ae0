// The tokenizer `duilian` for SQLite's full-text search (FTS5), as a loadable extension without Python.
//
//   SELECT duilian_model('zh.segmenter');  -- the default model of this connection
//
//   CREATE VIRTUAL TABLE docs USING fts5(text, tokenize = 'duilian');
//
//   CREATE VIRTUAL TABLE docs USING fts5(text, tokenize = "duilian model 'zh.segmenter' parts 0");
//
// The words of a document are indexed together with their parts, at the same positions; a query has words
// only.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "duilian/score/flat_segmenter.hpp"
#include "duilian/text/characters.hpp"
#include "duilian/text/search_words.hpp"
#include "sqlite_abi.hpp"

namespace duilian::sqlite {

namespace {

constexpr std::size_t kPiece = std::size_t{1} << 16U;  // characters segmented at once

/// What a connection has loaded, and the model for tables that name none.
struct Models {
  std::map<std::string, std::shared_ptr<const FlatSegmenter>> by_path;
  std::shared_ptr<const FlatSegmenter> usual;

  [[nodiscard]] std::shared_ptr<const FlatSegmenter> open(const std::string& path) {
    auto& found = by_path[path];
    if (found == nullptr) {
      // A database from someone else may name any path: a pipe would block, a device might never end.
      std::ifstream file;
      if (std::error_code error; std::filesystem::is_regular_file(path, error))
        file.open(path, std::ios::binary);
      if (!file.is_open()) throw std::invalid_argument("there is no such file");
      const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
      found = std::make_shared<const FlatSegmenter>(bytes);
    }
    return found;
  }
};
using SharedModels = std::shared_ptr<Models>;

/// A text with the byte where each character begins; each byte that is not UTF-8 becomes U+FFFD. A zero
/// becomes a space: some versions of FTS5 end a term there, and then report a damaged index.
struct DecodedText {
  std::u32string characters;
  std::vector<int> byte;  // [characters + 1]

  explicit DecodedText(std::string_view bytes) {
    characters.reserve(bytes.size() / 2);
    byte.reserve(bytes.size() / 2);
    for (std::size_t at = 0; at < bytes.size();) {
      byte.push_back(static_cast<int>(at));
      at += add(bytes.substr(at));
    }
    byte.push_back(static_cast<int>(bytes.size()));
  }

 private:
  std::size_t add(std::string_view rest) {
    const auto first = static_cast<unsigned char>(rest[0]);
    const std::size_t size = first < 0x80   ? 1
                             : first < 0xC2 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
    char32_t code = size == 1 ? first : static_cast<char32_t>(first & (0xFFU >> (size + 1)));
    bool is_valid = size > 0 && size <= rest.size();
    for (std::size_t k = 1; is_valid && k < size; ++k) {
      const auto next = static_cast<unsigned char>(rest[k]);
      is_valid = (next & 0xC0U) == 0x80;
      code = (code << 6U) | (next & 0x3FU);
    }
    is_valid = is_valid && !(size == 3 && code < 0x800) && !(size == 4 && code < 0x10000) &&
               code <= 0x10FFFF && !(code >= 0xD800 && code < 0xE000);
    characters.push_back(!is_valid ? U'\uFFFD' : code == 0 ? U' ' : code);
    return is_valid ? size : 1;
  }
};

/// Where the piece that begins at `at` ends: after a line or sentence if possible, so that no sentence is
/// cut.
[[nodiscard]] std::size_t end_of_piece(std::u32string_view text, std::size_t at) {
  const std::size_t stop = std::min(text.size(), at + kPiece);
  if (stop == text.size()) return stop;
  for (const char32_t mark : {U'\n', U'。'}) {
    const std::size_t found = text.substr(at, kPiece).rfind(mark);
    if (found != std::u32string_view::npos) return at + found + 1;
  }
  return stop;
}

/// Passes the terms of one text to FTS5.
class TermWriter {
 public:
  TermWriter(const DecodedText& text, const Folding& folding, void* context, Token* token)
      : text_(text), folding_(folding), context_(context), token_(token) {}

  /// Writes the word [start, end), and its parts if requested; returns the status from FTS5.
  [[nodiscard]] int write(std::size_t start, std::size_t end, bool with_parts) const {
    const auto word = std::u32string_view(text_.characters).substr(start, end - start);
    if (!is_searchable(word)) return kOk;
    int answer = give(0, start, end);
    if (!with_parts) return answer;
    for (const Part& part : parts_of_word(word)) {
      if (answer != kOk) break;
      answer = give(kColocated, start + static_cast<std::size_t>(part.start),
                    start + static_cast<std::size_t>(part.end));
    }
    return answer;
  }

 private:
  [[nodiscard]] int give(int flags, std::size_t start, std::size_t end) const {
    const auto word = std::u32string_view(text_.characters).substr(start, end - start);
    const std::string term = encode_utf8(search_term(word, folding_));
    return token_(context_, flags, term.data(), static_cast<int>(term.size()), text_.byte[start],
                  text_.byte[end]);
  }

  const DecodedText& text_;
  const Folding& folding_;
  void* context_;
  Token* token_;
};

struct TableTokenizer {
  std::shared_ptr<const FlatSegmenter> segmenter;
  bool has_parts = true;

  [[nodiscard]] int tokenize(void* context, int flags, std::string_view bytes, Token* token) const {
    const DecodedText text(bytes);
    const TermWriter writer(text, segmenter->folding(), context, token);
    const bool with_parts = has_parts && (flags & kIsQuery) == 0;
    for (std::size_t at = 0; at < text.characters.size();) {
      const std::size_t end = end_of_piece(text.characters, at);
      const auto piece = std::u32string_view(text.characters).substr(at, end - at);
      for (const Span& word : segmenter->words(piece)) {
        const int answer = writer.write(at + static_cast<std::size_t>(word.begin),
                                        at + static_cast<std::size_t>(word.end), with_parts);
        if (answer != kOk) return answer;
      }
      at = end;
    }
    return kOk;
  }
};

/// Options are pairs: `model PATH`, `parts 0` or `parts 1`.
[[nodiscard]] std::unique_ptr<TableTokenizer> make_tokenizer(Models& models, const char** arguments,
                                                             int count) {
  auto made = std::make_unique<TableTokenizer>();
  made->segmenter = models.usual;
  if (count % 2 != 0) throw std::invalid_argument("options must come in pairs of name and value");
  for (int k = 0; k < count; k += 2) {
    const std::string_view name = arguments[k];
    const std::string value = arguments[k + 1];
    if (name == "model") {
      made->segmenter = models.open(value);
    } else if (name == "parts" && (value == "0" || value == "1")) {
      made->has_parts = value == "1";
    } else {
      throw std::invalid_argument("an option must be model PATH, parts 0 or parts 1");
    }
  }
  if (made->segmenter == nullptr)
    throw std::invalid_argument("no model is given: use the option model or call duilian_model first");
  return made;
}

int create(void* data, const char** arguments, int count, Tokenizer** out) {
  try {
    auto made = make_tokenizer(**static_cast<SharedModels*>(data), arguments, count);
    *out = reinterpret_cast<Tokenizer*>(made.release());
    return kOk;
  } catch (const std::exception&) {
    return kError;  // FTS5 only reports that the constructor failed; duilian_model says why
  }
}

void destroy(Tokenizer* tokenizer) { delete reinterpret_cast<TableTokenizer*>(tokenizer); }

int tokenize(Tokenizer* tokenizer, void* context, int flags, const char* text, int size, Token* token) {
  try {
    const std::string_view bytes =
        text == nullptr || size <= 0 ? "" : std::string_view(text, static_cast<std::size_t>(size));
    return reinterpret_cast<TableTokenizer*>(tokenizer)->tokenize(context, flags, bytes, token);
  } catch (const std::exception&) {
    return kError;
  }
}

// Shared by all connections of a process, as SQLite assumes in its own header.
std::atomic<const ApiTable*> shared_table = nullptr;

/// duilian_model(path): reads a model, which becomes the default; returns 1, or an error that says what is
/// wrong.
void set_model(Context* context, int, Value** values) {
  const ApiTable* table = shared_table;
  auto* models = static_cast<SharedModels*>(routine<UserData>(table, Routine::user_data)(context));
  const unsigned char* path = routine<ValueText>(table, Routine::value_text)(values[0]);
  const std::string name = path == nullptr ? "" : reinterpret_cast<const char*>(path);
  try {
    (*models)->usual = (*models)->open(name);
    routine<ResultInt>(table, Routine::result_int)(context, 1);
  } catch (const std::exception& error) {
    (*models)->by_path.erase(name);
    const std::string message = name + ": " + error.what();
    routine<ResultError>(table, Routine::result_error)(context, message.c_str(), -1);
  }
}

void forget(void* kept) { delete static_cast<SharedModels*>(kept); }

[[nodiscard]] Fts5* find_fts5(Connection* connection, const ApiTable* table) {
  Fts5* found = nullptr;
  Statement* statement = nullptr;
  if (routine<Prepare>(table, Routine::prepare_v2)(connection, "SELECT fts5(?1)", -1, &statement, nullptr) ==
      kOk) {
    routine<BindPointer>(table, Routine::bind_pointer)(statement, 1, static_cast<void*>(&found),
                                                       "fts5_api_ptr", nullptr);
    routine<Step>(table, Routine::step)(statement);
  }
  routine<Finalize>(table, Routine::finalize)(statement);
  return found;
}

[[nodiscard]] int install(Connection* connection, const ApiTable* table) {
  Fts5* fts5 = find_fts5(connection, table);
  if (fts5 == nullptr || fts5->version < 2) return kError;
  shared_table = table;
  const auto models = std::make_shared<Models>();
  TokenizerMethods methods{create, destroy, tokenize};
  const int answer = fts5->create_tokenizer(fts5, "duilian", new SharedModels(models), &methods, forget);
  if (answer != kOk) return answer;
  return routine<CreateFunction>(table, Routine::create_function_v2)(
      connection, "duilian_model", 1, kUtf8, new SharedModels(models), set_model, nullptr, nullptr, forget);
}

}  // namespace

}  // namespace duilian::sqlite

extern "C" __attribute__((visibility("default"))) int sqlite3_extension_init(
    duilian::sqlite::Connection* connection, char** /*message*/, const duilian::sqlite::ApiTable* table) {
  try {
    return duilian::sqlite::install(connection, table);
  } catch (const std::exception&) {
    return duilian::sqlite::kError;
  }
}
