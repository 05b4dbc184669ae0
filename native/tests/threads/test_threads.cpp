// Tests a team of threads, and predictors that eight callers share; also run with the thread sanitizer.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "../coupled/compiled_coupled.hpp"
#include "../score/random_predictor.hpp"
#include "check.hpp"
#include "duilian/parallel.hpp"
#include "random.hpp"

// Sanitizers need more address space than the limit allows.
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define DUILIAN_LIMITS_MEMORY
#endif

using namespace duilian;
using namespace testing;

namespace {

constexpr std::size_t kCallers = 8;

/// Eight threads ask at once, several times each; returns how many answers were wrong.
[[nodiscard]] int wrong_answers(const std::function<bool()>& is_right) {
  std::atomic<int> wrong{0};
  std::vector<std::jthread> callers;
  for (std::size_t k = 0; k < kCallers; ++k) {
    callers.emplace_back([&] {
      for (int turn = 0; turn < 5; ++turn) {
        if (!is_right()) ++wrong;
      }
    });
  }
  callers.clear();
  return wrong;
}

#if defined(DUILIAN_LIMITS_MEMORY)
/// The exit status of a process that starts a team without memory for its threads; 1 after 20 seconds.
[[nodiscard]] int exit_without_memory() {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const rlimit limit{std::size_t{256} << 20U, std::size_t{256} << 20U};
    setrlimit(RLIMIT_AS, &limit);
    try {
      const Team team(Team::kMaxThreads);
    } catch (const std::system_error&) {
      _exit(0);
    } catch (const std::bad_alloc&) {
      _exit(0);
    }
    _exit(2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
#endif

}  // namespace

TEST(a_team_does_every_piece_once) {
  Team team(kCallers);
  std::vector<int> done(1000, 0);
  for (int round = 1; round <= 20; ++round) {
    team.for_each(done.size(), [&](std::size_t, std::size_t piece) { ++done[piece]; });
    CHECK(done == std::vector<int>(1000, round));
  }
}

TEST(a_team_survives_failures_that_reach_the_caller) {
  Team team(kCallers);
  for (int round = 0; round < 20; ++round) {
    CHECK_THROWS(team.run([](std::size_t thread) {
      if (thread % 2 == 0) throw std::runtime_error("no");
    }),
                 std::runtime_error);
  }
  std::atomic<int> count{0};
  team.run([&](std::size_t) { ++count; });
  CHECK(count == static_cast<int>(kCallers));
}

#if defined(DUILIAN_LIMITS_MEMORY)
TEST(a_team_that_cannot_start_is_refused) { CHECK(exit_without_memory() == 0); }
#endif

TEST(eight_callers_share_a_tagger) {
  Random random(1);
  const PredictorCase x(random, RuleKind::free, 20);
  const Predictor predictor = x.compile();
  std::int64_t impossible = 0;
  const auto wanted = predict(predictor, x.sentences, {}, 1, impossible);
  CHECK(wrong_answers([&] {
          std::int64_t none = 0;
          return predict(predictor, x.sentences, {}, 2, none) == wanted;
        }) == 0);
}

TEST(eight_callers_share_a_coupled_tagger) {
  for_each_seed(4, [](Random& random) {
    const CompiledCase x(random);
    // With coarse pruning, the table of exact scores is built by whoever needs it first.
    const double window = random.chance(0.5) ? 4.0 : 0.0;
    const CoupledPredictor reference = x.predictor(x.compiled(), {2, 0.9, 0.0, window});
    const CoupledAnswers wanted = predict(reference, x.sentences, {}, true, 1);
    double log_z = 0.0;
    const Sentences one = first_of(x.sentences);
    const auto best = k_best(reference, one, 0, {}, 2, log_z);
    const CoupledPredictor predictor = x.predictor(x.compiled(), {2, 0.9, 0.0, window});
    CHECK(wrong_answers([&] {
            const CoupledAnswers found = predict(predictor, x.sentences, {}, true, 2);
            double z = 0.0;
            const auto again = k_best(predictor, one, 0, {}, 2, z);
            return found.label == wanted.label && found.p == wanted.p && z == log_z &&
                   again.size() == best.size();
          }) == 0);
  });
}
