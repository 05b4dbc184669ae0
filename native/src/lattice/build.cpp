// Builds lattices: all bundles, the product of candidates under mappings, and what legal paths leave.
#include <algorithm>
#include <limits>
#include <stdexcept>

#include "duilian/concat.hpp"
#include "duilian/lattice/lattice.hpp"

namespace duilian {

namespace {

// A product this large must be a mistake: say so before memory runs out.
constexpr std::size_t kMaxStates = std::size_t{1} << 26;

[[nodiscard]] bool mappings_allow(std::span<const TagId> bundle, std::span<const SideMapping> mappings) {
  return std::all_of(mappings.begin(), mappings.end(),
                     [bundle](const SideMapping& m) { return m(bundle[m.side_a], bundle[m.side_b]); });
}

/// Counts through the product like an odometer, last side fastest: in lexicographic order.
class Odometer {
 public:
  explicit Odometer(std::span<const TagSets> sides, std::int32_t t) : digit_(sides.size(), 0) {
    for (const auto& side : sides) wheel_.push_back(side.at(t));
    is_done_ = std::any_of(wheel_.begin(), wheel_.end(), [](auto tags) { return tags.empty(); });
  }
  [[nodiscard]] bool is_done() const { return is_done_; }
  void read(std::vector<TagId>& bundle) const {
    for (std::size_t k = 0; k < wheel_.size(); ++k) bundle[k] = wheel_[k][digit_[k]];
  }
  void advance() {
    for (std::size_t k = wheel_.size(); k-- > 0;) {
      if (++digit_[k] < wheel_[k].size()) return;
      digit_[k] = 0;
    }
    is_done_ = true;
  }

