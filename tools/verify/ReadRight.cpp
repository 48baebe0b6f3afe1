#include "tools/verify/ReadRight.h"

#include "tools/input/ReadInput.h"
#include "tools/options/ErrorStream.h"

#include "llvm/ADT/STLExtras.h"

namespace colldsl::tools {
namespace {

using Operands = std::vector<std::string>;

/// Reads the operands; null: one has a mistake. `said`: the messages, warnings included.
std::unique_ptr<Source> attempt(const Operands &operands, const ScheduleOptions &options,
                                std::string &said) {
  CapturedErrors errors;
  std::unique_ptr<Source> source = Source::read(operands, options);
  if (source && !source->names().empty() && source->choose(options).empty())
    source = nullptr;
  said = errors.text();
  return source;
}

} // namespace

// A file may use declarations of those before it, so each is read with the right ones before it.
RightOperands readRight(const Operands &operands, const ScheduleOptions &options) {
  bool mayBeReadAgain = llvm::none_of(
      operands, [](const std::string &operand) { return descriptorNamed(operand) >= 0; });
  if (operands.size() < 2 || !mayBeReadAgain || !options.names.empty())
    return {Source::read(operands, options)};
  std::string said;
  RightOperands found{attempt(operands, options, said)};
  Operands right;
  for (size_t i = 0; !found.source && i < operands.size(); ++i) {
    right.push_back(operands[i]);
    if (attempt(right, options, said))
      continue;
    errorStream() << said;
    right.pop_back();
    found.hasMistakes = true;
  }
  if (!right.empty())
    found.source = attempt(right, options, said);
  if (found.source)
    errorStream() << said;
  return found;
}

} // namespace colldsl::tools
