// Checks a dictionary's trie, and looks up the words of a sentence in it (see dictionary.hpp).
#include "duilian/features/dictionary.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "duilian/concat.hpp"
#include "duilian/features/probing.hpp"
#include "duilian/features/sentences.hpp"
#include "duilian/text/characters.hpp"

namespace duilian {

namespace {

using Arrays = DictionaryArrays;

constexpr std::uint32_t kRoot = 0;
constexpr std::uint16_t kNoSymbol = 0;
constexpr std::uint8_t kLongest = 5;   // longer words are in the same class
constexpr double kCostOfNat = 1024.0;  // integer costs: sums and ties are the same on every machine
constexpr std::uint32_t kMaxCode = 0x10FFFF;

[[noreturn]] void refuse(std::string_view what) {
  throw std::invalid_argument(concat("the dictionary is damaged: ", what));
}

/// Maps characters to symbols, counted from 1; other characters have kNoSymbol.
class Alphabet {
 public:
  explicit Alphabet(std::span<const std::uint32_t> characters) : page_((kMaxCode >> kBits) + 1, 0) {
    symbol_.resize(kSize, kNoSymbol);
    for (std::size_t k = 0; k < characters.size(); ++k) {
      std::uint32_t& page = page_[characters[k] >> kBits];
      if (page == 0) {
        page = static_cast<std::uint32_t>(symbol_.size());
        symbol_.resize(symbol_.size() + kSize, kNoSymbol);
      }
      symbol_[page + (characters[k] & (kSize - 1))] = static_cast<std::uint16_t>(k + 1);
    }
  }
  [[nodiscard]] std::uint16_t operator()(char32_t c) const {
    return c > kMaxCode ? kNoSymbol : symbol_[page_[c >> kBits] + (c & (kSize - 1))];
  }
  [[nodiscard]] std::size_t bytes() const { return page_.size() * 4 + symbol_.size() * 2; }

 private:
  static constexpr std::uint32_t kBits = 8;
  static constexpr std::uint32_t kSize = 1U << kBits;
  // [characters / 256]  where the symbols of a page begin; the first page is empty.
  std::vector<std::uint32_t> page_;
  std::vector<std::uint16_t> symbol_;
};

/// Edges below the root: parent and symbol → child, in 24 + 16 + 24 bits of a slot. No parent is 0, so 0
/// marks a free slot.
class Edges {
 public:
  explicit Edges(std::size_t edges) {
    std::size_t bits = 4;
    while ((std::size_t{1} << bits) < edges + edges / 2) ++bits;
    slot_.resize(std::size_t{1} << bits, 0);
    shift_ = 64 - bits;
  }
  void insert(std::uint32_t parent, std::uint16_t symbol, std::uint32_t child) {
    const std::uint64_t key = key_of(parent, symbol);
    std::size_t at = home(key);
    for (std::size_t probes = 0; slot_[at] != 0; at = (at + 1) & (slot_.size() - 1)) {
      if (++probes > kLongestRun) refuse_runs();
    }
    slot_[at] = key << kNodeBits | child;
  }
  /// Refuses edges that would make lookups slow.
  void check() const {
    if (longest_run(slot_, 0) > kLongestRun) refuse_runs();
  }
  /// The child, or the root if there is none.
  [[nodiscard]] std::uint32_t find(std::uint32_t parent, std::uint16_t symbol) const {
    const std::uint64_t key = key_of(parent, symbol);
    for (std::size_t at = home(key);; at = (at + 1) & (slot_.size() - 1)) {
      if (slot_[at] == 0) return kRoot;
      if (slot_[at] >> kNodeBits == key) return static_cast<std::uint32_t>(slot_[at] & kNodeMask);
    }
  }
  void prefetch(std::uint32_t parent, std::uint16_t symbol) const {
    __builtin_prefetch(&slot_[home(key_of(parent, symbol))]);
  }
  [[nodiscard]] std::size_t bytes() const { return slot_.size() * 8; }

 private:
  [[noreturn]] static void refuse_runs() {
    throw std::invalid_argument("too many words of the dictionary share a place");
  }

  static constexpr std::uint32_t kNodeBits = 24;
  static constexpr std::uint64_t kNodeMask = (1U << kNodeBits) - 1;

