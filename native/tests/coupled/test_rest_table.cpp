// Compares the table of weights that do not prune with a plain list of them.
#include <numeric>
#include <vector>

#include "check.hpp"
#include "duilian/coupled/rest_table.hpp"
#include "random.hpp"

using namespace duilian;

namespace {

constexpr std::int32_t kFirst = 70, kSecond = 5, kThird = 90;

/// Three sides, of which the first and the last have a pruner, and one joint part.
[[nodiscard]] CoupledShape three_sides(std::int32_t bundles) {
  CoupledShape shape = make_shape({kFirst, kSecond, kThird}, std::vector<Succession>(3), {});
  std::vector<TagId> known;
  for (TagId b = 0; b < bundles; ++b) known.insert(known.end(), {b % kFirst, b / kFirst});
  add_joint_part(shape, {0, 1}, known, 0);
  return shape;
}

/// The weights of one feature, by label of the table.
using Feature = std::vector<float>;

[[nodiscard]] Feature random_feature(testing::Random& random, std::size_t labels) {
  Feature out(labels, 0.0F);
  const double share = random.chance(0.5) ? 0.02 : random.real(0.0, 1.0);
  for (float& weight : out) weight = random.chance(share) ? static_cast<float>(random.real(-2.0, 2.0)) : 0.0F;
  out[random.chance(0.5) ? 0 : labels - 1] = 1.0F;  // no feature is empty
  return out;
}

}  // namespace

TEST(the_weights_that_do_not_prune_are_found) {
  testing::Random random(3);
  const CoupledShape shape = three_sides(200);
  CoupledWeights weights{{}, {}, {0, 2}};
  const auto pruners = static_cast<std::size_t>(kFirst + kThird);
  const std::size_t joint_at = pruners + kFirst + kSecond + kThird, labels = joint_at + 200;
  std::vector<Feature> features;
  for (int n = 0; n < 60; ++n) {
    const Feature& own = features.emplace_back(random_feature(random, labels));
    const std::size_t begin = weights.table.label.size();
    for (std::size_t l = 0; l < labels; ++l) {
      if (own[l] != 0.0F) weights.table.add(static_cast<std::uint16_t>(l), own[l]);
    }
    CHECK(weights.table.end_feature(begin));
  }
  RestTable table(shape, weights);
  const auto begins = table.take_begins();
  CHECK(begins.size() == features.size());
  const std::vector<TagId> first = {0, 31, 32, 63, 64, 69}, third = {1, 5, 65, 89};
  const std::vector<std::span<const TagId>> wanted = {first, third};
  const std::vector<std::int32_t> bundles = {0, 63, 64, 100, 199};
  for (std::size_t f = 0; f < features.size(); ++f) {
    std::vector<float> row(static_cast<std::size_t>(kFirst + kThird), 0.0F);
    if (begins[f].sides != kNoEntry) table.add_sides(begins[f].sides, wanted, row.data());
    for (const TagId l : first)
      CHECK(row[static_cast<std::size_t>(l)] == features[f][pruners + static_cast<std::size_t>(l)]);
    for (const TagId l : third)
      CHECK(row[static_cast<std::size_t>(kFirst + l)] ==
            features[f][pruners + kFirst + kSecond + static_cast<std::size_t>(l)]);
    std::vector<std::int32_t> slot(200, 0);
    std::vector<double> sum(bundles.size() + 1, 0.0);
    for (std::size_t k = 0; k < bundles.size(); ++k)
      slot[static_cast<std::size_t>(bundles[k])] = static_cast<std::int32_t>(k + 1);
    if (begins[f].joint != kNoEntry) table.add_joint(begins[f].joint, bundles, slot.data(), sum.data());
    for (std::size_t k = 0; k < bundles.size(); ++k)
      CHECK(sum[k + 1] == static_cast<double>(features[f][joint_at + static_cast<std::size_t>(bundles[k])]));
  }
}
