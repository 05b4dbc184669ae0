// Bidirectional LSTMs.
#include "duilian/neural/lstm.hpp"

#include <algorithm>

namespace duilian {

LstmLayer::LstmLayer(const std::array<TrainedLstm, 2>& trained, const Spread& inputs) {
  const std::size_t cells = trained[0].recurrent.columns;
  room_ = rounded_up(cells, kNeuralLanes);
  const Spread gates{cells, room_};
  for (std::size_t side = 0; side < 2; ++side) {
    input_[side] = Linear(trained[side].input, inputs, gates);
    recurrent_[side].reset(room_, 4 * room_);
    const TrainedMatrix& w = trained[side].recurrent;
    for (std::size_t j = 0; j < w.rows; ++j)
      for (std::size_t k = 0; k < w.columns; ++k) recurrent_[side].set(k, gates(j), w.at(j, k));
    (void)recurrent_[side].make_whole();
  }
}

void LstmLayer::run(const std::vector<float>& rows, std::size_t stride,
                    const std::vector<RowRange>& sentences, LstmWork& work, std::vector<float>& out) const {
  const std::size_t count = rows.size() / stride;
  out.resize(count * 2 * room_);
  for (std::size_t side = 0; side < 2; ++side) {
    input_[side].apply(rows.data(), stride, count, work.projected);
    run_side(side, sentences, work, out);
  }
}

void LstmLayer::run_side(std::size_t side, const std::vector<RowRange>& sentences, LstmWork& work,
                         std::vector<float>& out) const {
  const std::size_t width = recurrent_[side].columns();
  work.gates.resize(sentences.size() * width);
  work.cell.assign(sentences.size() * room_, 0.0F);
  work.out.assign(sentences.size() * room_, 0.0F);
  std::size_t active = sentences.size();
  for (std::size_t step = 0; active > 0; ++step) {
    while (active > 0 && sentences[active - 1].size <= step) --active;
    const auto row_of = [&](std::size_t s) {
      const RowRange& own = sentences[s];
      return own.begin + (side == 0 ? step : own.size - 1 - step);
    };
    for (std::size_t s = 0; s < active; ++s)
      std::copy_n(&work.projected[row_of(s) * width], width, &work.gates[s * width]);
    if (step > 0) recurrent_[side].add_product(work.out.data(), room_, active, work.gates.data(), width);
    for (std::size_t s = 0; s < active; ++s) {
      neural_kernels().step_cells(&work.gates[s * width], room_, &work.cell[s * room_], &work.out[s * room_]);
      std::copy_n(&work.out[s * room_], room_, &out[(row_of(s) * 2 + side) * room_]);
    }
  }
}

}  // namespace duilian
