#include "tests/mpi/Report.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <mpi.h>
#include <unistd.h>

namespace conformance {
namespace {

// What the watchdog prints: a signal handler may only write.
char current[512];
size_t currentLength = 0;

void bark(int signal) {
  static const char timeout[] = "conformance: timeout in ", crash[] = "conformance: crash in ";
  const char *begin = signal == SIGALRM ? timeout : crash;
  if (write(STDERR_FILENO, begin, std::strlen(begin)) < 0 ||
      write(STDERR_FILENO, current, currentLength) < 0)
    _exit(4);
  _exit(3);
}

void setCurrent(const std::string &text) {
  currentLength = std::min(text.size(), sizeof current - 1);
  std::memcpy(current, text.data(), currentLength);
  current[currentLength++] = '\n';
}

std::string rankName() {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return ", rank " + std::to_string(rank);
}

} // namespace

Report::Report(bool keepGoing) : keepGoing_(keepGoing) {
  for (int which : {SIGALRM, SIGSEGV, SIGBUS, SIGABRT, SIGFPE})
    signal(which, bark);
}

void Report::watch(unsigned timeoutSeconds) { alarm(timeoutSeconds); }

void Report::enter(const std::string &place) {
  place_ = place + rankName();
  setCurrent(place_);
}

void Report::doing(const std::string &call) { setCurrent(place_ + ": " + call); }

void Report::mismatch(const std::string &call, const std::string &what) {
  ++mismatches_;
  std::printf("mismatch: %s: %s: %s\n", call.c_str(), place_.c_str(), what.c_str());
  std::fflush(stdout);
  if (keepGoing_)
    return;
  // Launchers may drop what was printed just before the end.
  usleep(200000);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

bool Report::expectSuccess(int code, const std::string &call) {
  if (code == MPI_SUCCESS)
    return true;
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(code, text, &length);
  mismatch(call, "returned an error: " + std::string(text, length));
  return false;
}

void Report::expect(bool condition, const std::string &call, const std::string &what) {
  if (!condition)
    mismatch(call, what);
}

} // namespace conformance
