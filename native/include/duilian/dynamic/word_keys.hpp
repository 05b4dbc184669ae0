// Fast keys for word templates. Nearly all of them use texts, tags and lengths of words, whose hashes the
// window already has.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "duilian/dynamic/history.hpp"
#include "duilian/features/evaluate.hpp"

namespace duilian {

class WordKeys {
 public:
  explicit WordKeys(TemplateSet set);

  [[nodiscard]] bool empty() const { return quick_.empty() && others_.templates.empty(); }
  /// The same keys as templating::append_keys for the window, in a different order.
  void append(const WordWindow& window, std::vector<std::uint64_t>& out) const {
    const WordHashes& hash = window.hashes();
    const std::size_t begin = out.size();
    out.resize(begin + quick_.size());
    std::uint64_t* to = out.data() + begin;
    for (const Quick& each : quick_) {
      std::uint64_t key = each.id;
      for (std::size_t k = 0; k < each.count; ++k) key = mix(key, hash[each.value[k]]);
      *to++ = key;
    }
    if (!others_.templates.empty()) templating::append_keys(others_, window, 0, out);
  }

 private:
  struct Quick {
    std::uint64_t id = 0;
    std::size_t count = 0;
    std::array<std::uint8_t, templating::kMaxValues> value{};  // indices into the hashes of the window
  };

  std::vector<Quick> quick_;
  TemplateSet others_;
};

}  // namespace duilian
