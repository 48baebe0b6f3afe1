/// A page that shows schedules, and pictures of it, as `colldsl show` and `verify --show` make
/// them.
#pragma once

#include "python/native/PythonProgram.h"

#include "driver/requests/PageRequest.h"

namespace colldsl::python {

/// A simulation of a program.
struct ShownPart {
  std::shared_ptr<Program> program;
  const Asked<driver::SimulationRequest> *run;
};

class Shown {
public:
  /// One or several runs, beside each other.
  static std::unique_ptr<Shown> ofRuns(const std::vector<ShownPart> &parts,
                                       const Asked<driver::PageRequest> &page);
  /// A proof that the verifier refuses: `proofs` as Program::verify() takes them, and which of the
  /// tasks of the collective.
  static std::unique_ptr<Shown> ofProof(std::shared_ptr<Program> program,
                                        const Asked<driver::ProofRequest> &proofs,
                                        const std::string &collective, size_t task);

  const std::string &title() const { return document_.title; }
  const std::string &view() const { return document_.view; }
  /// The page.
  std::string html() const;
  /// The picture of the request's view, or of the one that the page opens.
  std::string svg(const Asked<driver::PageRequest> &page, bool isOpened);

private:
  template <typename Body> void work(Body body) const;

  std::vector<std::shared_ptr<Program>> programs_; ///< the document reads their sources
  show::Document document_;
};

} // namespace colldsl::python
