/// Communicators, libraries and graphs of the C API, with the lifetimes that Python needs: a plan
/// keeps alive all that it uses, and use of a closed object raises an error.
#pragma once

#include "python/native/Errors.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace colldsl::python {

/// colldsl_options.
struct Settings {
  std::optional<std::string> topology, passes, network;
  double setupTimeout = 0;
  uint64_t arenaBytes = 0;
  bool noSingleCopy = false;
  int leastProof = COLLDSL_PROOF_NONE;
  bool strictTransfers = false;
};

class Plan;

/// A request to end the waits of ranks for each other: by Ctrl-C, or because another local rank
/// failed.
struct Interruption {
  std::atomic<bool> isOn{false};

  /// The callback colldsl_options::interrupted, with an Interruption as `user`. Lets Python handle
  /// its signals now and then.
  static int look(void *user);

  /// Makes a call in which look() is called, without the GIL. Raises the exception of a signal
  /// there, so that none is left for another call of this thread.
  template <typename Call> static colldsl_status during(Call call) {
    colldsl_status status;
    {
      Released released;
      status = call();
    }
    raisePending();
    return status;
  }

private:
  static void raisePending();
};

/// One rank's view of a communicator. Methods that wait do so without the GIL.
class Communicator {
public:
  /// Ranks that are threads of this process; all at once.
  static std::vector<std::shared_ptr<Communicator>> local(uint32_t ranks, const Settings &settings);
  /// Collective. `allgather(bytes) -> bytes` returns the bytes of all ranks, in their order. An
  /// exception that it raises is raised here.
  static std::shared_ptr<Communicator>
  ofBootstrap(uint32_t rank, uint32_t size, py::function allgather, const Settings &settings);
  /// A communicator over the launcher that started this process.
  static std::shared_ptr<Communicator> launched(const Settings &settings);

  ~Communicator();
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;

  uint32_t rank() const { return colldsl_comm_rank(handle()); }
  uint32_t size() const { return colldsl_comm_size(handle()); }
  void progress();
  bool isClosed() const { return !comm_; }

  /// Closes its plans, then itself. Raises an error if a thread uses it, or one of them.
  void close();

  /// Ends all waits of these ranks with CancelledError, now and from now on. Used if one of the
  /// local ranks failed.
  void interrupt() { interruption_->isOn.store(true); }
  /// Raises CancelledError after interrupt().
  void checkInterrupted() const;

  /// Makes a call that waits for other ranks, without the GIL, and raises its error.
  template <typename Call> void meet(Call call) const {
    colldsl_status status = Interruption::during(call);
    if (status != COLLDSL_OK)
      checkInterrupted();
    check(status);
  }

  /// Raises StateError if it is closed.
  colldsl_comm *handle() const;

  /// While it lives, a thread uses the communicator, and it cannot be closed. The count changes
  /// with the GIL alone.
  class Use {
  public:
    explicit Use(Communicator &comm) : comm_(comm), handle_(comm.handle()) { ++comm.users_; }
    ~Use() { --comm_.users_; }
    Use(const Use &) = delete;
    Use &operator=(const Use &) = delete;
    colldsl_comm *handle() const { return handle_; }

  private:
    Communicator &comm_;
    colldsl_comm *const handle_;
  };

private:
  friend class Plan;
  using Context = std::shared_ptr<colldsl_context>;
  using SharedInterruption = std::shared_ptr<Interruption>;

  Communicator(Context context, colldsl_comm *comm, SharedInterruption interruption)
      : context_(std::move(context)), comm_(comm), interruption_(std::move(interruption)) {}
  /// The interruption lives as long as the context.
  static Context makeContext(const Settings &settings, const SharedInterruption &interruption);
  static std::shared_ptr<Communicator> create(const Settings &settings,
                                              const colldsl_bootstrap *bootstrap);

  /// Raises StateError if a thread is in a method of it, or of one of its plans.
  void checkUnused() const;

  Context context_;
  colldsl_comm *comm_;
  SharedInterruption interruption_;
  std::vector<Plan *> plans_; ///< open plans
  unsigned users_ = 0;        ///< threads that use it otherwise
};

/// A library made of the bytes of `Program::library`.
class Library {
public:
  explicit Library(const std::string &bytes);
  colldsl_library *handle() const { return library_.get(); }

private:
  std::shared_ptr<colldsl_context> context_;
  std::shared_ptr<colldsl_library> library_;
};

/// A graph. Its construction is collective over the communicator.
class Graph {
public:
  using Keys = std::optional<std::vector<int64_t>>; ///< nothing: all are 0
  Graph(std::shared_ptr<Communicator> comm, const std::vector<int32_t> &destinations,
        const std::vector<int32_t> &sources, const Keys &outKeys, const Keys &inKeys);
  uint32_t rounds() const { return colldsl_graph_rounds(graph_.get()); }
  const colldsl_graph *handle() const { return graph_.get(); }

private:
  std::shared_ptr<Communicator> comm_;
  std::shared_ptr<colldsl_graph> graph_;
};

} // namespace colldsl::python
