#include "api/Handles.h"

#include "device/CudaDriver.h"
#include "ir/Concat.h"

#include <algorithm>
#include <cstring>

using namespace colldsl;
using namespace colldsl::api;

namespace {

/// Makes the checks that all functions on plans need, then runs the body.
template <typename Body>
colldsl_status onPlan(colldsl_plan *plan, const char *name, const char *argument, Body body) {
  return guarded({{"plan", plan}, {argument, name}}, [&] { return body(plan->plan); });
}

template <typename Body> colldsl_status onPlan(colldsl_plan *plan, Body body) {
  return onPlan(plan, "", "", body);
}

/// Variant of onPlan() for a plan that can run.
template <typename Body> colldsl_status onCommitted(colldsl_plan *plan, Body body) {
  return onPlan(plan, [&](CollectivePlan &p) {
    return p.isCommitted() ? body(p) : fail(COLLDSL_ERROR_STATE, "the plan is not committed");
  });
}

/// Variant of onPlan() for settings before a plan is committed.
template <typename Body>
colldsl_status describing(colldsl_plan *plan, const char *name, const char *argument, Body body) {
  return onPlan(plan, name, argument,
                [&](CollectivePlan &p) { return report(body(p), COLLDSL_ERROR_STATE); });
}

colldsl_status setNumber(colldsl_plan *plan, const char *parameter, int64_t value,
                         CollectivePlan::NumberKind kind) {
  return describing(plan, parameter, "parameter",
                    [&](CollectivePlan &p) { return p.setValue(parameter, value, kind); });
}

colldsl_status bind(colldsl_plan *plan, const char *buffer, BoundBuffer memory) {
  return onPlan(plan, buffer, "buffer", [&](CollectivePlan &p) {
    bool runs = p.isCommitted() && p.plan().running();
    return report(p.bind(buffer, memory), runs ? COLLDSL_ERROR_STATE : COLLDSL_ERROR_ARGUMENT);
  });
}

/// Begins a run by start().
template <typename Start> colldsl_status starting(colldsl_plan *plan, Start start) {
  return onCommitted(plan, [&](CollectivePlan &p) {
    if (p.plan().running())
      return fail(COLLDSL_ERROR_STATE, "the plan is running");
    plan->isCancelled.store(false, std::memory_order_relaxed);
    plan->waitedNs.store(0, std::memory_order_relaxed);
    return report(start(p), p.plan().failed() ? COLLDSL_ERROR_RUN : COLLDSL_ERROR_PLAN);
  });
}

/// Runs the body with the driver of devices.
template <typename Body> colldsl_status withDriver(Body body) {
  return guarded([&] {
    Result<const device::CudaDriver *> driver = device::cudaDriver();
    return driver ? body(**driver) : report(driver.status(), COLLDSL_ERROR_ARGUMENT);
  });
}

/// The status of the last run.
colldsl_status outcome(const colldsl_plan &plan, const Plan &run) {
  Status s = run.status();
  if (s && plan.isCancelled.load(std::memory_order_relaxed))
    return fail(COLLDSL_ERROR_CANCELLED, "the run was cancelled");
  return report(s, run.timedOut() ? COLLDSL_ERROR_TIMEOUT : COLLDSL_ERROR_RUN);
}

} // namespace

colldsl_status colldsl_plan_create(colldsl_comm *comm, colldsl_library *library, const char *name,
                                   colldsl_plan **plan) {
  return guarded({{"comm", comm}, {"name", name}, {"plan", plan}}, [&] {
    Library *from = library ? library->library.get() : nullptr;
    if (!from && comm->hasProfile)
      from = tunedLibrary();
    if (!from) {
      Result<Library *> standard = standardLibrary();
      if (!standard)
        return report(standard.status(), COLLDSL_ERROR_LIBRARY);
      from = *standard;
    }
    auto made = std::make_unique<colldsl_plan>(comm->communicator, *from, name);
    (void)made->plan.setCompiler(comm->compiler); // not committed yet
    made->plan.requireTransfers(comm->strictTransfers);
    *plan = made.release();
    return COLLDSL_OK;
  });
}

