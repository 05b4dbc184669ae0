// Compares our declarations of SQLite's interface with its own header, if that is installed.
#include "../../sqlite/sqlite_abi.hpp"
#include "check.hpp"

#if __has_include(<sqlite3ext.h>)
#include <sqlite3ext.h>

using namespace duilian::sqlite;

#define PLACE(name) (offsetof(sqlite3_api_routines, name) / sizeof(void*))
#define CHECK_PLACE(name) CHECK(PLACE(name) == static_cast<std::size_t>(Routine::name))

TEST(functions_are_where_we_look_for_them) {
  CHECK_PLACE(finalize);
  CHECK_PLACE(result_error);
  CHECK_PLACE(result_int);
  CHECK_PLACE(step);
  CHECK_PLACE(user_data);
  CHECK_PLACE(value_text);
  CHECK_PLACE(prepare_v2);
  CHECK_PLACE(create_function_v2);
  CHECK_PLACE(bind_pointer);
  CHECK(sizeof(sqlite3_api_routines) > PLACE(bind_pointer) * sizeof(void*));
}

TEST(fts5_has_our_layout) {
  CHECK(offsetof(fts5_api, xCreateTokenizer) == offsetof(Fts5, create_tokenizer));
  CHECK(offsetof(fts5_tokenizer, xTokenize) == offsetof(TokenizerMethods, tokenize));
  CHECK(sizeof(fts5_tokenizer) == sizeof(TokenizerMethods));
  CHECK(FTS5_TOKENIZE_QUERY == kIsQuery);
  CHECK(FTS5_TOKEN_COLOCATED == kColocated);
  CHECK(SQLITE_UTF8 == kUtf8);
}
#else
TEST(not_compared_without_sqlites_header) { std::printf("not run: sqlite3ext.h is not installed\n"); }
#endif
