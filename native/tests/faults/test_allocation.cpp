// Lets memory run out at each of the first 500 allocations while loading, training and predicting. Each time
// there must be an exception, and the next attempt, with memory, must give the right answer.
#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include "../coupled/compiled_coupled.hpp"
#include "../score/random_predictor.hpp"
#include "check.hpp"
#include "duilian/features/dictionary.hpp"
#include "duilian/learn/batch.hpp"
#include "duilian/learn/rules.hpp"
#include "duilian/lexicon/word_list.hpp"
#include "duilian/score/stored_table.hpp"
#include "duilian/storage/byte_planes.hpp"
#include "duilian/two_chain/predictor.hpp"
#include "random.hpp"

namespace {

constexpr long kNever = -1;
std::atomic<long> left{kNever};  // allocations until one fails

[[nodiscard]] void* allocate(std::size_t size, std::size_t alignment) {
  if (left.load() != kNever && left.fetch_sub(1) == 0) {
    left = kNever;
    throw std::bad_alloc();
  }
  const std::size_t rounded = (std::max<std::size_t>(size, 1) + alignment - 1) / alignment * alignment;
  void* found = std::aligned_alloc(alignment, rounded);
  if (found == nullptr) throw std::bad_alloc();
  return found;
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
// As in the library, but with our own `new`, because a sanitizer brings its own.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return ::operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* what) noexcept { std::free(what); }
void operator delete(void* what, std::size_t) noexcept { std::free(what); }
void operator delete(void* what, std::align_val_t) noexcept { std::free(what); }
void operator delete(void* what, std::size_t, std::align_val_t) noexcept { std::free(what); }

using namespace duilian;
using namespace testing;

namespace {

constexpr long kSites = 500;

/// Makes each allocation of the work fail, up to kSites of them; the work returns whether its result is
/// right.
void exhaust(const char* name, const std::function<bool()>& work) {
  CHECK(work());
  long failures = 0;
  for (long site = 0; site < kSites; ++site) {
    bool is_done = false;
    left = site;
    try {
      is_done = work();
    } catch (const std::bad_alloc&) {
      ++failures;
    }
    const bool failed = left.exchange(kNever) == kNever;
    if (is_done && !failed) break;  // it makes no further allocations
  }
  CHECK(failures > 0);
  CHECK(work());
  std::printf("%s: %ld allocations failed\n", name, failures);
}

}  // namespace

TEST(a_tagger_without_memory) {
  Random random(1);
  const PredictorCase x(random, RuleKind::blocks, 20);
  const CompiledWeights weights = compile_weights(x.layout, x.weights, x.keys, 0.0F);
  const auto load = [&] {
    return std::make_unique<Predictor>(x.layout.labels, x.layout.rules, weights,
                                       parse_templates("w[0]\nw[-1] w[0]\nc[0,0] type[1]"), Folding());
  };
  exhaust("load a tagger", [&] { return load()->labels() == x.layout.labels; });
  const Predictor predictor = x.compile();
  std::int64_t impossible = 0;
  const auto wanted = predict(predictor, x.sentences, {}, 1, impossible);
  for (const std::size_t threads : {1, 3}) {
    exhaust("predict with a tagger", [&] {
      std::int64_t none = 0;
      return predict(predictor, x.sentences, {}, threads, none) == wanted;
    });
  }
}

TEST(a_coupled_tagger_without_memory) {
  Random random(2);
  const CompiledCase x(random);
  const CoupledWeights weights = x.compiled();
  const Sentences one = first_of(x.sentences);
  for (const double window : {0.0, 4.0}) {
    const Pruning pruning{2, 0.9, 0.0, window};
    const CoupledAnswers wanted = predict(x.predictor(weights, pruning), x.sentences, {}, true, 1);
    exhaust("load a coupled tagger and predict", [&] {
      return predict(x.predictor(weights, pruning), x.sentences, {}, true, 2).label == wanted.label;
    });
    const CoupledPredictor kept = x.predictor(weights, pruning);
    exhaust("predict with a coupled tagger",
            [&] { return predict(kept, x.sentences, {}, true, 2).label == wanted.label; });
    exhaust("the k best of a coupled tagger", [&] {
      double log_z = 0.0;
      return !k_best(kept, one, 0, {}, 3, log_z).empty();
    });
  }
}

TEST(fitting_without_memory) {
  Random random(3);
  const TaggerCase x = random_tagger(random, {RuleKind::blocks, Annotation::partial, 12});
  std::vector<std::int64_t> order(static_cast<std::size_t>(x.sentences()));
  std::iota(order.begin(), order.end(), 0);
  const auto fit = [&](std::size_t threads) {
    std::vector<float> weights = x.weights;
    std::int64_t steps = 0;
    double scale = 1.0;
    const TaggingObjective objective(x.layout, x.data);
    SgdRule rule{weights, 0.01, 10.0, &steps, &scale};
    static_cast<void>(run_pass(objective, rule, order, {4, threads}));
    return weights;
  };
  const auto wanted = fit(1);
  exhaust("fit a tagger", [&] { return fit(1) == wanted; });
  exhaust("fit a tagger with threads", [&] { return fit(3) == wanted; });
}

TEST(two_chains_without_memory) {
  const Succession free{4, std::vector<std::uint8_t>(25, 1)};
  TwoChainOptions options{4, 3, free, {0, 0, 1, 1}, true, {{Clique::letter, 0}, {Clique::letter_tag, -1}}};
  const TwoChainShape shape(options);
  const TwoChainPatterns patterns{parse_templates("w[0]"), {3}};
  TwoChainWeights weights;
  weights.slot.assign(4, kNoSlot);
  weights.clique.assign(shape.clique_weights(), 0.5F);
  Sentences sentences(Folding(), {});
  sentences.add(std::vector<std::string>{"中", "国", "人"}, {});
  const auto answer = [&] {
    const TwoChainPredictor predictor(shape, patterns, weights, Folding{});
    return predict(predictor, sentences, TwoChainMode::joint, {}, 1).tag.size();
  };
  exhaust("load two chains and predict", [&] { return answer() == 3; });
}

TEST(stored_arrays_without_memory) {
  Random random(4);
  const PredictorCase x(random, RuleKind::blocks, 20);
  const CompiledWeights weights = compile_weights(x.layout, x.weights, x.keys, 0.0F);
  const std::span<const std::uint8_t> labels(reinterpret_cast<const std::uint8_t*>(weights.label.data()),
                                             2 * weights.label.size());
  exhaust("code an array and decode it", [&] {
    std::vector<std::uint8_t> found(labels.size());
    decode_planes(encode_planes(labels, 2), 2, found);
    return std::equal(found.begin(), found.end(), labels.begin(), labels.end());
  });
  const std::vector<std::uint8_t> used = {0b0100'0001};
  const std::vector<std::uint32_t> check = {7, 8};
  const std::vector<std::uint16_t> size = {1, 3}, first = {5, 0}, step = {0, 300};
  exhaust("unpack a table", [&] {
    WeightTable table;
    unpack({8, used, check, size, first, step}, table.slot, table.label);
    return table.slot.size() == 8 && table.label.back() == (302 | kLastEntry);
  });
}

TEST(lists_of_words_without_memory) {
  const std::vector<std::u32string> words = {U"中", U"中国", U"国人"};
  exhaust("load a dictionary", [&] {
    const Dictionary found(make_trie(words, std::vector<std::uint32_t>{3, 2, 1},
                                     std::vector<std::uint8_t>{0, 0, 1}, {"n", "v"}));
    return found.words() == words;
  });
  exhaust("read a lexicon", [] {
    WordList found;
    const std::string_view lines = "我们\tr|n\t5\n北京\tns\n图书馆\t\t3\n";
    return found.add_lines(lines, 1e6) == lines.size() && found.size() == 3;
  });
}
