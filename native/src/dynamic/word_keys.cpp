// Divides templates into those made of ready hashes and the rest (see word_keys.hpp).
#include "duilian/dynamic/word_keys.hpp"

#include <algorithm>
#include <utility>

namespace duilian {

namespace {

/// Which hash of a window an atom uses; kHashes if none.
[[nodiscard]] std::size_t hash_of(const Atom& atom, const TemplateSet& set) {
  using Kind = Atom::Kind;
  if (atom.offset == 1 && atom.kind == Kind::text) return kNextHash;
  if (atom.offset > 0 || atom.offset < -kWordsBack) return kHashes;
  const auto place = static_cast<std::size_t>(-atom.offset);
  if (atom.kind == Kind::text) return kTextHash + place;
  if (atom.kind == Kind::length) return kLengthHash + place;
  const bool is_tag =
      atom.kind == Kind::column && set.columns[static_cast<std::size_t>(atom.first)] == kTagColumn;
  return is_tag ? kTagHash + place : kHashes;
}

}  // namespace

WordKeys::WordKeys(TemplateSet set) : others_(std::move(set)) {
  std::erase_if(others_.templates, [&](const Template& each) {
    Quick quick{each.id, each.atoms.size(), {}};
    bool is_quick = each.conditions.empty();
    for (std::size_t k = 0; is_quick && k < each.atoms.size(); ++k) {
      const std::size_t found = hash_of(each.atoms[k], others_);
      quick.value[k] = static_cast<std::uint8_t>(found);
      is_quick = found != kHashes;
    }
    if (is_quick) quick_.push_back(quick);
    return is_quick;
  });
}

}  // namespace duilian