  [[nodiscard]] static std::uint64_t key_of(std::uint32_t parent, std::uint16_t symbol) {
    return std::uint64_t{parent} << 16U | symbol;
  }
  [[nodiscard]] std::size_t home(std::uint64_t key) const {
    return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15U) >> shift_);
  }
  std::vector<std::uint64_t> slot_;  // a power of two, at most two thirds full
  std::size_t shift_ = 0;
};

void check_alphabet(const Arrays& arrays) {
  const auto& alphabet = arrays.alphabet;
  if (alphabet.size() > Dictionary::kMaxSymbols || (!alphabet.empty() && alphabet.back() > kMaxCode) ||
      std::adjacent_find(alphabet.begin(), alphabet.end(), std::greater_equal<>()) != alphabet.end())
    refuse("its alphabet is not ascending");
}

void check_sizes(const Arrays& arrays) {
  const auto is_word = [](std::uint8_t flags) { return (flags & Arrays::kIsWord) != 0; };
  const auto words = std::count_if(arrays.flags.begin(), arrays.flags.end(), is_word);
  if (arrays.symbol.size() != arrays.flags.size() || arrays.symbol.size() > Dictionary::kMaxNodes ||
      arrays.frequency.size() != static_cast<std::size_t>(words) ||
      arrays.tag.size() != arrays.frequency.size())
    refuse("its arrays have inconsistent lengths");
  const auto has_no_name = [&](std::uint8_t tag) { return tag >= arrays.tags.size(); };
  if (arrays.tags.size() > Dictionary::kMaxTags ||
      std::any_of(arrays.tag.begin(), arrays.tag.end(), has_no_name))
    refuse("a word has a tag without a name");
  if (std::find(arrays.frequency.begin(), arrays.frequency.end(), 0U) != arrays.frequency.end())
    refuse("a word has frequency 0");
}

/// A node in breadth-first order, with its parent; the root is 0.
struct Place {
  std::uint32_t parent;
  std::uint32_t depth;  // in characters
};

/// The parents of all nodes. Checks that groups of siblings belong to the nodes with children, in order.
[[nodiscard]] std::vector<Place> place_nodes(const Arrays& arrays) {
  const std::size_t nodes = arrays.symbol.size();
  std::vector<Place> place;  // [nodes + 1]
  place.reserve(nodes + 1);
  place.push_back({kRoot, 0});
  std::size_t parent = 0;
  bool begins = true;
  for (std::size_t k = 0; k < nodes; ++k) {
    const std::uint8_t flags = arrays.flags[k];
    if (flags > 7 || (flags & (Arrays::kHasChildren | Arrays::kIsWord)) == 0)
      refuse("a node has neither a word nor children");
    if (arrays.symbol[k] >= arrays.alphabet.size() || (!begins && arrays.symbol[k] <= arrays.symbol[k - 1]))
      refuse("the children of a node are not in order");
    place.push_back({static_cast<std::uint32_t>(parent), place[parent].depth + 1});
    if (place.back().depth > Dictionary::kMaxLength) refuse("a word is too long");
    begins = (flags & Arrays::kIsLast) != 0;
    if (!begins) continue;
    // The next group belongs to the next node with children, which must precede its own children.
    do {
      ++parent;
    } while (parent <= k + 1 && (arrays.flags[parent - 1] & Arrays::kHasChildren) == 0);
    if (parent > k + 1 && k + 1 < nodes) refuse("a node has no parent");
  }
  if (!begins || (nodes > 0 && parent <= nodes)) refuse("nodes are missing");
  return place;
}

[[nodiscard]] std::uint8_t length_class(std::size_t units) {
  return static_cast<std::uint8_t>(std::min<std::size_t>(units, kLongest));
}

[[nodiscard]] CodeText code_text(std::u32string text) {
  const std::uint64_t hash = hash_text(text);
  return {std::move(text), hash};
}

}  // namespace

struct Dictionary::Trie {
  struct Node {
    std::uint16_t cost = 0;
    std::uint8_t tag = 0;
    std::uint8_t flags = 0;
  };

  explicit Trie(Arrays given)
      : arrays(std::move(given)), alphabet(arrays.alphabet), edges(arrays.symbol.size()) {
    first.resize(arrays.alphabet.size() + 1, kRoot);
    fill_nodes(place_nodes(arrays));
    edges.check();
    fill_texts();
  }

