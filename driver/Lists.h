/// Numbers, and lists of them, as the fields of requests have them.
#pragma once

#include "ir/Result.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <vector>

namespace colldsl::driver {

Result<uint64_t> parseNumber(llvm::StringRef text, uint64_t min, uint64_t max);
Result<uint32_t> parseNumber32(llvm::StringRef text, uint32_t min, uint32_t max);

/// "8", "64KiB", "1MiB", "2GiB".
Result<uint64_t> parseBytes(llvm::StringRef text);
Result<std::vector<uint64_t>> parseBytesList(llvm::StringRef text);

/// "1..4,8" is 1, 2, 3, 4, 8: ascending, each once. rangesWord() (ir/Ranges.h) writes it.
Result<std::vector<uint32_t>> parseRanks(llvm::StringRef text, uint32_t min);

/// 0 as "0 B", 65536 as "64 KiB", 1000 as "1000 B".
std::string bytesWord(uint64_t bytes);

/// An error if the bytes are no whole number of elements: --bytes, of that collective.
Status checkWhole(uint64_t bytes, uint64_t elementBytes, const std::string &collective);

/// "8,65536".
std::string listWord(const std::vector<uint64_t> &numbers);

/// "1 rank", "2 ranks".
std::string counted(uint64_t count, llvm::StringRef word);

/// A duration that people wait for, in ns: "20s", "500ms". A number without a unit counts in units
/// of `plainUnitNs`; if that is 0, such a number is an error. Durations are at least 1 ns.
Result<uint64_t> parseDurationNs(llvm::StringRef text, uint64_t plainUnitNs = 0);

/// In ns: "1500", "1500ns", "2us", "3ms", "1s".
Result<uint64_t> parseTimeNs(llvm::StringRef text);

/// Three digits and a unit: "912 ns", "1.32 us", "45.0 ms".
std::string timeWord(int64_t ns);
/// Two decimals: "1.25".
std::string factorWord(double factor);

/// "where: " before the message of the status, unless it is ok.
Status wrap(llvm::StringRef where, const Status &status);

} // namespace colldsl::driver
