// Arrays of whole numbers in as few bits as the frequencies of their bytes allow.
//
// The first bytes of all numbers are one plane, the second bytes another, and so on. Each plane is coded by
// itself with a range variant of asymmetric numeral systems (rANS, Duda 2013, arXiv:1311.2540): a byte that
// makes up the share p of its plane takes about -log2 p bits. Four coders take turns, so that a processor can
// work on four bytes at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace duilian {

/// `bytes` are numbers of `width` bytes each. docs/modelfile.md has the format.
[[nodiscard]] std::vector<std::uint8_t> encode_planes(std::span<const std::uint8_t> bytes, std::size_t width);

/// The reverse; fills `bytes`. Throws std::invalid_argument unless `coded` is exactly the code of that many
/// bytes; it may come from anyone.
void decode_planes(std::span<const std::uint8_t> coded, std::size_t width, std::span<std::uint8_t> bytes);

}  // namespace duilian