  void fill_nodes(std::span<const Place> place) {
    double total = 0.0;
    for (const std::uint32_t frequency : arrays.frequency) total += frequency;
    const auto cost_of = [&](std::uint32_t frequency) {
      const double cost = std::nearbyint(kCostOfNat * (std::log(total) - std::log(frequency)));
      return static_cast<std::uint16_t>(std::clamp(cost, 0.0, 65535.0));
    };
    unknown_cost = arrays.frequency.empty() ? 0 : cost_of(1);
    node.resize(place.size());
    std::size_t word = 0;
    for (std::uint32_t k = 1; k < place.size(); ++k) {
      node[k].flags = arrays.flags[k - 1];
      if ((node[k].flags & Arrays::kIsWord) != 0) {
        node[k].cost = cost_of(arrays.frequency[word]);
        node[k].tag = arrays.tag[word++];
      }
      const auto symbol = static_cast<std::uint16_t>(arrays.symbol[k - 1] + 1);
      if (place[k].parent == kRoot) {
        first[symbol] = k;
      } else {
        edges.insert(place[k].parent, symbol, k);
      }
    }
  }

  void fill_texts() {
    for (char32_t a = U'0'; a <= U'5'; ++a) {
      for (char32_t b = U'0'; b <= U'5'; ++b) {
        for (char32_t c = U'0'; c <= U'5'; ++c) lengths.push_back(code_text({a, b, c}));
      }
    }
    for (const char32_t letter : {U'B', U'I', U'E', U'S'}) {
      for (const std::string& tag : arrays.tags) on_path.push_back(code_text(letter + decode_utf8(tag)));
    }
    no_word = code_text(U"O");
  }

  [[nodiscard]] bool is_word(std::uint32_t k) const { return (node[k].flags & Arrays::kIsWord) != 0; }

  /// The best path from unit i on, and the lengths of words that start there; called from the last unit to
  /// the first.
  ///   cost[i] = min over words [i, j) of cost(word) + cost[j]; the longest word wins a tie
  void walk(std::size_t i, std::span<const std::int64_t> end, Work& work) const;
  /// Prefetches what `walk` looks up first; most walks go no further.
  void prefetch(std::span<const std::int64_t> end, Work& work) const;
  /// Writes the values of the columns lx and jg.
  void write_lengths(const Work& work, const CodeText** out) const;
  void write_path(const Work& work, const CodeText** out) const;

  Arrays arrays;
  Alphabet alphabet;
  std::vector<std::uint32_t> first;  // [symbols + 1]  children of the root
  Edges edges;
  std::vector<Node> node;          // [nodes + 1]
  std::uint16_t unknown_cost = 0;  // cost of a unit outside the dictionary: as if seen once
  std::vector<CodeText> lengths;   // [6][6][6]  starts, passes, ends
  std::vector<CodeText> on_path;   // [B I E S][tags]
  CodeText no_word;
};

void Dictionary::Trie::prefetch(std::span<const std::int64_t> end, Work& work) const {
  const std::size_t characters = work.symbol.size();
  for (std::size_t i = 0, c = 0; i < end.size() && c + 1 < characters;
       c = static_cast<std::size_t>(end[i++])) {
    const std::uint32_t at = first[work.symbol[c]];
    if ((node[at].flags & Arrays::kHasChildren) != 0) edges.prefetch(at, work.symbol[c + 1]);
  }
}

void Dictionary::Trie::walk(std::size_t i, std::span<const std::int64_t> end, Work& work) const {
  std::int64_t best = unknown_cost + work.cost[i + 1];
  std::size_t next = i + 1, longest = 0;
  std::uint32_t word = kRoot;
  auto c = static_cast<std::size_t>(i == 0 ? 0 : end[i - 1]);
  std::uint32_t at = first[work.symbol[c++]];
  for (std::size_t j = i; at != kRoot;) {
    const Node& here = node[at];
    if (c == static_cast<std::size_t>(end[j])) {  // the end of a unit
      ++j;
      if ((here.flags & Arrays::kIsWord) != 0) {
        const std::int64_t cost = here.cost + work.cost[j];
        if (cost <= best) {
          best = cost;
          next = j;
          word = at;
        }
        longest = j - i;
        if (longest > 1) work.ends[j - 1] = std::max(work.ends[j - 1], length_class(longest));
      }
      if (j == end.size()) break;
    }
    if ((here.flags & Arrays::kHasChildren) == 0) break;
    at = edges.find(at, work.symbol[c++]);
  }
  work.cost[i] = best;
  work.next[i] = static_cast<std::uint32_t>(next);
  work.node[i] = word;
  if (longest < 2) return;
  work.starts[i] = length_class(longest);
  for (std::size_t k = i + 1; k + 1 < i + longest; ++k)
    work.passes[k] = std::max(work.passes[k], work.starts[i]);
}