void colldsl_plan_destroy(colldsl_plan *plan) {
  if (plan && plan->owner == getpid())
    delete plan;
}

colldsl_status colldsl_plan_set_type(colldsl_plan *plan, colldsl_type type) {
  return onPlan(plan, [&](CollectivePlan &p) {
    if (static_cast<unsigned>(type) >= kElementTypes)
      return fail(COLLDSL_ERROR_ARGUMENT, concat("there is no type ", static_cast<int>(type)));
    return report(p.setType(static_cast<ElementType>(type)), COLLDSL_ERROR_STATE);
  });
}

colldsl_status colldsl_plan_set_in_place(colldsl_plan *plan, int in_place) {
  return onPlan(plan, [&](CollectivePlan &p) {
    return report(p.setInPlace(in_place != 0), COLLDSL_ERROR_STATE);
  });
}

colldsl_status colldsl_plan_set_device_only(colldsl_plan *plan, int device_only) {
  return onPlan(plan, [&](CollectivePlan &p) {
    return report(p.setDeviceOnly(device_only != 0), COLLDSL_ERROR_STATE);
  });
}

colldsl_status colldsl_plan_set_device_messages(colldsl_plan *plan, uint64_t from_bytes) {
  return onPlan(plan, [&](CollectivePlan &p) {
    return report(p.setDeviceMessages(from_bytes), COLLDSL_ERROR_STATE);
  });
}

colldsl_status colldsl_plan_set_op(colldsl_plan *plan, const char *parameter, colldsl_op op) {
  if (static_cast<unsigned>(op) >= kReductions || !isOfCallers(static_cast<Reduction>(op)))
    return fail(COLLDSL_ERROR_ARGUMENT, concat("there is no operator ", static_cast<int>(op)));
  return setNumber(plan, parameter, static_cast<int64_t>(op),
                   CollectivePlan::NumberKind::Reduction);
}

colldsl_status colldsl_plan_set_int(colldsl_plan *plan, const char *parameter, int64_t value) {
  return setNumber(plan, parameter, value, CollectivePlan::NumberKind::Int);
}

colldsl_status colldsl_plan_set_list(colldsl_plan *plan, const char *parameter, size_t length,
                                     const int64_t *values) {
  if (length > 0 && !values)
    return failNull("values");
  if (Status s = checkLength("values", length); !s)
    return report(s, COLLDSL_ERROR_ARGUMENT);
  return describing(plan, parameter, "parameter", [&](CollectivePlan &p) {
    return p.setValue(parameter, std::vector<int64_t>(values, values + length));
  });
}

colldsl_status colldsl_plan_set_graph(colldsl_plan *plan, const char *parameter,
                                      const colldsl_graph *graph) {
  if (!graph)
    return failNull("graph");
  return describing(plan, parameter, "parameter",
                    [&](CollectivePlan &p) { return p.setGraph(parameter, graph->graph); });
}

colldsl_status colldsl_plan_set_passes(colldsl_plan *plan, const char *passes) {
  return onPlan(plan, passes, "passes", [&](CollectivePlan &p) {
    CompileSettings settings = p.compiler()->settings();
    settings.passes = passes;
    Result<std::shared_ptr<const PlanCompiler>> compiler = PlanCompiler::make(std::move(settings));
    if (!compiler)
      return report(compiler.status(), COLLDSL_ERROR_ARGUMENT);
    return report(p.setCompiler(compiler.take()), COLLDSL_ERROR_STATE);
  });
}

colldsl_status colldsl_plan_forget(colldsl_plan *plan, const char *name) {
  return describing(plan, name, "name", [&](CollectivePlan &p) { return p.forget(name); });
}

