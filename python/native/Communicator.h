/// Communicators, libraries and graphs of the C API, with the lifetimes that Python needs: what a
/// plan needs lives as long as the plan, and what is closed raises an error where it is used.
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
  std::optional<std::string> topology, passes;
  double setupTimeout = 0;
  uint64_t arenaBytes = 0;
  bool noSingleCopy = false;
  bool provesAll = false;
  bool strictTransfers = false;
};

class Plan;

/// One rank's view of a communicator. Methods that wait do so without the GIL.
class Communicator {
public:
  /// Ranks that are threads of this process; all at once.
  static std::vector<std::shared_ptr<Communicator>> local(uint32_t ranks, const Settings &settings);
  /// Collective. `allgather(bytes) -> bytes` has those of all ranks, in their order. What it raises
  /// is raised here.
  static std::shared_ptr<Communicator>
  ofBootstrap(uint32_t rank, uint32_t size, py::function allgather, const Settings &settings);
  /// Of the launcher that started this process.
  static std::shared_ptr<Communicator> launched(const Settings &settings);

  ~Communicator();
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;

  uint32_t rank() const { return colldsl_comm_rank(handle()); }
  uint32_t size() const { return colldsl_comm_size(handle()); }
  void progress();
  bool isClosed() const { return !comm_; }

  /// Closes its plans first. An error while a thread waits for one of them.
  void close();

  /// All waits of these ranks end with CancelledError, now and from now on: for local ranks of
  /// which one failed.
  void interrupt() { interrupted_->store(true); }
  bool isInterrupted() const { return interrupted_->load(); }

  /// Raises StateError if it is closed.
  colldsl_comm *handle() const;

private:
  friend class Plan;
  using Context = std::shared_ptr<colldsl_context>;

  Communicator(Context context, colldsl_comm *comm, std::shared_ptr<std::atomic<bool>> interrupted)
      : context_(std::move(context)), comm_(comm), interrupted_(std::move(interrupted)) {}
  static Context makeContext(const Settings &settings);

  Context context_;
  colldsl_comm *comm_;
  std::shared_ptr<std::atomic<bool>> interrupted_;
  std::vector<Plan *> plans_; ///< that are open
};

/// Of the bytes that `Program::library` made.
class Library {
public:
  explicit Library(const std::string &bytes);
  colldsl_library *handle() const { return library_.get(); }

private:
  std::shared_ptr<colldsl_context> context_;
  std::shared_ptr<colldsl_library> library_;
};

/// Collective over the communicator.
class Graph {
public:
  Graph(std::shared_ptr<Communicator> comm, const std::vector<int32_t> &destinations,
        const std::vector<int32_t> &sources);
  uint32_t rounds() const { return colldsl_graph_rounds(graph_.get()); }
  const colldsl_graph *handle() const { return graph_.get(); }

private:
  std::shared_ptr<Communicator> comm_;
  std::shared_ptr<colldsl_graph> graph_;
};

} // namespace colldsl::python
