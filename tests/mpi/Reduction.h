/// A collective that combines what the ranks send.
#pragma once

#include "tests/mpi/Deal.h"
#include "tests/mpi/Operators.h"

#include <optional>

namespace conformance {

/// What a deal has as operator, the same on all ranks.
std::unique_ptr<Operator> makeOperator(const Deal &deal);

class Reduction : public Trial {
public:
  Reduction(const Members &members, const Deal &deal, Random local, Report &report, Reused *reused);

  void prepare() override;
  MPI_Request start() override;
  void check() override;
  void moveBuffers() override;
  const std::string &label() const override { return label_; }

private:
  bool isInPlace() const;
  /// Whether this rank gets a result.
  bool hasResult() const;
  void drawCounts();
  void askOracle();
  void combine(std::vector<std::vector<std::byte>> &contributions);
  void expect(const std::byte *result);
  CollectiveArguments arguments();

  const Members &members_;
  Deal deal_;
  Random local_;
  Report &report_;
  int root_;
  std::unique_ptr<Operator> operator_;
  std::string label_;
  /// Elements by rank, of a scattered result; otherwise all.
  std::vector<int> counts_;
  int elements_ = 0, mine_ = 0, before_ = 0;
  Side send_, recv_;
  std::vector<std::byte> contribution_, expected_, sent_, guard_;
  std::vector<bool> ignored_;
  StartedCall call_;
};

} // namespace conformance