colldsl_status colldsl_plan_set_count(colldsl_plan *plan, uint64_t n) {
  constexpr uint64_t most = INT64_MAX;
  if (n > most)
    return fail(COLLDSL_ERROR_ARGUMENT, concat("n is ", n, "; it may be up to ", most));
  return onPlan(plan,
                [&](CollectivePlan &p) { return report(p.setElements(n), COLLDSL_ERROR_STATE); });
}

colldsl_status colldsl_plan_bind(colldsl_plan *plan, const char *buffer, void *data,
                                 uint64_t bytes) {
  return bind(plan, buffer, {data, bytes});
}

colldsl_status colldsl_plan_bind_const(colldsl_plan *plan, const char *buffer, const void *data,
                                       uint64_t bytes) {
  return bind(plan, buffer, BoundBuffer::in(data, bytes));
}

colldsl_status colldsl_plan_bind_device(colldsl_plan *plan, const char *buffer, void *memory,
                                        uint64_t bytes) {
  return onPlan(plan, buffer, "buffer", [&](CollectivePlan &) {
    return withDriver([&](const device::CudaDriver &driver) {
      bool isNone = !memory && bytes == 0; // of a rank without elements
      if (auto context = device::contextOf(driver, memory, bytes); !context && !isNone)
        return fail(COLLDSL_ERROR_ARGUMENT, concat("'", buffer, "': ", context.message()));
      return bind(plan, buffer, {memory, bytes, false, &driver});
    });
  });
}

colldsl_status colldsl_plan_set_blocks(colldsl_plan *plan, const char *buffer, size_t blocks,
                                       const uint64_t *counts, const uint64_t *displacements) {
  if (blocks > 0 && !counts)
    return failNull("counts");
  if (Status s = checkLength("counts", blocks); !s)
    return report(s, COLLDSL_ERROR_ARGUMENT);
  return onPlan(plan, buffer, "buffer", [&](CollectivePlan &p) {
    BlockTable table;
    uint64_t all = 0;
    for (size_t i = 0; i < blocks; ++i) {
      table.length.push_back(counts[i]);
      if (displacements)
        table.offset.push_back(displacements[i]);
      if (__builtin_add_overflow(all, counts[i], &all))
        return fail(COLLDSL_ERROR_ARGUMENT,
                    concat("the blocks of '", buffer, "' have more than 2^64 elements"));
    }
    bool runs = p.isCommitted() && p.plan().running();
    return report(p.setBlocks(buffer, table), runs ? COLLDSL_ERROR_STATE : COLLDSL_ERROR_ARGUMENT);
  });
}

colldsl_status colldsl_plan_commit(colldsl_plan *plan) {
  return onPlan(plan, [&](CollectivePlan &p) {
    if (p.isCommitted())
      return fail(COLLDSL_ERROR_STATE, "the plan is committed");
    Status s = p.commit();
    plan->arguments = s ? p.argumentsInWords() : "";
    plan->transfers = s ? p.plan().transfers().inWords() : "";
    return report(s, COLLDSL_ERROR_PLAN);
  });
}

colldsl_status colldsl_plan_info(const colldsl_plan *plan, colldsl_plan_description *description) {
  return guarded({{"plan", plan}, {"description", description}}, [&] {
    const CollectivePlan &p = plan->plan;
    if (!p.isCommitted())
      return fail(COLLDSL_ERROR_STATE, "the plan is not committed");
    size_t size = description->size;
    if (size < sizeof size || size > sizeof(colldsl_plan_description))
      return fail(
          COLLDSL_ERROR_ARGUMENT,
          concat("a description has ", sizeof(colldsl_plan_description), " bytes, not ", size));
    const LibraryImage *image = p.image();
    colldsl_plan_description all{size,
                                 p.collective().c_str(),
                                 p.reason().c_str(),
                                 image ? "image" : "program",
                                 plan->arguments.c_str(),
                                 p.passes().c_str(),
                                 static_cast<colldsl_proof>(p.proof().level),
                                 p.sizeClass().min,
                                 p.sizeClass().max,
                                 p.remarks().c_str(),
                                 plan->transfers.c_str(),
                                 p.proof().domain.c_str(),
                                 p.proof().mostRanks};
    std::memcpy(description, &all, size);
    return COLLDSL_OK;
  });
}

