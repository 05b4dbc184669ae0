// Repeats the attack with the files in some folders, for any compiler: the seeds, and everything ever found.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "bytes.hpp"

namespace {

[[nodiscard]] std::vector<std::uint8_t> contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Whether the input is answered or refused; anything else is a finding.
[[nodiscard]] bool passes(const std::filesystem::path& path) {
  try {
    fuzzing::attack(contents(path));
  } catch (const std::invalid_argument&) {
  } catch (const std::exception& error) {
    std::printf("%s: %s\n", path.c_str(), error.what());
    return false;
  }
  return true;
}

}  // namespace

int main(int count, char** folder) {
  int replayed = 0;
  int failed = 0;
  for (int k = 1; k < count; ++k) {
    for (const auto& each : std::filesystem::recursive_directory_iterator(folder[k])) {
      if (!each.is_regular_file()) continue;
      ++replayed;
      if (!passes(each.path())) ++failed;
    }
  }
  std::printf("%d replayed, %d failed\n", replayed, failed);
  return replayed > 0 && failed == 0 ? 0 : 1;
}
