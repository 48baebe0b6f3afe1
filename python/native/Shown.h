/// A page that shows schedules, and pictures of it, as `colldsl show` and `verify --show` make
/// them.
#pragma once

#include "python/native/PythonProgram.h"

#include "tools/show/PageOptions.h"

namespace colldsl::python {

/// A simulation: of the program, with words as Program::simulate() takes them.
struct ShownPart {
  std::shared_ptr<Program> program;
  Words words;
};

class Shown {
public:
  /// One or several runs, beside each other. `words` are options of a page.
  static std::unique_ptr<Shown> ofRuns(const std::vector<ShownPart> &parts, const Words &words);
  /// A proof that the verifier refuses: `proof` as Program::verify() takes it, and which of the
  /// tasks of the collective.
  static std::unique_ptr<Shown> ofProof(std::shared_ptr<Program> program, const Words &proof,
                                        const std::string &collective, size_t task);

  const std::string &title() const { return document_.title; }
  const std::string &view() const { return document_.view; }
  /// The page.
  std::string html() const;
  /// The picture of a view; words as options of a page.
  std::string svg(const Words &words);

private:
  template <typename Body> void work(Body body) const;

  std::vector<std::shared_ptr<Program>> programs_; ///< the document reads their sources
  show::Document document_;
};

} // namespace colldsl::python