const char *colldsl_plan_collective(const colldsl_plan *plan) {
  return plan && plan->plan.isCommitted() ? plan->plan.collective().c_str() : nullptr;
}

colldsl_status colldsl_plan_start(colldsl_plan *plan) {
  return starting(plan, [](CollectivePlan &p) { return p.start(); });
}

colldsl_status colldsl_plan_start_on_stream(colldsl_plan *plan, void *stream) {
  return withDriver([&](const device::CudaDriver &driver) {
    return starting(plan, [&](CollectivePlan &p) {
      Status s = p.makeReady();
      return s ? p.plan().startOnStream(driver, static_cast<device::CuStream>(stream)) : s;
    });
  });
}

colldsl_status colldsl_plan_wait_on_stream(colldsl_plan *plan, void *stream) {
  return withDriver([&](const device::CudaDriver &driver) {
    return onCommitted(plan, [&](CollectivePlan &p) {
      Status s = p.plan().waitOnStream(driver, static_cast<device::CuStream>(stream));
      return report(s, p.plan().failed() ? COLLDSL_ERROR_RUN : COLLDSL_ERROR_ARGUMENT);
    });
  });
}

colldsl_status colldsl_plan_test(colldsl_plan *plan, int *done) {
  if (!done)
    return failNull("done");
  return onCommitted(plan, [&](CollectivePlan &p) {
    *done = p.plan().test();
    return *done ? outcome(*plan, p.plan()) : COLLDSL_OK;
  });
}

colldsl_status colldsl_plan_test_for(colldsl_plan *plan, double timeout, int *done) {
  if (!done)
    return failNull("done");
  return onCommitted(plan, [&](CollectivePlan &p) {
    Result<std::chrono::nanoseconds> limit = toTimeout(timeout);
    if (!limit)
      return report(limit.status(), COLLDSL_ERROR_ARGUMENT);
    *done = p.plan().waitFor(*limit);
    if (!*done)
      plan->waitedNs.fetch_add(limit->count(), std::memory_order_relaxed);
    return *done ? outcome(*plan, p.plan()) : COLLDSL_OK;
  });
}

colldsl_status colldsl_plan_wait(colldsl_plan *plan, double timeout) {
  return onCommitted(plan, [&](CollectivePlan &p) {
    Result<std::chrono::nanoseconds> limit = toTimeout(timeout);
    if (!limit)
      return report(limit.status(), COLLDSL_ERROR_ARGUMENT);
    std::chrono::nanoseconds waited(plan->waitedNs.load(std::memory_order_relaxed));
    (void)p.plan().wait(*limit, waited); // the plan has the status of its end
    return outcome(*plan, p.plan());
  });
}

colldsl_status colldsl_plan_cancel(colldsl_plan *plan) {
  return onCommitted(plan, [&](CollectivePlan &p) {
    if (p.plan().running())
      plan->isCancelled.store(true, std::memory_order_relaxed);
    return COLLDSL_OK;
  });
}

colldsl_status colldsl_plan_get_blocks(const colldsl_plan *plan, const char *buffer, size_t blocks,
                                       uint64_t *counts) {
  return guarded({{"plan", plan}, {"buffer", buffer}}, [&] {
    if (blocks > 0 && !counts)
      return failNull("counts");
    Result<const std::vector<uint64_t> *> lengths = plan->plan.blockLengths(buffer);
    if (!lengths)
      return report(lengths.status(), COLLDSL_ERROR_ARGUMENT);
    if (blocks < (*lengths)->size())
      return fail(COLLDSL_ERROR_ARGUMENT, concat("'", buffer, "' has ", (*lengths)->size(),
                                                 " blocks, there is room for ", blocks));
    std::copy((*lengths)->begin(), (*lengths)->end(), counts);
    return COLLDSL_OK;
  });
}
