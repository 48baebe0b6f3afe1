#include "python/native/PythonCommunicator.h"

#include "ir/Concat.h"
#include "python/native/PythonPlan.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace colldsl::python {
namespace {

/// An allgather among threads of this process. Once a thread fails, no other one waits for it.
class ThreadBootstrap {
public:
  explicit ThreadBootstrap(uint32_t ranks) : ranks_(ranks) {}

  int allgather(uint32_t rank, const void *mine, void *all, size_t bytes) {
    std::unique_lock lock(mutex_);
    gathered_.resize(bytes * ranks_);
    std::memcpy(gathered_.data() + rank * bytes, mine, bytes);
    if (!meet(lock))
      return 1;
    std::memcpy(all, gathered_.data(), bytes * ranks_);
    return meet(lock) ? 0 : 1; // before the next one writes
  }

  void fail() {
    std::lock_guard lock(mutex_);
    failed_ = true;
    changed_.notify_all();
  }

private:
  bool meet(std::unique_lock<std::mutex> &lock) {
    uint64_t meeting = meeting_;
    if (++arrived_ == ranks_) {
      arrived_ = 0;
      ++meeting_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return meeting_ != meeting || failed_; });
    return meeting_ != meeting;
  }

  const uint32_t ranks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<char> gathered_;
  uint32_t arrived_ = 0;
  uint64_t meeting_ = 0;
  bool failed_ = false;
};

struct ThreadRank {
  ThreadBootstrap *bootstrap = nullptr;
  uint32_t rank = 0;
  colldsl_comm *comm = nullptr;
  colldsl_status status = COLLDSL_OK;
  std::string error;

  void create(colldsl_context *context, uint32_t size) {
    auto allgather = [](const void *mine, void *all, size_t bytes, void *user) {
      auto *self = static_cast<ThreadRank *>(user);
      return self->bootstrap->allgather(self->rank, mine, all, bytes);
    };
    colldsl_bootstrap through{rank, size, allgather, nullptr, this};
    status = colldsl_comm_create(context, &through, &comm);
    if (status == COLLDSL_OK)
      return;
    error = colldsl_last_error();
    bootstrap->fail();
  }
};

/// An allgather in Python, and the exception that it raised.
struct PythonBootstrap {
  py::function allgather;
  uint32_t size;
  std::optional<py::error_already_set> raised;

  int call(const void *mine, void *all, size_t bytes) {
    Acquired acquired;
    try {
      py::object gathered = allgather(py::bytes(static_cast<const char *>(mine), bytes));
      if (!py::isinstance<py::bytes>(gathered))
        throw py::type_error("allgather() returned no bytes");
      std::string text = gathered.cast<std::string>();
      if (text.size() != bytes * size)
        throw py::value_error("allgather() returned " + std::to_string(text.size()) + " bytes; " +
                              std::to_string(size) + " ranks have " + std::to_string(bytes * size));
      std::memcpy(all, text.data(), text.size());
      return 0;
    } catch (py::error_already_set &error) {
      raised.emplace(std::move(error));
    } catch (const py::builtin_exception &error) {
      error.set_error();
      raised.emplace();
    }
    return 1;
  }
};

/// Each rank in a thread. Returns why a thread could not be made; then all ranks fail.
std::string createAll(colldsl_context *context, uint32_t ranks, std::deque<ThreadRank> &made) {
  Released released;
  ThreadBootstrap bootstrap(ranks);
  std::deque<std::thread> threads;
  std::string refused;
  try {
    for (uint32_t r = 0; r < ranks; ++r) {
      ThreadRank &rank = made.emplace_back();
      rank.bootstrap = &bootstrap;
      rank.rank = r;
      threads.emplace_back([&rank, context, ranks] { rank.create(context, ranks); });
    }
  } catch (const std::exception &e) { // no thread, or no memory
    refused = concat("there is no thread for rank ", threads.size(), " of ", ranks, ": ", e.what());
    bootstrap.fail();
  }
  for (std::thread &thread : threads)
    thread.join();
  return refused;
}

thread_local std::optional<py::error_already_set> pendingSignal;

} // namespace

int Interruption::look(void *user) {
  if (static_cast<Interruption *>(user)->isOn.load() || pendingSignal || Released::isOver())
    return 1;
  constexpr std::chrono::milliseconds kInterval{50};
  thread_local std::chrono::steady_clock::time_point next;
  auto now = std::chrono::steady_clock::now();
  if (now < next)
    return 0;
  next = now + kInterval;
  Acquired acquired;
  if (PyErr_CheckSignals() != 0)
    pendingSignal.emplace();
  return pendingSignal ? 1 : 0;
}

void Interruption::raisePending() {
  if (!pendingSignal)
    return;
  py::error_already_set raised = std::move(*pendingSignal);
  pendingSignal.reset();
  throw std::move(raised);
}

std::shared_ptr<colldsl_context> Communicator::makeContext(const Settings &settings,
                                                           const SharedInterruption &interruption) {
  colldsl_options options = COLLDSL_OPTIONS_INIT;
  options.topology = settings.topology ? settings.topology->c_str() : nullptr;
  options.passes = settings.passes ? settings.passes->c_str() : nullptr;
  options.network = settings.network ? settings.network->c_str() : nullptr;
  options.setup_timeout = settings.setupTimeout;
  options.arena_bytes = settings.arenaBytes;
  options.no_single_copy = settings.noSingleCopy;
  options.least_proof = static_cast<colldsl_proof>(settings.leastProof);
  options.strict_transfers = settings.strictTransfers;
  options.interrupted = Interruption::look;
  options.user = interruption.get();
  colldsl_context *context = nullptr;
  check(colldsl_context_create(&options, &context));
  return {context, [interruption](colldsl_context *c) { colldsl_context_destroy(c); }};
}

