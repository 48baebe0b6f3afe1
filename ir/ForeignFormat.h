/// Names the format of a file that a reader does not take, by its content, so that the reader does
/// not take it for text and call each line wrong.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace colldsl {

/// The formats that the reader at hand takes: text, and perhaps JSON.
enum class Readable : uint8_t { Text, Json };

/// The name of execution plans of MSCCL++, which one command proves.
inline constexpr std::string_view kExecutionPlan = "JSON, an execution plan of MSCCL++";

/// "gzip, compressed data", "JSON, an execution plan of MSCCL++". Empty: it may be what the reader
/// takes. Looks at the first 64 KiB at most. MSCCL's XML is not foreign; JSON is, unless it is
/// readable and of no known kind.
std::string foreignFormat(std::string_view content, Readable readable);

} // namespace colldsl
