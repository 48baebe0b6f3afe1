/// Where the program is, what it found wrong, and the watchdog that ends it.
#pragma once

#include <string>

namespace conformance {

class Report {
public:
  /// `keepGoing`: a mismatch is printed and counted; otherwise it ends the program with exit
  /// code 1. A crash says where the rank is, and ends it with exit code 3.
  explicit Report(bool keepGoing);

  /// The watchdog does the same after `timeoutSeconds`, from now on.
  void watch(unsigned timeoutSeconds);

  /// The case that is about to run.
  void enter(const std::string &place);
  /// The call that is about to be made.
  void doing(const std::string &call);

  void mismatch(const std::string &call, const std::string &what);
  /// A mismatch unless `code`, what the MPI returned, is MPI_SUCCESS. Says whether it is.
  bool expectSuccess(int code, const std::string &call);
  void expect(bool condition, const std::string &call, const std::string &what);

  unsigned mismatches() const { return mismatches_; }

private:
  bool keepGoing_;
  unsigned mismatches_ = 0;
  std::string place_;
};

} // namespace conformance
