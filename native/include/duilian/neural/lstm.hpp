// Bidirectional LSTMs over several sentences in step, so that each weight is read once for all of them.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "duilian/neural/linear.hpp"

namespace duilian {

/// Weights of one direction as trained: gates in the order in, forget, new, out.
struct TrainedLstm {
  TrainedMap input;      // [4 cells][inputs]
  TrainedMatrix recurrent;  // [4 cells][cells]
};

/// The rows of a sentence.
struct RowRange {
  std::size_t begin = 0;
  std::size_t size = 0;
};

struct LstmWork {
  std::vector<float> projected, gates, cell, out;
};

/// One layer; cells are padded to `room()`, and so are the rows it returns: [2][room()].
class LstmLayer {
 public:
  LstmLayer(const std::array<TrainedLstm, 2>& trained, const Spread& inputs);

  [[nodiscard]] std::size_t room() const { return room_; }
  /// The outputs for the rows of sentences, which come longest first; `out` is resized to [rows][2 room()].
  void run(const std::vector<float>& rows, std::size_t stride, const std::vector<RowRange>& sentences,
           LstmWork& work, std::vector<float>& out) const;

 private:
  void run_side(std::size_t side, const std::vector<RowRange>& sentences, LstmWork& work,
                std::vector<float>& out) const;

  std::size_t room_ = 0;
  std::array<Linear, 2> input_;
  std::array<Panels, 2> recurrent_;
};

}  // namespace duilian
