/// Bounds on the input of the compiler, so that hostile text ends in a message and not in a crash.
/// A message about a bound names the option that raises it.
#pragma once

#include <cstdint>

namespace colldsl {

/// The largest column that SourceLoc::column holds.
inline constexpr uint32_t kMaxLineBytes = 65'535;

/// The largest values that command lines may set. The stack of a thread, 8 MiB, suffices for them
/// even where sanitizers make its frames several times as large.
inline constexpr uint32_t kMaxNesting = 500, kMaxChain = 2'500;

struct ParseLimits {
  uint64_t maxBytes = uint64_t{16} << 20; ///< of one file
  uint32_t maxLineBytes = 16'384;         ///< at most kMaxLineBytes
  uint32_t maxTokens = 200'000;           ///< of one file
  uint32_t maxNesting = 200;              ///< open brackets of all kinds
  /// Tokens of one expression with all that encloses it; and the arms of one `if`.
  /// Bounds the depth of the tree, and with it every recursion over it.
  uint32_t maxChain = 1'000;
  uint32_t maxErrors = 20;   ///< of one phase; then it stops
  uint32_t maxFiles = 1'000; ///< read by one compilation, imports included
};

} // namespace colldsl
