// Where the weights of a coupled model are during training, and the sentences that it learns from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "duilian/coupled/shape.hpp"
#include "duilian/score/tagging.hpp"

namespace duilian {

/// The weights of a coupled model: those of side k begin at side_at[k] and are laid out like a plain
/// tagger's; then come the transitions of the joint parts; then, for feature row r, the joint state weights
/// [joint_first[r], joint_first[r + 1]), one per joint label.
struct CoupledLayout {
  CoupledShape shape;
  std::vector<TaggerLayout> separate;
  std::vector<std::int64_t> side_at;
  std::vector<std::int64_t> joint_transition_at;
  std::int64_t joint_state_at = 0;
  std::vector<std::int64_t> joint_first{0};  // [rows + 1]
  std::vector<std::uint16_t> joint_label;
  std::int64_t weights = 0;

  [[nodiscard]] WeightView side(WeightView weights_view, std::size_t k) const {
    return {weights_view.value.subspan(static_cast<std::size_t>(side_at[k]),
                                       static_cast<std::size_t>(separate[k].weights())),
            weights_view.scale};
  }
  [[nodiscard]] CoupledTransitions transitions(WeightView weights_view) const;

  /// Whether searching the joint weights [begin, end) for this many labels is faster than scanning them.
  [[nodiscard]] static bool is_long(std::int64_t begin, std::int64_t end, std::size_t wanted) {
    return end - begin > static_cast<std::int64_t>(16 * wanted);
  }
  /// Calls visit(item, weight) for each item that has a weight there; the items ascend by label(item).
  template <class Items, class Label, class Visit>
  void for_each_of(const Items& items, std::int64_t begin, std::int64_t end, const Label& label,
                   const Visit& visit) const {
    auto at = joint_label.begin() + begin;
    const auto last = joint_label.begin() + end;
    for (const auto& item : items) {
      at = std::lower_bound(at, last, static_cast<std::uint16_t>(label(item)));
      if (at == last) return;
      if (*at == label(item)) visit(item, at - joint_label.begin());
    }
  }
};

/// The sentences of all sides. label[u] belongs to the side of its sentence; < 0 as in TaggingData. `held` is
/// what is known about the labels of the other sides.
struct CoupledData {
  FeatureRows features;
  std::vector<std::int64_t> first{0};  // [sentences + 1]  in units
  std::vector<std::int32_t> side;      // [sentences]
  std::vector<std::int32_t> label;     // [units]
  TagSets sets;                        // [units], or no positions
  std::vector<TagSets> candidates;     // [sides][units]  pruned beforehand; empty: the model prunes
  std::vector<TagSets> held;           // [sides][units], or empty, or empty for a side

  /// The labels that annotation allows on side k at a unit of a sentence of side `own`; empty if all are
  /// allowed.
  [[nodiscard]] std::span<const TagId> known(std::size_t own, std::size_t k, std::int64_t unit) const;
};

void check(const CoupledData& data, const CoupledShape& shape);

struct JointOptions {
  std::int64_t min_count = 3;        // features seen less often have no joint weights
  std::int32_t max_linked = 1024;    // bundles of a part with transition weights
  std::int32_t max_bundles = 16384;  // bundles of a part; the most frequent are kept
};

/// Features and bundles have a joint weight if they occur together when the label of a sentence's own side is
/// combined with the `latent` candidates ([sides][units]) of the others. `parts`: the sides of each joint
/// part.
[[nodiscard]] CoupledLayout lay_out_coupled(CoupledShape shape, std::vector<TaggerLayout> separate,
                                            const CoupledData& data, std::span<const TagSets> latent,
                                            const std::vector<std::vector<std::int32_t>>& parts,
                                            JointOptions options);

/// Where the transitions and the weights of the rows in use are, as pairs of a begin and an end.
[[nodiscard]] std::vector<std::int64_t> weight_ranges(const CoupledLayout& layout,
                                                      std::span<const std::uint8_t> is_used);

/// Whether every side must have label sets.
enum class Coverage : std::uint8_t { every_side, some_sides };

/// Throws std::invalid_argument unless the sets ([sides][units], or none) match the shape.
void check_sets(std::span<const TagSets> sets, const CoupledShape& shape, std::int64_t units,
                Coverage coverage);
/// Throws std::invalid_argument if a feature row is out of range.
void check_rows(const FeatureRows& features, std::int64_t rows);

}  // namespace duilian
