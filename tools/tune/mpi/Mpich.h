/// MPICH from 4.0 on: control variables per collective, and selection trees, which replace those
/// that its library has. Source: MPICH's coll_algorithms.txt, csel.c, ch4_coll_impl.h.
#pragma once

#include "tools/tune/mpi/MpiKind.h"
#include "tools/tune/mpi/SelectionTree.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace colldsl::tools {

class Mpich : public MpiKind {
public:
  static Result<std::unique_ptr<MpiKind>> make(const MpiLaunch &launch);
  /// An algorithm of a collective: "algorithm=MPIR_Bcast_intra_binomial", and its number for the
  /// variable that forces it.
  struct Named {
    std::string name, text;
    int number = 0;
  };
  using Algorithms = std::map<std::string, std::vector<Named>>;
  /// The algorithms that the texts of the library name, without their numbers.
  static Algorithms namesIn(const MpiFacts &facts);
  static Result<std::unique_ptr<Mpich>> make(MpiFacts facts, Algorithms algorithms);

  std::string usualFile() const override { return "mpich-selection.json"; }
  // It reads its variables at each call.
  std::string form() const override { return "shared"; }
  Environment forcing() const override;
  Environment untouched() const override;
  std::vector<MpiAlgorithm> algorithms(const std::string &function, uint64_t bytes) const override;
  bool hasSize(const std::string &function) const override;
  std::vector<TuningFile> files(const std::vector<Decision> &decisions,
                                const std::string &path) const override;

private:
  explicit Mpich(MpiFacts facts) : MpiKind(std::move(facts)) {}
  static Status findNumbers(const MpiLaunch &launch, const MpiFacts &facts, Algorithms &all);
  /// The device's composition for a collective in a communicator without a hierarchy of nodes: one
  /// algorithm in the whole communicator. Null: the device has no composition for it.
  const SelectionTree *flatComposition(const std::string &function) const;
  SelectionTree leafOf(const Decision &decision) const;
  /// Inserts rules into one tree, with `leaf` of each decision.
  void insert(SelectionTree &tree, const std::vector<const Decision *> &decisions,
              llvm::function_ref<SelectionTree(const Decision &)> leaf) const;

  Algorithms algorithms_;
  SelectionTree tree_, deviceTree_;
};

} // namespace colldsl::tools
