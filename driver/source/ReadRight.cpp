#include "driver/source/ReadRight.h"

#include "driver/files/ReadInput.h"

#include "llvm/ADT/STLExtras.h"

namespace colldsl::driver {
namespace {

using Operands = std::vector<std::string>;

/// Reads the operands; null: one has a mistake. `said`: the messages, warnings included.
std::unique_ptr<Source> attempt(Session &session, const Operands &operands,
                                const ScheduleRequest &request, std::string &said) {
  SinkText messages;
  Session own(messages);
  std::unique_ptr<Source> source = Source::read(own, operands, request);
  if (source && !source->names().empty() && source->choose(request).empty())
    source = nullptr;
  if (source)
    source->moveTo(session);
  said = messages.text();
  return source;
}

} // namespace

// A file may use declarations of those before it, so each is read with the right ones before it.
RightOperands readRight(Session &session, const Operands &operands,
                        const ScheduleRequest &request) {
  bool mayBeReadAgain = llvm::none_of(
      operands, [](const std::string &operand) { return descriptorNamed(operand) >= 0; });
  if (operands.size() < 2 || !mayBeReadAgain || !request.names.empty())
    return {Source::read(session, operands, request)};
  std::string said;
  RightOperands found{attempt(session, operands, request, said)};
  Operands right;
  for (size_t i = 0; !found.source && i < operands.size(); ++i) {
    right.push_back(operands[i]);
    if (attempt(session, right, request, said))
      continue;
    session.sink().take(Severity::Error, said);
    right.pop_back();
    found.hasMistakes = true;
  }
  if (!right.empty())
    found.source = attempt(session, right, request, said);
  if (found.source)
    session.sink().take(Severity::Warning, said);
  return found;
}

} // namespace colldsl::driver
