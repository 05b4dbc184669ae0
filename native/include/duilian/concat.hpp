// Builds messages from parts, because g++ 12 has no <format>.
#pragma once

#include <sstream>
#include <string>

namespace duilian {

template <class... Parts>
[[nodiscard]] std::string concat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

}  // namespace duilian
