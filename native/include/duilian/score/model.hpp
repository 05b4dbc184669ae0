// A linear model over bundles: where each weight lives. The score of a path is
//
//   Σ_t  joint(x, t, bundle', bundle) + Σ_sides separate_k(x, t, tag'_k, tag_k)        (Eq. 8, Li et al.
//   2017)
//
// and each of these parts has state weights (feature × label) and transition weights (label' × label). For a
// separate part a label is a tag of its side; for the joint part it is a bundle. A plain CRF is one side and
// no joint part. All weights lie in one vector, so that a learner need not know what they mean.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "duilian/features/extract.hpp"
#include "duilian/features/index.hpp"
#include "duilian/lattice/lattice.hpp"

namespace duilian {

/// Start and stop where the number of labels is still growing.
inline constexpr std::int32_t kSparseEdge = 0x7FFFFFFF;

/// Feature row r has the state weights [first[r], first[r + 1]), one for each label that it was seen with;
/// counted from `state_at` in the weight vector.
struct Part {
  std::int32_t labels = 0;
  std::vector<std::int64_t> first{0};  // [rows + 1]
  std::vector<std::int32_t> label;     // [state weights]  ascending within a row
  std::int64_t state_at = 0;
  std::int64_t transition_at = 0;
  // Separate parts have every transition, [L + 1][L + 1]. The joint part has those of the training data
  // only: `transitions` numbers them. Start and stop are the label edge().
  bool is_dense = true;
  KeyTable transitions;

  [[nodiscard]] std::int32_t edge() const { return is_dense ? labels : kSparseEdge; }

  /// Where the weight of (before, after) lies in the weight vector; -1 if there is none.
  [[nodiscard]] std::int64_t transition(std::int32_t before, std::int32_t after) const;
  [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(first.size()) - 1; }
};

/// Numbers the bundles that the joint part knows; exact, by mixed radix over the sides' tag counts.
class BundleIndex {
 public:
  BundleIndex() = default;
  explicit BundleIndex(std::span<const std::int32_t> tags);
  std::int32_t insert(std::span<const TagId> bundle);
  [[nodiscard]] std::int32_t find(std::span<const TagId> bundle) const;  // -1 if unknown
  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(table_.size()); }
  [[nodiscard]] const std::vector<TagId>& bundles() const { return bundles_; }  // [size][sides]

 private:
  [[nodiscard]] std::uint64_t key(std::span<const TagId> bundle) const;
  std::vector<std::uint64_t> radix_;
  KeyTable table_;
  std::vector<TagId> bundles_;
};

struct Model {
  std::vector<std::int32_t> tags;  // [sides]
  std::vector<Part> separate;      // [sides]
  std::optional<Part> joint;
  BundleIndex bundles;
  std::vector<Succession> successions;  // [sides]
  std::int64_t weights = 0;             // how many in all
  std::int64_t dense = 0;               // the first so many are the sides' transitions
};

/// One sentence to learn from: `possible` is the search space, `correct` the part that the corpus allows.
struct Example {
  std::int64_t first_unit = 0;  // in the feature rows
  Lattice possible;
  Lattice correct;
};

enum class JointFeatures : std::uint8_t { none, correct, possible };

/// Lays out a model for these examples. A separate weight exists for every feature and tag that meet in some
/// correct lattice; a joint weight for every feature and bundle that meet in a correct (or possible) one.
[[nodiscard]] Model lay_out_model(std::vector<std::int32_t> tags, std::vector<Succession> successions,
                                  std::int64_t rows, const FeatureRows& features,
                                  std::span<const Example> examples, JointFeatures joint);

}  // namespace duilian
