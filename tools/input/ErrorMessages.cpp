#include "tools/input/ErrorMessages.h"

#include "tools/options/ErrorStream.h"

namespace colldsl::tools {
namespace {

class Printer : public Sink {
public:
  void take(Severity, const std::string &lines) override {
    std::lock_guard lock(oneAtATime_);
    errorStream() << lines;
  }

private:
  std::mutex oneAtATime_;
};

} // namespace

Sink &printer() {
  static Printer all;
  return all;
}

Session &session() {
  static Session own(printer());
  return own;
}

bool printError(const llvm::Twine &message) { return printer().error(message); }

bool printError(const Diagnostic &diagnostic) { return printer().error(diagnostic); }

void printWarning(const llvm::Twine &message) { printer().warn(message); }

} // namespace colldsl::tools
