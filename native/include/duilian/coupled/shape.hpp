// The shape of a coupled model: sides (one per standard) with their own labels, and joint parts that couple
// them. The score of a path of bundles, one label per side, is
//
//   Σ_t  Σ_parts joint_p(x, t, bundle'_p, bundle_p) + Σ_sides separate_k(x, t, label'_k, label_k)
//                                                                       (Eq. 8, Li et al. 2017)
//
// The bundle of a joint part has the labels of that part's sides. With two sides, there is one part, and this
// is the model of the papers; with more, each pair of sides has its own part, so the number of bundles grows
// with the number of pairs, not with the product of all label sets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "duilian/chain/label_transitions.hpp"
#include "duilian/features/index.hpp"
#include "duilian/lattice/lattice.hpp"

namespace duilian {

/// Numbers bundles exactly, by mixed radix over the label counts of the sides.
class BundleIndex {
 public:
  BundleIndex() = default;
  explicit BundleIndex(std::span<const std::int32_t> labels);
  std::int32_t insert(std::span<const TagId> bundle);
  [[nodiscard]] std::int32_t find(std::span<const TagId> bundle) const;  // -1 if unknown
  /// The bundle made of these sides of `tags`.
  [[nodiscard]] std::int32_t find(std::span<const TagId> tags, std::span<const std::int32_t> sides) const;
  /// The same for two sides.
  [[nodiscard]] std::int32_t find_pair(TagId a, TagId b) const {
    const TagId bundle[2] = {a, b};
    return dense_.empty() ? find(bundle)
                          : dense_[static_cast<std::uint64_t>(a) + radix_[1] * static_cast<std::uint64_t>(b)];
  }
  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(table_.size()); }
  [[nodiscard]] const std::vector<TagId>& bundles() const { return bundles_; }  // [size][sides]

 private:
  [[nodiscard]] std::uint64_t key(std::span<const TagId> bundle) const;
  [[nodiscard]] std::int32_t find(std::uint64_t key) const;
  std::vector<std::uint64_t> radix_;
  KeyTable table_;
  std::vector<std::int32_t> dense_;  // [all bundles], unless there are too many; -1 if unknown
  std::vector<TagId> bundles_;
};

/// The sides that a joint part couples. The labels of all parts are numbered consecutively: bundle b of this
/// part is joint label offset + b. The first `linked` bundles (the most frequent) have transition weights,
/// [linked + 1][linked + 1], start and stop last.
struct JointPart {
  std::vector<std::int32_t> sides;
  BundleIndex bundles;
  std::int32_t offset = 0;
  std::int32_t linked = 0;

  [[nodiscard]] std::int64_t transitions() const {
    return static_cast<std::int64_t>(linked + 1) * (linked + 1);
  }
};

/// Which labels a unit can have and which may follow which, without weights.
struct CoupledShape {
  std::vector<std::int32_t> labels;     // [sides]
  std::vector<Succession> rules;        // [sides]
  std::vector<TransitionShape> shapes;  // [sides]
  std::vector<SideMapping> mappings;    // empty: every label combines with every other
  std::vector<JointPart> joint;

  [[nodiscard]] std::size_t sides() const { return labels.size(); }
  /// Whether every label may follow every other, on all sides.
  [[nodiscard]] bool is_free() const {
    return std::all_of(rules.begin(), rules.end(), [](const Succession& each) { return each.is_free(); });
  }
  [[nodiscard]] std::int32_t joint_labels() const {
    return joint.empty() ? 0 : joint.back().offset + joint.back().bundles.size();
  }
};

[[nodiscard]] CoupledShape make_shape(std::vector<std::int32_t> labels, std::vector<Succession> rules,
                                      std::vector<SideMapping> mappings);

/// Adds a part that knows these bundles, [n][sides], the most frequent first.
void add_joint_part(CoupledShape& shape, std::vector<std::int32_t> sides, std::span<const TagId> bundles,
                    std::int32_t linked);

/// Transition scores of every side and part, ready for use; kForbidden where the rules forbid.
struct CoupledTransitions {
  std::vector<LabelTransitions> side;         // for the chains of single sides
  std::vector<std::vector<float>> table;      // [sides]  [L + 1][L + 1]
  std::vector<std::span<const float>> joint;  // [parts]  [linked + 1][linked + 1]
  float scale = 1.0F;                         // for `joint`
};

/// `side[k]` and `joint[p]` are weights, to be multiplied by `scale`. The shape must outlive the result.
[[nodiscard]] CoupledTransitions make_transitions(const CoupledShape& shape,
                                                  std::span<const std::span<const float>> side,
                                                  std::span<const std::span<const float>> joint, float scale);

}  // namespace duilian
