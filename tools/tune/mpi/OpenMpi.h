/// Open MPI: the component `tuned`, its variables and its files of rules. Source: the manual of
/// Open MPI 6, "The tuned component", and where it differs the code of 4.1, 5.0 and 6.0.
#pragma once

#include "tools/tune/mpi/MpiKind.h"

namespace colldsl::tools {

class OpenMpi : public MpiKind {
public:
  static Result<std::unique_ptr<MpiKind>> make(const MpiLaunch &launch);
  explicit OpenMpi(MpiFacts facts) : MpiKind(std::move(facts)) {}

  std::string usualFile() const override;
  // It reads its variables when a communicator is made.
  std::string form() const override { return "duplicates"; }
  Environment forcing() const override;
  Environment untouched() const override;
  std::vector<MpiAlgorithm> algorithms(const std::string &function, uint64_t bytes) const override;
  bool hasSize(const std::string &function) const override;
  std::vector<TuningFile> files(const std::vector<Decision> &decisions,
                                const std::string &path) const override;

private:
  /// Since version 6 files of rules are JSON.
  bool readsJson() const;
  std::string classicText(const std::vector<Decision> &decisions) const;
  std::string jsonText(const std::vector<Decision> &decisions) const;
  int numberOf(const Decision &decision) const;
  int fanoutOf(const Decision &decision) const;
};

} // namespace colldsl::tools
