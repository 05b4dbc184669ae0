// Our own declarations of what this extension needs from SQLite: the table of functions that SQLite hands to
// every extension (its order never changes; new functions are appended), and FTS5's interface for tokenizers.
// Both are documented at sqlite.org; native/tests/sqlite compares them with SQLite's own header if that is
// installed.
#pragma once

#include <cstddef>

namespace duilian::sqlite {

struct Connection;
struct Statement;
struct Context;
struct Value;
struct ApiTable;  // an array of function pointers

inline constexpr int kOk = 0;
inline constexpr int kError = 1;
inline constexpr int kUtf8 = 1;

/// Indices into the table.
enum class Routine : std::size_t {
  finalize = 57,
  result_error = 80,
  result_int = 82,
  step = 94,
  user_data = 101,
  value_text = 109,
  prepare_v2 = 116,
  create_function_v2 = 162,
  bind_pointer = 219,
};

template <class Function>
[[nodiscard]] Function* routine(const ApiTable* table, Routine which) {
  using Any = void (*)();
  return reinterpret_cast<Function*>(reinterpret_cast<const Any*>(table)[static_cast<std::size_t>(which)]);
}

using Destroy = void(void*);
using Finalize = int(Statement*);
using ResultError = void(Context*, const char*, int);
using ResultInt = void(Context*, int);
using Step = int(Statement*);
using UserData = void*(Context*);
using ValueText = const unsigned char*(Value*);
using Prepare = int(Connection*, const char*, int, Statement**, const char**);
using Call = void(Context*, int, Value**);
using CreateFunction = int(Connection*, const char*, int, int, void*, Call*, Call*, void (*)(Context*),
                           Destroy*);
using BindPointer = int(Statement*, int, void*, const char*, Destroy*);

inline constexpr int kIsQuery = 1;    // FTS5_TOKENIZE_QUERY
inline constexpr int kColocated = 1;  // FTS5_TOKEN_COLOCATED

struct Tokenizer;  // ours, opaque to FTS5
using Token = int(void* context, int flags, const char* token, int size, int start, int end);

struct TokenizerMethods {
  int (*create)(void* data, const char** arguments, int count, Tokenizer** out);
  void (*destroy)(Tokenizer*);
  int (*tokenize)(Tokenizer*, void* context, int flags, const char* text, int size, Token* token);
};

struct Fts5 {
  int version;
  int (*create_tokenizer)(Fts5*, const char* name, void* data, TokenizerMethods*, Destroy*);
  // more members follow, which we do not call
};

}  // namespace duilian::sqlite
