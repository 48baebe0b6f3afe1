#include "program/SerializedProgram.h"

#include "program/Archive.h"
#include "program/CheckProgram.h"
#include "program/Fields.h"

namespace colldsl {

std::vector<std::byte> serializeProgram(const Program &program) {
  RecordWriter writer;
  writer(program);
  return std::move(writer.bytes);
}

static Result<Program> readProgram(std::span<const std::byte> bytes) {
  RecordReader reader(bytes);
  Program program;
  reader(program);
  if (reader.failed())
    return Status::error("program: " + reader.error());
  if (reader.left() != 0)
    return Status::error("program: " + std::to_string(reader.left()) + " bytes behind its end");
  return program;
}

Result<Program> deserializeProgram(std::span<const std::byte> bytes) {
  Result<Program> program = readProgram(bytes);
  if (!program)
    return program;
  if (Status s = checkProgram(*program); !s)
    return s;
  lower(*program);
  return program;
}

Result<Program> deserializeTrustedProgram(std::span<const std::byte> bytes) {
  Result<Program> program = readProgram(bytes);
  if (program)
    lower(*program);
  return program;
}

} // namespace colldsl
