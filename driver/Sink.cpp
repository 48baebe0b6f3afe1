#include "driver/Sink.h"

#include "driver/explain/Explanations.h"
#include "ir/Printable.h"

#include <utility>

namespace colldsl::driver {

bool Sink::error(const llvm::Twine &message) {
  std::string text = message.str(), lines = "colldsl: error: " + text + "\n";
  if (std::string note = explanationNote(text); !note.empty())
    lines += "colldsl: note: " + note + "\n";
  take(Severity::Error, lines);
  return false;
}

bool Sink::error(const Diagnostic &d) {
  return error(d.hint.empty() ? d.message : d.message + "; " + d.hint);
}

void Sink::warn(const llvm::Twine &message) {
  take(Severity::Warning, ("colldsl: warning: " + message + "\n").str());
}

void SinkText::take(Severity, const std::string &lines) {
  std::lock_guard lock(mutex_);
  text_ += printable(lines);
}

std::string SinkText::text() const {
  std::lock_guard lock(mutex_);
  return text_;
}

std::string SinkText::release() {
  std::lock_guard lock(mutex_);
  return std::exchange(text_, "");
}

} // namespace colldsl::driver
