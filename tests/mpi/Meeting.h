/// A barrier: no rank leaves before all have come.
#pragma once

#include "tests/mpi/Deal.h"

#include <optional>

namespace conformance {

/// The ranks must share a clock.
class Meeting : public Trial {
public:
  Meeting(const Members &members, const Deal &deal, Random local, Report &report);

  void prepare() override;
  MPI_Request start() override;
  void check() override;
  void moveBuffers() override {}
  const std::string &label() const override { return label_; }

private:
  CollectiveArguments arguments() const;

  const Members &members_;
  Deal deal_;
  Random local_;
  Report &report_;
  std::string label_;
  int tag_;
  double entered_ = 0, left_ = 0;
  /// When the others came, which they say as soon as they have.
  std::vector<double> others_;
  std::vector<MPI_Request> requests_;
  StartedCall call_{nullptr};
};

} // namespace conformance