std::vector<std::shared_ptr<Communicator>> Communicator::local(uint32_t ranks,
                                                               const Settings &settings) {
  if (ranks == 0)
    raise("ArgumentError", "there is nothing to do for 0 ranks");
  auto interruption = std::make_shared<Interruption>();
  Context context = makeContext(settings, interruption);
  std::deque<ThreadRank> made;
  std::string refused = createAll(context.get(), ranks, made);
  std::vector<std::shared_ptr<Communicator>> comms;
  for (ThreadRank &rank : made)
    if (rank.comm)
      comms.emplace_back(new Communicator(context, rank.comm, interruption));
  if (!refused.empty())
    raise("SetupError", refused);
  // The first one to fail has the reason; the others, that the allgather failed.
  for (const ThreadRank &rank : made)
    if (rank.status != COLLDSL_OK && rank.error.find("allgather returned") == rank.error.npos)
      raise("SetupError", rank.error);
  for (const ThreadRank &rank : made)
    if (rank.status != COLLDSL_OK)
      raise("SetupError", rank.error);
  return comms;
}

std::shared_ptr<Communicator> Communicator::create(const Settings &settings,
                                                   const colldsl_bootstrap *bootstrap) {
  auto interruption = std::make_shared<Interruption>();
  Context context = makeContext(settings, interruption);
  std::shared_ptr<Communicator> made(new Communicator(context, nullptr, interruption));
  check(Interruption::during(
      [&] { return colldsl_comm_create(context.get(), bootstrap, &made->comm_); }));
  return made;
}

std::shared_ptr<Communicator> Communicator::ofBootstrap(uint32_t rank, uint32_t size,
                                                        py::function allgather,
                                                        const Settings &settings) {
  PythonBootstrap python{std::move(allgather), size, std::nullopt};
  auto call = [](const void *mine, void *all, size_t bytes, void *user) {
    return static_cast<PythonBootstrap *>(user)->call(mine, all, bytes);
  };
  colldsl_bootstrap bootstrap{rank, size, call, nullptr, &python};
  try {
    return create(settings, &bootstrap);
  } catch (const py::error_already_set &) {
    if (python.raised) // the cause of the error
      throw std::move(*python.raised);
    throw;
  }
}

std::shared_ptr<Communicator> Communicator::launched(const Settings &settings) {
  return create(settings, nullptr);
}

// The plans hold the communicator, so none is left.
Communicator::~Communicator() { colldsl_comm_destroy(comm_); }

colldsl_comm *Communicator::handle() const {
  if (!comm_)
    raise("StateError", "the communicator is closed");
  return comm_;
}

void Communicator::checkInterrupted() const {
  if (interruption_->isOn.load())
    raise("CancelledError", "another of the local ranks failed");
}

void Communicator::progress() {
  Use use(*this);
  checkReleased([&] { return colldsl_progress(use.handle()); });
}

void Communicator::checkUnused() const {
  if (users_ > 0)
    raise("StateError", "another thread uses the communicator");
  for (const Plan *plan : plans_)
    plan->checkUnused();
}

// While a plan is closed other threads have the GIL, and may have begun to use the communicator.
void Communicator::close() {
  checkUnused();
  while (!plans_.empty())
    plans_.back()->close();
  checkUnused();
  colldsl_comm *comm = std::exchange(comm_, nullptr);
  Released released;
  colldsl_comm_destroy(comm);
}

// A library maps a file; this one is anonymous.
Library::Library(const std::string &bytes) {
  colldsl_context *context = nullptr;
  check(colldsl_context_create(nullptr, &context));
  context_.reset(context, colldsl_context_destroy);
  int fd = memfd_create("colldsl-library", MFD_CLOEXEC);
  bool isWritten = fd >= 0;
  for (size_t at = 0; isWritten && at < bytes.size();) {
    ssize_t count = write(fd, bytes.data() + at, bytes.size() - at);
    isWritten = count > 0;
    at += static_cast<size_t>(std::max<ssize_t>(count, 0));
  }
  colldsl_library *library = nullptr;
  colldsl_status status = COLLDSL_OK;
  if (isWritten)
    status =
        colldsl_library_open(context, ("/proc/self/fd/" + std::to_string(fd)).c_str(), &library);
  if (fd >= 0)
    ::close(fd);
  if (!isWritten)
    raise("LibraryError", std::string("memory for the library: ") + std::strerror(errno));
  check(status);
  library_.reset(library, colldsl_library_close);
}

Graph::Graph(std::shared_ptr<Communicator> comm, const std::vector<int32_t> &destinations,
             const std::vector<int32_t> &sources, const Keys &outKeys, const Keys &inKeys)
    : comm_(std::move(comm)) {
  auto check = [](const char *side, size_t edges, const Keys &keys) {
    if (keys && keys->size() != edges)
      raise("ArgumentError", concat(keys->size(), " keys of ", side, " for ", edges, " ", side));
  };
  check("destinations", destinations.size(), outKeys);
  check("sources", sources.size(), inKeys);
  Communicator::Use use(*comm_);
  colldsl_graph *graph = nullptr;
  comm_->meet([&] {
    return colldsl_graph_create(use.handle(), static_cast<uint32_t>(destinations.size()),
                                destinations.data(), outKeys ? outKeys->data() : nullptr,
                                static_cast<uint32_t>(sources.size()), sources.data(),
                                inKeys ? inKeys->data() : nullptr, &graph);
  });
  graph_.reset(graph, colldsl_graph_destroy);
}

} // namespace colldsl::python
