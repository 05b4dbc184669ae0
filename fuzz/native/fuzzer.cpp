// The entry point of libFuzzer.
#include <cstddef>
#include <stdexcept>

#include "bytes.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    fuzzing::attack({data, size});
  } catch (const std::invalid_argument&) {  // refused, as it should be
  }
  return 0;
}