void Dictionary::Trie::write_lengths(const Work& work, const CodeText** out) const {
  for (std::size_t i = 0; i < work.starts.size(); ++i)
    out[i] = &lengths[(std::size_t{work.starts[i]} * 6 + work.passes[i]) * 6 + work.ends[i]];
}

void Dictionary::Trie::write_path(const Work& work, const CodeText** out) const {
  const std::size_t tags = arrays.tags.size();
  for (std::size_t i = 0; i < work.next.size();) {
    if (work.node[i] == kRoot) {
      out[i++] = &no_word;
      continue;
    }
    const CodeText* text = on_path.data() + node[work.node[i]].tag;
    const std::size_t begin = i, end = work.next[i];
    for (; i < end; ++i) {
      const std::size_t letter = end - begin == 1 ? 3 : i == begin ? 0 : i + 1 == end ? 2 : 1;
      out[i] = text + letter * tags;
    }
  }
}

Dictionary::Dictionary(DictionaryArrays arrays) {
  check_alphabet(arrays);
  check_sizes(arrays);
  trie_ = std::make_shared<const Trie>(std::move(arrays));
}

const DictionaryArrays& Dictionary::arrays() const { return trie_->arrays; }

std::size_t Dictionary::bytes() const {
  const Arrays& kept = trie_->arrays;
  return kept.alphabet.size() * 4 + kept.symbol.size() * 3 + kept.frequency.size() * 5 +
         trie_->alphabet.bytes() + trie_->edges.bytes() + trie_->first.size() * 4 +
         trie_->node.size() * sizeof(Trie::Node);
}

namespace {

/// The characters on the way to a node.
[[nodiscard]] std::u32string word_at(std::uint32_t node, std::span<const Place> place, const Arrays& arrays) {
  std::u32string word(place[node].depth, U'\0');
  for (std::size_t c = word.size(); c-- > 0; node = place[node].parent)
    word[c] = arrays.alphabet[arrays.symbol[node - 1]];
  return word;
}

}  // namespace

std::vector<std::u32string> Dictionary::words() const {
  const std::vector<Place> place = place_nodes(trie_->arrays);
  std::vector<std::u32string> out;
  for (std::uint32_t k = 1; k < place.size(); ++k) {
    if (trie_->is_word(k)) out.push_back(word_at(k, place, trie_->arrays));
  }
  return out;
}

std::vector<std::u32string> Dictionary::mixed_words() const {
  constexpr std::uint8_t kHigh = 1, kLetter = 2;
  const auto sort_of = [](std::uint32_t c) -> std::uint8_t {
    const bool is_wide = c >= 0xFF01 && c <= 0xFFEF;
    if (is_wide || c < 0x250) return char_class(c) == CharClass::digit || c <= U'@' ? 0 : kLetter;
    return c >= 0x3005 ? kHigh : 0;
  };
  const Arrays& own = trie_->arrays;
  const std::vector<Place> place = place_nodes(own);
  std::vector<std::uint8_t> has(place.size(), 0);  // on the way to each node, which follows its parent
  std::vector<std::u32string> out;
  for (std::uint32_t k = 1; k < place.size(); ++k) {
    has[k] = has[place[k].parent] | sort_of(own.alphabet[own.symbol[k - 1]]);
    if (has[k] == (kHigh | kLetter) && trie_->is_word(k)) out.push_back(word_at(k, place, own));
  }
  return out;
}

void Dictionary::look_up(std::u32string_view characters, std::span<const std::int64_t> end, Work& work,
                         Columns& out) const {
  const std::size_t units = end.size();
  work.symbol.resize(characters.size());
  std::transform(characters.begin(), characters.end(), work.symbol.begin(),
                 [&](char32_t c) { return trie_->alphabet(c); });
  trie_->prefetch(end, work);
  work.cost.assign(units + 1, 0);
  work.next.resize(units);
  work.node.resize(units);
  work.starts.assign(units, 0);
  work.passes.assign(units, 0);
  work.ends.assign(units, 0);
  for (std::size_t i = units; i-- > 0;) trie_->walk(i, end, work);
  const std::size_t before = out[0].size();
  for (auto& column : out) column.resize(before + units);
  trie_->write_lengths(work, out[0].data() + before);
  trie_->write_path(work, out[1].data() + before);
}

}  // namespace duilian
