// Compares the features that are found at once, or remembered, with those of one key after another.
#include <vector>

#include "check.hpp"
#include "duilian/features/finder.hpp"
#include "random.hpp"
#include "score/random_predictor.hpp"

using namespace duilian;

namespace {

/// Some of these have several features, or none.
constexpr const char* kSeveral = "w[0]\nc[0,*]\nprefix[0,1..2]\ntype[1]\nw[2] if not single[0]";

/// Knows half of all keys, and counts how often it is asked.
struct HalfTable {
  mutable std::size_t asked = 0;

  void prefetch(std::uint64_t /*key*/) const {}
  [[nodiscard]] std::uint32_t find(std::uint64_t key) const {
    ++asked;
    return (key & 1U) != 0 ? static_cast<std::uint32_t>(key >> 33U) : kNotFound;
  }
};

}  // namespace

TEST(features_are_found_like_their_keys) {
  testing::Random random(12);
  const char* const flat = "w[-1]\nw[0]\nw[2]\nw[-1] w[0]\ntype[-1] type[0] type[1]\nsame[-2,0]\nlen[0] bias";
  for (const char* templates : {flat, kSeveral, "w[0]", "w[0] w[1]"}) {
    const TemplateSet set = parse_templates(templates);
    const FeatureFinder<HalfTable> finder(set);
    FeatureFinder<HalfTable>::Work work;
    const HalfTable table;
    std::size_t keys = 0;
    for (int round = 0; round < 20; ++round) {
      const Sentences sentences = testing::small_texts(random, 6);
      for (std::int64_t s = 0; s < sentences.size(); ++s) {
        FeatureKeys wanted;
        extract_keys(set, sentences, s, s + 1, wanted);
        finder.find(table, sentences, s, work);
        CHECK(work.first == wanted.first);
        CHECK(work.found.size() == wanted.value.size());
        for (std::size_t k = 0; k < wanted.value.size(); ++k)
          CHECK(work.found[k] == HalfTable().find(wanted.value[k]));
        keys += wanted.value.size();
      }
    }
    CHECK(templates != flat || table.asked < keys / 2);  // single values are remembered
  }
}

TEST(flat_templates_have_the_keys_of_all_others) {
  testing::Random random(13);
  const TemplateSet set = parse_templates(
      "w[-2]\nw[1] w[0]\nw[-1] w[0] w[1]\ntype[-1] type[0]\nsame[-1,0]\nsame[2,-1]\nlen[1]\nbias");
  const AnchorTemplates anchors(set);
  CHECK(anchors.is_flat());
  CHECK(!AnchorTemplates(parse_templates(kSeveral)).is_flat());
  FeatureKeys found;
  std::vector<std::uint64_t> scratch;
  for (int round = 0; round < 50; ++round) {
    const Sentences sentences = testing::small_texts(random, 6);
    for (std::int64_t s = 0; s < sentences.size(); ++s) {
      FeatureKeys wanted;
      extract_keys(set, sentences, s, s + 1, wanted);
      anchors.extract(sentences, s, {}, found, scratch, nullptr);
      CHECK(found.first == wanted.first && found.value == wanted.value);
    }
  }
}
