/// How a collective is called.
#pragma once

#include <cstdint>

namespace conformance {

enum class Form : uint32_t { Blocking, Nonblocking, Persistent };

} // namespace conformance
