// A plain tagger that segments text, in one flat file: for programs without Python, such as SQLite. The file
// is pure data; every length, index and count is checked when it is read, whoever wrote it.
//
//   "DUISEG", 0, version | u64 size of the file | u64 checksum of the rest | sections, each a u64 number of
//   bytes followed by the bytes
//
// Numbers are little-endian. `duilian.models.crf.flat_file` writes the file and lists the sections.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "duilian/score/predictor.hpp"
#include "duilian/text/split.hpp"

namespace duilian {

class FlatSegmenter {
 public:
  /// Throws std::invalid_argument with a message in plain words if the bytes are not a complete, valid file.
  explicit FlatSegmenter(std::string_view bytes);

  /// The words of a text, in order; between them is only white space or something invisible.
  [[nodiscard]] std::vector<Span> words(std::u32string_view text) const;

  /// How the model sees characters; an index should fold them the same way.
  [[nodiscard]] const Folding& folding() const { return predictor_->reading().folding; }

 private:
  UnitOptions units_;
  std::vector<std::uint8_t> starts_;
  std::vector<std::uint8_t> ends_;
  std::vector<std::uint16_t> barred_by_;
  std::unique_ptr<Predictor> predictor_;
};

/// The checksum of such a file: 64-bit FNV-1a.
[[nodiscard]] std::uint64_t flat_checksum(std::string_view bytes);

}  // namespace duilian
