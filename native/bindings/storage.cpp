// Arrays as model files store them.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "duilian/coupled/weights.hpp"
#include "duilian/score/predictor.hpp"
#include "duilian/score/stored_table.hpp"
#include "duilian/storage/byte_planes.hpp"

namespace duilian::bindings {

using namespace nb::literals;

namespace {

/// The features and weights of a table, and the transitions that are not 0.
[[nodiscard]] CoupledWeights coupled_weights(WeightTable table, std::size_t size,
                                             std::span<const std::int64_t> at, std::span<const float> value,
                                             std::vector<std::int32_t> pruned_sides) {
  if (at.size() != value.size()) throw std::invalid_argument("the transitions do not fit their places");
  CoupledWeights out{std::move(table), std::vector<float>(size, 0.0F), std::move(pruned_sides)};
  for (std::size_t k = 0; k < at.size(); ++k) {
    if (at[k] < 0 || static_cast<std::size_t>(at[k]) >= size)
      throw std::invalid_argument("the transitions do not fit the labels");
    out.transition[static_cast<std::size_t>(at[k])] = value[k];
  }
  return out;
}

}  // namespace

void bind_storage(nb::module_& m) {
  m.def(
      "encode_planes",
      [](const Input<std::uint8_t>& bytes, std::size_t width) {
        return to_numpy(without_gil([&] { return encode_planes(view(bytes), width); }));
      },
      "bytes"_a, "width"_a);
  m.def(
      "decode_planes",
      [](const Input<std::uint8_t>& coded, std::size_t width, std::size_t size) {
        std::vector<std::uint8_t> bytes(size);
        without_gil([&] {
          decode_planes(view(coded), width, bytes);
          return true;
        });
        return to_numpy(std::move(bytes));
      },
      "coded"_a, "width"_a, "size"_a);
  m.def(
      "unpack_table",
      [](std::int64_t slots, const Input<std::uint8_t>& used, const Input<std::uint32_t>& check,
         const Input<std::uint16_t>& size, const Input<std::uint16_t>& first,
         const Input<std::uint16_t>& step) {
        std::pair<std::vector<std::uint64_t>, std::vector<std::uint16_t>> table;
        unpack({slots, view(used), view(check), view(size), view(first), view(step)}, table.first,
               table.second);
        return std::make_pair(to_numpy(std::move(table.first)), to_numpy(std::move(table.second)));
      },
      "slots"_a, "used"_a, "check"_a, "size"_a, "first"_a, "step"_a);
  m.def(
      "look_up",
      [](const Input<float>& code, const Input<std::uint8_t>& place) {
        if (code.size() != 256) throw std::invalid_argument("a codebook must have 256 values");
        const std::span<const float> value = view(code);
        std::vector<float> out;
        out.reserve(place.size());
        for (const std::uint8_t each : view(place)) out.push_back(value[each]);
        return to_numpy(std::move(out));
      },
      "code"_a, "place"_a);
  nb::class_<WeightTable>(m, "WeightTable")
      .def_static(
          "unpack",
          [](std::int64_t slots, const Input<std::uint8_t>& used, const Input<std::uint32_t>& check,
             const Input<std::uint16_t>& size, const Input<std::uint16_t>& first,
             const Input<std::uint16_t>& step, const Input<float>& code, const Input<std::uint8_t>& place) {
            return without_gil([&] {
              return unpack({slots, view(used), view(check), view(size), view(first), view(step)}, view(code),
                            view(place));
            });
          },
          "slots"_a, "used"_a, "check"_a, "size"_a, "first"_a, "step"_a, "code"_a, "place"_a)
      // Both leave the table empty: it is large, and moved.
      .def(
          "with_transitions",
          [](WeightTable& self, const Input<float>& transition) {
            return CompiledWeights{std::move(self), to_vector(transition)};
          },
          "transition"_a)
      .def(
          "with_coupled_transitions",
          [](WeightTable& self, std::size_t size, const Input<std::int64_t>& at, const Input<float>& value,
             std::vector<std::int32_t> pruned_sides) {
            return coupled_weights(std::move(self), size, view(at), view(value), std::move(pruned_sides));
          },
          "size"_a, "at"_a, "value"_a, "pruned_sides"_a);
}

}  // namespace duilian::bindings