 private:
  std::vector<std::span<const TagId>> wheel_;
  std::vector<std::size_t> digit_;
  bool is_done_ = false;
};

void check_mapping(const SideMapping& m, std::span<const TagSets> sides) {
  const auto inside = [&](std::int32_t side) {
    return side >= 0 && static_cast<std::size_t>(side) < sides.size();
  };
  if (!inside(m.side_a) || !inside(m.side_b) || m.tags_b < 1) {
    throw std::invalid_argument("a mapping names a side that does not exist");
  }
  if (m.allows.size() % static_cast<std::size_t>(m.tags_b) != 0)
    throw std::invalid_argument("a mapping must be a matrix");
  const auto tags_a = m.allows.size() / static_cast<std::size_t>(m.tags_b);
  const auto fits = [&](std::int32_t side, std::size_t tags) {
    const auto& all = sides[side].tag;
    return std::all_of(all.begin(), all.end(),
                       [&](TagId tag) { return static_cast<std::size_t>(tag) < tags; });
  };
  if (!fits(m.side_a, tags_a) || !fits(m.side_b, static_cast<std::size_t>(m.tags_b))) {
    throw std::invalid_argument("a candidate tag lies outside the mapping");
  }
}

[[nodiscard]] bool may_follow(const Lattice& x, std::int32_t i, std::int32_t j,
                              std::span<const Succession> rules) {
  const auto before = x.bundle(i);
  const auto after = x.bundle(j);
  for (std::size_t k = 0; k < rules.size(); ++k) {
    if (!rules[k](before[k], after[k])) return false;
  }
  return true;
}

[[nodiscard]] bool may_start(std::span<const TagId> bundle, std::span<const Succession> rules) {
  for (std::size_t k = 0; k < rules.size(); ++k) {
    if (!rules[k](rules[k].tags, bundle[k])) return false;
  }
  return true;
}

[[nodiscard]] bool may_end(std::span<const TagId> bundle, std::span<const Succession> rules) {
  for (std::size_t k = 0; k < rules.size(); ++k) {
    if (!rules[k](bundle[k], rules[k].tags)) return false;
  }
  return true;
}

void check_successions(const Lattice& lattice, std::span<const Succession> rules) {
  if (rules.size() != static_cast<std::size_t>(lattice.sides)) {
    throw std::invalid_argument(concat("expected one succession per side, got ", rules.size(),
                                       " successions for ", lattice.sides, " sides"));
  }
  for (std::size_t k = 0; k < rules.size(); ++k) {
    if (rules[k].is_free()) continue;
    const auto edge = static_cast<std::size_t>(rules[k].tags) + 1;
    if (rules[k].allows.size() != edge * edge)
      throw std::invalid_argument("a succession must be [L + 1][L + 1]");
    for (std::size_t s = k; s < lattice.tag.size(); s += rules.size()) {
      if (lattice.tag[s] >= rules[k].tags) throw std::invalid_argument("a tag lies outside its succession");
    }
  }
}

}  // namespace

Lattice complete_lattice(std::int32_t positions, std::span<const std::int32_t> tags) {
  if (positions < 0) throw std::invalid_argument("the number of positions must not be negative");
  std::vector<TagSets> sides(tags.size());
  for (std::size_t k = 0; k < tags.size(); ++k) {
    for (std::int32_t t = 0; t < positions; ++t) {
      for (TagId tag = 0; tag < tags[k]; ++tag) sides[k].tag.push_back(tag);
      sides[k].first.push_back(static_cast<std::int32_t>(sides[k].tag.size()));
    }
  }
  return product_lattice(sides, {});
}

Lattice product_lattice(std::span<const TagSets> sides, std::span<const SideMapping> mappings) {
  if (sides.empty()) throw std::invalid_argument("a lattice needs at least one side");
  for (const auto& side : sides) {
    check(side);
    if (side.positions() != sides[0].positions()) {
      throw std::invalid_argument("the sides' candidates differ in their number of positions");
    }
  }
  for (const auto& m : mappings) check_mapping(m, sides);
  Lattice out;
  out.sides = static_cast<std::int32_t>(sides.size());
  std::vector<TagId> bundle(sides.size());
  for (std::int32_t t = 0; t < sides[0].positions(); ++t) {
    for (Odometer bundles(sides, t); !bundles.is_done(); bundles.advance()) {
      bundles.read(bundle);
      if (!mappings_allow(bundle, mappings)) continue;
      out.tag.insert(out.tag.end(), bundle.begin(), bundle.end());
      if (out.tag.size() / sides.size() > kMaxStates) {
        throw std::invalid_argument(concat("the product of candidates exceeds ", kMaxStates,
                                           " states at position ", t, ": prune the candidates first"));
      }
    }
    out.first.push_back(static_cast<std::int32_t>(out.tag.size() / sides.size()));
  }
  return out;
}

Lattice trim(const Lattice& lattice, std::span<const Succession> successions) {
  check_successions(lattice, successions);
  const std::int32_t T = lattice.positions();
  std::vector<std::uint8_t> is_alive(static_cast<std::size_t>(lattice.states()), 1);
  const auto alive = [&](std::int32_t s) -> std::uint8_t& { return is_alive[s]; };
  const auto begin = [&](std::int32_t t) { return lattice.first[t]; };
  // Forward, a state lives if it may start or follows a living one; backward likewise.
  for (std::int32_t t = 0; t < T; ++t) {
    for (std::int32_t j = begin(t); j < begin(t + 1); ++j) {
      bool is_reached = t == 0 && may_start(lattice.bundle(j), successions);
      for (std::int32_t i = t == 0 ? begin(t) : begin(t - 1); i < begin(t) && !is_reached; ++i) {
        is_reached = alive(i) != 0 && may_follow(lattice, i, j, successions);
      }
      alive(j) = is_reached ? 1 : 0;
    }
  }
  for (std::int32_t t = T - 1; t >= 0; --t) {
    for (std::int32_t i = begin(t); i < begin(t + 1); ++i) {
      bool reaches = t == T - 1 && may_end(lattice.bundle(i), successions);
      for (std::int32_t j = begin(t + 1); t < T - 1 && j < begin(t + 2) && !reaches; ++j) {
        reaches = alive(j) != 0 && may_follow(lattice, i, j, successions);
      }
      if (!reaches) alive(i) = 0;
    }
  }
  Lattice out;
  out.sides = lattice.sides;
  for (std::int32_t t = 0; t < T; ++t) {
    for (std::int32_t s = begin(t); s < begin(t + 1); ++s) {
      const auto bundle = lattice.bundle(s);
      if (alive(s) != 0) out.tag.insert(out.tag.end(), bundle.begin(), bundle.end());
    }
    out.first.push_back(static_cast<std::int32_t>(out.tag.size() / static_cast<std::size_t>(lattice.sides)));
  }
  return out;
}

}  // namespace duilian
