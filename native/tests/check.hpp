// A test program in one header: TEST registers, CHECK reports, main runs. There is no framework, because the
// core must build and be tested with nothing but a compiler. Include it in one source per program.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace testing {

struct Test {
  const char* name;
  void (*run)();
};

/// The registered tests, and the state of the current one.
struct Record {
  static constexpr int kShown = 10;  // a broken law fails in every random case; the first few are enough
  std::vector<Test> tests;
  int failures = 0;
  std::int64_t seed = -1;  // of the current random case; -1 outside
};

inline Record& record() {
  static Record kept;
  return kept;
}

struct Registration {
  Registration(const char* name, void (*run)()) { record().tests.push_back({name, run}); }
};

inline void fail(const char* file, int line, const std::string& message) {
  Record& now = record();
  if (++now.failures > Record::kShown) return;
  const std::string seed = now.seed < 0 ? "" : " (seed " + std::to_string(now.seed) + ")";
  std::printf("%s:%d: %s%s\n", file, line, message.c_str(), seed.c_str());
}

/// Also true for equal infinities, whose difference is not a number.
[[nodiscard]] inline bool is_near(double a, double b, double tolerance) {
  return a == b || std::abs(a - b) <= tolerance;
}

inline void check_near(const char* file, int line, const char* text, double a, double b, double tolerance) {
  if (is_near(a, b, tolerance)) return;
  std::ostringstream out;
  out.precision(17);
  out << text << ": " << a << " and " << b << " differ by " << a - b << ", allowed " << tolerance;
  fail(file, line, out.str());
}

/// The message of the Error that the call throws; fails the test if it does not throw.
template <class Error, class Call>
std::string thrown_message(const char* file, int line, const char* text, const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  fail(file, line, std::string(text) + " did not throw");
  return "";
}

inline void check_message(const char* file, int line, std::string_view found, std::string_view wanted) {
  if (found.starts_with(wanted)) return;
  fail(file, line, "expected a message '" + std::string(wanted) + "…', found '" + std::string(found) + "'");
}

/// Whether the test passes. An unexpected exception is a failure, not the end of the program.
inline bool passes(const Test& test) {
  record().failures = 0;
  try {
    test.run();
  } catch (const std::exception& error) {
    fail(test.name, 0, std::string("threw ") + error.what());
  }
  record().seed = -1;
  if (record().failures > 0) std::printf("FAILED %s: %d failures\n", test.name, record().failures);
  return record().failures == 0;
}

}  // namespace testing

#define TEST(name)                                                     \
  static void name();                                                  \
  static const testing::Registration name##_registration{#name, name}; \
  static void name()

#define CHECK(...) ((__VA_ARGS__) ? void() : testing::fail(__FILE__, __LINE__, "not true: " #__VA_ARGS__))

#define CHECK_NEAR(a, b, tolerance)                                                                    \
  testing::check_near(__FILE__, __LINE__, #a " ≈ " #b, static_cast<double>(a), static_cast<double>(b), \
                      tolerance)

#define CHECK_THROWS(expression, error)                                             \
  static_cast<void>(testing::thrown_message<error>(__FILE__, __LINE__, #expression, \
                                                   [&] { static_cast<void>(expression); }))

/// The message of the error must begin with `start`.
#define CHECK_THROWS_WITH(expression, error, start)                                              \
  testing::check_message(__FILE__, __LINE__,                                                     \
                         testing::thrown_message<error>(__FILE__, __LINE__, #expression,         \
                                                        [&] { static_cast<void>(expression); }), \
                         start)

int main() {
  int passed = 0;
  int failed = 0;
  for (const testing::Test& test : testing::record().tests) ++(testing::passes(test) ? passed : failed);
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}
