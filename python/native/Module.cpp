// The module colldsl._colldsl, the native part of the package colldsl. python/colldsl/_colldsl.pyi
// has its types.
#include "python/native/ChooseFunction.h"
#include "python/native/PythonPlan.h"
#include "python/native/Shown.h"

#include "driver/proofs/ProofSummary.h"

#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

namespace colldsl::python {
namespace {

py::array_t<uint64_t> arrayOf(const std::vector<uint64_t> &numbers) {
  return py::array_t<uint64_t>(static_cast<py::ssize_t>(numbers.size()), numbers.data());
}

void addPrograms(py::module_ &module) {
  py::class_<Parameter>(module, "Parameter")
      .def_readonly("name", &Parameter::name)
      .def_readonly("kind", &Parameter::kind)
      .def_readonly("type", &Parameter::type)
      .def_readonly("is_buffer", &Parameter::isBuffer)
      .def_readonly("is_aliased", &Parameter::isAliased)
      .def_readonly("counts_ranks", &Parameter::countsRanks)
      .def_readonly("is_of_n", &Parameter::isOfN)
      .def_readonly("has_default", &Parameter::hasDefault);
  py::class_<Counterexample>(module, "Counterexample")
      .def_readonly("task", &Counterexample::task)
      .def_readonly("ranks", &Counterexample::ranks)
      .def_readonly("bytes", &Counterexample::bytes)
      .def_readonly("in_place", &Counterexample::inPlace)
      .def_readonly("parameters", &Counterexample::parameters)
      .def_readonly("topology", &Counterexample::topology)
      .def_readonly("text", &Counterexample::text)
      .def_readonly("pattern", &Counterexample::pattern);
  py::class_<Verified>(module, "Verified")
      .def_readonly("name", &Verified::name)
      .def_readonly("ok", &Verified::ok)
      .def_readonly("proofs", &Verified::proofs)
      .def_readonly("refused", &Verified::refused)
      .def_readonly("excluded", &Verified::excluded)
      .def_readonly("range", &Verified::range)
      .def_readonly("summary", &Verified::summary)
      .def_readonly("counterexamples", &Verified::counterexamples)
      .def_readonly("promises_of_nothing", &Verified::promisesOfNothing);
  py::class_<LevelCount>(module, "LevelCount")
      .def_readonly("crosses", &LevelCount::crosses)
      .def_readonly("within", &LevelCount::within)
      .def_readonly("messages", &LevelCount::messages)
      .def_readonly("bytes", &LevelCount::bytes);
  py::class_<Simulated>(module, "Simulated")
      .def_readonly("name", &Simulated::name)
      .def_readonly("bytes", &Simulated::bytes)
      .def_property_readonly("finish_ns", [](const Simulated &s) { return arrayOf(s.finishNs); })
      .def_readonly("makespan_ns", &Simulated::makespanNs)
      .def_readonly("events", &Simulated::events)
      .def_readonly("ops", &Simulated::ops)
      .def_readonly("messages", &Simulated::messages)
      .def_readonly("traffic", &Simulated::traffic);
  py::class_<Shape>(module, "Shape")
      .def_readonly("name", &Shape::name)
      .def_readonly("ranks", &Shape::ranks)
      .def_readonly("elements", &Shape::elements)
      .def_readonly("min_elements", &Shape::minElements)
      .def_readonly("max_elements", &Shape::maxElements)
      .def_property_readonly("ops", [](const Shape &s) { return arrayOf(s.ops); });
  py::class_<Program, std::shared_ptr<Program>>(module, "Program")
      .def_static("read", &Program::read)
      .def_static("of_text", &Program::ofText, py::arg("name"), py::arg("text"), py::arg("reading"),
                  py::arg("files") = py::list(), py::arg("places") = py::list())
      .def("collectives", &Program::collectives)
      .def("parameters", &Program::parameters)
      .def("instantiate", &Program::instantiate)
      .def("verify", &Program::verify)
      .def_static("shown", py::overload_cast<const std::vector<std::pair<uint64_t, std::string>> &>(
                               &driver::Summary::counterexamples))
      .def("simulate", &Program::simulate)
      .def("library", &Program::library)
      .def("text", &Program::text)
      .def("shape", &Program::shape)
      .def_property_readonly("remarks", &Program::remarks);
}

void addRequests(py::module_ &module) {
  addRequest<driver::ChoiceRequest>(module, "ChoiceRequest");
  addRequest<driver::SingleRequest>(module, "SingleRequest");
  addRequest<driver::MakeRequest>(module, "MakeRequest");
  addRequest<driver::ProofRequest>(module, "ProofRequest");
  addRequest<driver::SimulationRequest>(module, "SimulationRequest");
  addRequest<driver::PageRequest>(module, "PageRequest");
}

void addPages(py::module_ &module) {
  py::class_<Shown>(module, "Shown")
      .def_static("of_runs",
                  [](const std::vector<std::pair<std::shared_ptr<Program>,
                                                 const Asked<driver::SimulationRequest> *>> &runs,
                     const Asked<driver::PageRequest> &page) {
                    std::vector<ShownPart> parts;
                    for (const auto &[program, run] : runs)
                      parts.push_back({program, run});
                    return Shown::ofRuns(parts, page);
                  })
      .def_static("of_proof", &Shown::ofProof)
      .def("html", &Shown::html)
      .def("svg", &Shown::svg)
      .def_property_readonly("title", &Shown::title)
      .def_property_readonly("view", &Shown::view);
}

void addCommunicators(py::module_ &module) {
  py::class_<Settings>(module, "Settings")
      .def(py::init<>())
      .def_readwrite("topology", &Settings::topology)
      .def_readwrite("passes", &Settings::passes)
      .def_readwrite("network", &Settings::network)
      .def_readwrite("setup_timeout", &Settings::setupTimeout)
      .def_readwrite("arena_bytes", &Settings::arenaBytes)
      .def_readwrite("no_single_copy", &Settings::noSingleCopy)
      .def_readwrite("least_proof", &Settings::leastProof)
      .def_readwrite("strict_transfers", &Settings::strictTransfers);
  py::class_<Communicator, std::shared_ptr<Communicator>>(module, "Communicator")
      .def_static("local", &Communicator::local)
      .def_static("of_bootstrap", &Communicator::ofBootstrap)
      .def_static("launched", &Communicator::launched)
      .def_property_readonly("rank", &Communicator::rank)
      .def_property_readonly("size", &Communicator::size)
      .def_property_readonly("closed", &Communicator::isClosed)
      .def("progress", &Communicator::progress)
      .def("interrupt", &Communicator::interrupt)
      .def("close", &Communicator::close);
  py::class_<Library, std::shared_ptr<Library>>(module, "Library")
      .def(py::init([](const py::bytes &bytes) { return Library(bytes); }));
  py::class_<Graph>(module, "Graph")
      .def(py::init<std::shared_ptr<Communicator>, std::vector<int32_t>, std::vector<int32_t>,
                    std::optional<std::vector<int64_t>>, std::optional<std::vector<int64_t>>>())
      .def_property_readonly("rounds", &Graph::rounds);
}

void addPlans(py::module_ &module) {
  py::class_<Memory, std::shared_ptr<Memory>>(module, "Memory")
      .def(py::init<py::object, std::string, bool>())
      .def_property_readonly("type",
                             [](const Memory &m) { return std::string(spelling(m.type())); })
      .def_property_readonly("elements", &Memory::elements)
      .def_property_readonly("bytes", &Memory::bytes);
  py::class_<Plan>(module, "Plan")
      .def(py::init<std::shared_ptr<Communicator>, std::shared_ptr<Library>, std::string>())
      .def("set_type", &Plan::setType)
      .def("set_in_place", &Plan::setInPlace)
      .def("set_device_only", &Plan::setDeviceOnly)
      .def("set_device_messages", &Plan::setDeviceMessages)
      .def("set_op", &Plan::setOp)
      .def("set_int", &Plan::setInt)
      .def("set_list", &Plan::setList)
      .def("set_graph", &Plan::setGraph)
      .def("set_passes", &Plan::setPasses)
      .def("set_count", &Plan::setCount)
      .def("bind", &Plan::bind)
      .def("set_blocks", &Plan::setBlocks)
      .def("blocks", &Plan::blocks)
      .def("commit", &Plan::commit)
      .def("info", &Plan::info)
      .def("start", &Plan::start)
      .def("start_on_stream", &Plan::startOnStream)
      .def("wait_on_stream", &Plan::waitOnStream)
      .def("test", &Plan::test)
      .def("wait", &Plan::wait)
      .def("cancel", &Plan::cancel)
      .def("interrupt", &Plan::interrupt)
      .def("close", &Plan::close)
      .def_property_readonly("closed", &Plan::isClosed);
}

} // namespace

PYBIND11_MODULE(_colldsl, module) {
  Released::endWithPython();
  module.attr("version") = colldsl_version();
  addRequests(module);
  addPrograms(module);
  addPages(module);
  module.def("choose", &choose);
  addCommunicators(module);
  addPlans(module);
}

} // namespace colldsl::python
