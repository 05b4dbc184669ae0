// Arrays as model files store them.
#include <nanobind/stl/pair.h>

#include "bindings.hpp"
#include "duilian/score/stored_table.hpp"
#include "duilian/storage/byte_planes.hpp"

namespace duilian::bindings {

using namespace nb::literals;

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
}

}  // namespace duilian::bindings
