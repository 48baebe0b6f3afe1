/// The info hints of a communicator: those that this rank wants, and those that all ranks gave.
#pragma once

#include "mpi/comm/InfoHints.h"

#include <optional>

namespace colldsl::mpi {

/// Under a Guard, unless noted otherwise.
class CommHints {
public:
  /// The hints that all ranks gave; none at first.
  InfoHints agreed() const { return agreed_; }
  /// True if buffers stay the same and are not freed between calls. Shared with operations, which
  /// may outlive this.
  std::shared_ptr<const bool> hasStaticBuffers() const { return hasStaticBuffers_; }
  /// A call broke that promise: it holds no more.
  void revokeStaticBuffers() { *hasStaticBuffers_ = false; }

  /// This rank wants other hints; no Guard is needed. The ranks have yet to agree.
  void want(InfoHints hints) { wanted_ = hints; }
  /// Collective over `comm`, without a Guard: returns the hints that all ranks want from now on,
  /// which set() takes.
  InfoHints agree(MPI_Comm comm, MPI_Info info);

  /// The ranks agreed on these hints; a query is given up.
  void set(InfoHints agreed);

  /// `wanted` holds from the moment when takeAnswer() finds that the query is complete.
  void setLater(InfoHints wanted, std::shared_ptr<HintsQuery> query);
  /// The hints of such a query, once it is complete.
  std::optional<InfoHints> takeAnswer();

private:
  InfoHints wanted_, agreed_;
  std::shared_ptr<HintsQuery> query_;
  std::shared_ptr<bool> hasStaticBuffers_ = std::make_shared<bool>(false);
};

} // namespace colldsl::mpi
