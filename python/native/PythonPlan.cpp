#include "python/native/PythonPlan.h"

#include "ir/Concat.h"

#include <algorithm>

namespace colldsl::python {

class Plan::Use {
public:
  enum Kind { Shared, Alone };

  Use(Plan &plan, Kind kind) : plan_(plan), kind_(kind) {
    if (!plan.plan_)
      raise("StateError", "the plan is closed");
    if (plan.isHeld_ || (kind == Alone && plan.users_ > 0))
      raise("StateError", "another thread uses the plan");
    if (kind == Alone)
      plan.isHeld_ = true;
    else
      ++plan.users_;
  }
  ~Use() {
    if (kind_ == Alone)
      plan_.isHeld_ = false;
    else
      --plan_.users_;
  }
  Use(const Use &) = delete;
  Use &operator=(const Use &) = delete;

private:
  Plan &plan_;
  const Kind kind_;
};

template <typename Call> void Plan::set(Call call) {
  Use use(*this, Use::Alone);
  checkReleased(call);
}

Plan::Plan(std::shared_ptr<Communicator> comm, std::shared_ptr<Library> library,
           const std::string &name)
    : comm_(std::move(comm)), library_(std::move(library)) {
  check(colldsl_plan_create(comm_->handle(), library_ ? library_->handle() : nullptr, name.c_str(),
                            &plan_));
  comm_->plans_.push_back(this);
}

Plan::~Plan() {
  if (plan_)
    close();
}

void Plan::checkUnused() const {
  if (isHeld_ || users_ > 0)
    raise("StateError", "another thread uses the plan");
}

void Plan::close() {
  if (!plan_)
    return;
  checkUnused();
  std::erase(comm_->plans_, this);
  colldsl_plan *plan = std::exchange(plan_, nullptr);
  {
    Released released;
    colldsl_plan_destroy(plan);
  }
  memory_.clear();
}

void Plan::setType(const std::string &type) {
  std::optional<ElementType> known = parseElementType(type);
  if (!known)
    raise("ArgumentError", "there is no type '" + type + "'");
  set([&] { return colldsl_plan_set_type(plan_, static_cast<colldsl_type>(*known)); });
}

void Plan::setInPlace() {
  set([&] { return colldsl_plan_set_in_place(plan_, 1); });
}

void Plan::setDeviceOnly() {
  set([&] { return colldsl_plan_set_device_only(plan_, 1); });
}

void Plan::setDeviceMessages(uint64_t fromBytes) {
  set([&] { return colldsl_plan_set_device_messages(plan_, fromBytes); });
}

void Plan::setOp(const std::string &parameter, const std::string &op) {
  std::optional<Reduction> known = parseReduction(op);
  if (!known || !isOfCallers(*known))
    raise("ArgumentError", "there is no reduction '" + op + "'");
  set([&] {
    return colldsl_plan_set_op(plan_, parameter.c_str(), static_cast<colldsl_op>(*known));
  });
}

void Plan::setInt(const std::string &parameter, int64_t value) {
  set([&] { return colldsl_plan_set_int(plan_, parameter.c_str(), value); });
}

void Plan::setList(const std::string &parameter, const std::vector<int64_t> &values) {
  set([&] {
    return colldsl_plan_set_list(plan_, parameter.c_str(), values.size(), values.data());
  });
}

void Plan::setGraph(const std::string &parameter, const Graph &graph) {
  set([&] { return colldsl_plan_set_graph(plan_, parameter.c_str(), graph.handle()); });
}

void Plan::setPasses(const std::string &passes) {
  set([&] { return colldsl_plan_set_passes(plan_, passes.c_str()); });
}

void Plan::setCount(uint64_t n) {
  set([&] { return colldsl_plan_set_count(plan_, n); });
}

void Plan::bind(const std::string &buffer, std::shared_ptr<Memory> memory) {
  set([&] {
    if (memory->isOnDevice())
      return colldsl_plan_bind_device(plan_, buffer.c_str(), memory->data(), memory->bytes());
    return memory->isWritable()
               ? colldsl_plan_bind(plan_, buffer.c_str(), memory->data(), memory->bytes())
               : colldsl_plan_bind_const(plan_, buffer.c_str(), memory->data(), memory->bytes());
  });
  memory_[buffer] = std::move(memory);
}

void Plan::setBlocks(const std::string &buffer, const std::vector<uint64_t> &counts,
                     const std::optional<std::vector<uint64_t>> &displacements) {
  if (displacements && displacements->size() != counts.size())
    raise("ArgumentError", concat("buffer '", buffer, "': ", displacements->size(),
                                  " displacements for ", counts.size(), " blocks"));
  set([&] {
    return colldsl_plan_set_blocks(plan_, buffer.c_str(), counts.size(), counts.data(),
                                   displacements ? displacements->data() : nullptr);
  });
}

std::vector<uint64_t> Plan::blocks(const std::string &buffer, size_t count) {
  std::vector<uint64_t> counts(count);
  set([&] { return colldsl_plan_get_blocks(plan_, buffer.c_str(), count, counts.data()); });
  return counts;
}

void Plan::commit() {
  Use use(*this, Use::Alone);
  comm_->meet([&] { return colldsl_plan_commit(plan_); });
}

py::dict Plan::info() {
  Use use(*this, Use::Alone);
  colldsl_plan_description d{};
  d.size = sizeof d;
  check(colldsl_plan_info(plan_, &d));
  using namespace py::literals;
  return py::dict("collective"_a = d.collective, "reason"_a = d.reason, "schedule"_a = d.schedule,
                  "arguments"_a = d.arguments, "passes"_a = d.passes,
                  "proof"_a = static_cast<int>(d.proof), "min_count"_a = d.min_count,
                  "max_count"_a = d.max_count, "remarks"_a = d.remarks, "transfers"_a = d.transfers,
                  "proved_for"_a = d.proved_for, "proved_ranks"_a = d.proved_ranks);
}

void Plan::start() {
  set([&] { return colldsl_plan_start(plan_); });
}

void Plan::startOnStream(uintptr_t stream) {
  set([&] { return colldsl_plan_start_on_stream(plan_, reinterpret_cast<void *>(stream)); });
}

void Plan::waitOnStream(uintptr_t stream) {
  Use use(*this, Use::Shared);
  checkReleased(
      [&] { return colldsl_plan_wait_on_stream(plan_, reinterpret_cast<void *>(stream)); });
}

bool Plan::test() {
  Use use(*this, Use::Shared);
  comm_->checkInterrupted();
  int done = 0;
  checkReleased([&] { return colldsl_plan_test(plan_, &done); });
  return done != 0;
}

// Python handles signals between pieces of the wait. The last piece fails the plan if the run is
// not over.
void Plan::wait(double timeout) {
  Use use(*this, Use::Shared);
  constexpr double kPiece = 0.05;
  double rest = timeout;
  for (; timeout < 0 || rest > kPiece; rest -= kPiece) {
    int done = 0;
    checkReleased([&] { return colldsl_plan_test_for(plan_, kPiece, &done); });
    if (PyErr_CheckSignals() != 0)
      throw py::error_already_set();
    if (done != 0)
      return;
    comm_->checkInterrupted();
  }
  checkReleased([&] { return colldsl_plan_wait(plan_, rest); });
}

void Plan::cancel() {
  Use use(*this, Use::Shared);
  check(colldsl_plan_cancel(plan_));
}

} // namespace colldsl::python
