#include "driver/Lists.h"
#include "lsp/Server.h"
#include "tools/Commands.h"

#include <algorithm>
#include <csignal>
#include <sys/signalfd.h>
#include <unistd.h>

namespace colldsl::tools {
namespace {

/// Lowers the default limits, so that proofs during editing stay small. Options may raise them.
void bound(InstantiateLimits &limits) {
  limits.maxSteps = std::min<uint64_t>(limits.maxSteps, 1'000'000);
  limits.maxOps = std::min<uint64_t>(limits.maxOps, 100'000);
  limits.maxTotalOps = std::min<uint64_t>(limits.maxTotalOps, 400'000);
  limits.maxDeps = std::min<uint64_t>(limits.maxDeps, 400'000);
  limits.maxTotalDeps = std::min<uint64_t>(limits.maxTotalDeps, 1'600'000);
}

/// A descriptor that becomes readable when a signal asks the program to end, so that it can remove
/// its files. Threads that begin later inherit the mask.
int endingSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGTERM, SIGINT, SIGHUP})
    sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signalfd(-1, &signals, SFD_CLOEXEC);
}

} // namespace

Exit lspCommand(Arguments arguments) {
  lsp::ServerOptions settings;
  bound(settings.proofs.schedule.instantiate);
  Options options(
      "lsp", "[OPTION...]",
      "Serves an editor over standard input and output, in the Language Server\n"
      "Protocol: diagnostics, hover, definitions, references, renaming, completion,\n"
      "parameters of calls, formatting. Collectives of files without errors are proved in\n"
      "the background, as `colldsl verify FILE` does it; docs/editors.md has the set-up of\n"
      "editors.");
  options.section("proofs");
  options.addFlag("--no-proofs", "prove nothing", settings.proves, false);
  options.add("--seconds", "T",
              "for the proofs of a collective, at most, such as 20s (default: 10s)",
              [&settings](llvm::StringRef text) -> Status {
                constexpr uint64_t kSecond = 1'000'000'000;
                Result<uint64_t> ns = parseDurationNs(text, kSecond);
                if (!ns)
                  return ns.status();
                if (*ns % kSecond != 0 || *ns > 3600 * kSecond)
                  return Status::error("'" + text.str() + "' is no number of seconds up to 3600");
                settings.seconds = static_cast<uint32_t>(*ns / kSecond);
                return {};
              });
  settings.proofs.addTo(options);
  if (std::optional<Exit> exit = options.parse(arguments))
    return *exit;
  if (!options.operands().empty())
    return options.refuse("editors open the files, name none");
  const PassRequest &passes = settings.proofs.schedule.passes;
  if (passes.printAfterAll || passes.timePasses)
    return options.refuse(
        std::string(passes.printAfterAll ? "--print-after-all" : "--time-passes") +
        " prints on the standard error, which no editor shows; `colldsl verify` "
        "has it");
  std::signal(SIGPIPE, SIG_IGN); // the end of the stream tells that the editor died
  int interrupt = endingSignals();
  lsp::Server server(settings, STDIN_FILENO, STDOUT_FILENO, interrupt);
  bool wasShutDown = server.run();
  close(interrupt);
  return wasShutDown ? Exit::Success : Exit::Failure;
}

} // namespace colldsl::tools
