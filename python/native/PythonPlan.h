/// A plan of the C API with the memory that it is bound to.
#pragma once

#include "python/native/PythonCommunicator.h"
#include "python/native/PythonMemory.h"

#include <map>

namespace colldsl::python {

/// Any thread may call test(), wait(), waitOnStream() and cancel() at any time. Other methods run
/// one at a time, or raise StateError.
class Plan {
public:
  /// `library` null: the standard library.
  Plan(std::shared_ptr<Communicator> comm, std::shared_ptr<Library> library,
       const std::string &name);
  ~Plan();
  Plan(const Plan &) = delete;
  Plan &operator=(const Plan &) = delete;

  void setType(const std::string &type);
  void setInPlace();
  void setDeviceOnly();
  void setDeviceMessages(uint64_t fromBytes);
  void setOp(const std::string &parameter, const std::string &op);
  void setInt(const std::string &parameter, int64_t value);
  void setList(const std::string &parameter, const std::vector<int64_t> &values);
  void setGraph(const std::string &parameter, const Graph &graph);
  void setPasses(const std::string &passes);
  void setCount(uint64_t n);
  void bind(const std::string &buffer, std::shared_ptr<Memory> memory);
  void setBlocks(const std::string &buffer, const std::vector<uint64_t> &counts,
                 const std::optional<std::vector<uint64_t>> &displacements);
  std::vector<uint64_t> blocks(const std::string &buffer, size_t count);

  /// Ctrl-C ends it, and the commit fails on all ranks.
  void commit();
  py::dict info();
  void start();
  /// `stream`: a CUstream.
  void startOnStream(uintptr_t stream);
  void waitOnStream(uintptr_t stream);
  bool test();
  /// `timeout` in seconds; negative: no limit. Ctrl-C ends it, and the run goes on.
  void wait(double timeout);
  void cancel();
  /// Communicator::interrupt() of its communicator.
  void interrupt() { comm_->interrupt(); }

  bool isClosed() const { return !plan_; }
  /// Closes the plan. If it is running, the run fails on the other ranks.
  void close();
  /// Raises StateError while another thread is in a method.
  void checkUnused() const;

private:
  /// While it lives, a thread is in a method. The counts change with the GIL alone.
  class Use;
  template <typename Call> void set(Call call);

  std::shared_ptr<Communicator> comm_;
  std::shared_ptr<Library> library_;
  colldsl_plan *plan_ = nullptr;
  std::map<std::string, std::shared_ptr<Memory>> memory_;
  unsigned users_ = 0;  ///< threads in test(), wait(), waitOnStream() or cancel()
  bool isHeld_ = false; ///< a thread is in another method
};

} // namespace colldsl::python
