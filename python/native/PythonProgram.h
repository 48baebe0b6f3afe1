/// Collectives and schedules that were read, with the requests of the driver as methods.
#pragma once

#include "python/native/AskedRequests.h"
#include "python/native/Work.h"

#include "driver/requests/ProofRequest.h"
#include "driver/requests/SimulationRequest.h"
#include "driver/source/Source.h"

#include <string>
#include <tuple>
#include <vector>

namespace colldsl::python {

/// A parameter of a collective.
struct Parameter {
  std::string name;
  std::string kind; ///< "in", "out", "inout"; of a value its type: "rank"
  std::string type; ///< of a buffer: "T" or "f64"
  bool isBuffer = false;
  bool isAliased = false;   ///< it has no memory of its own in the form in place
  bool countsRanks = false; ///< its first dimension is `ranks`
  bool isOfN = false; ///< its last dimension is a size symbol alone, its first one that or `ranks`
  bool hasDefault = false;
};

/// A proof that failed.
struct Counterexample {
  size_t task = 0; ///< among those of the collective
  uint32_t ranks = 0;
  uint64_t bytes = 0;
  bool inPlace = false;
  std::string parameters;
  std::string topology; ///< empty: it depends on none
  std::string text;
  std::string pattern; ///< equal for those that are alike
};

/// The outcome of all proofs of one collective.
struct Verified {
  std::string name;
  bool ok = false;
  uint64_t proofs = 0, refused = 0, excluded = 0;
  std::string range;   ///< of the proofs: "ranks 1..4; 8 B; root=all"
  std::string summary; ///< the line that `colldsl verify` prints
  std::vector<Counterexample> counterexamples;
  std::string promisesOfNothing;
};

/// Messages by a level of the machine, as sim::Crossing; the bytes are digits.
struct LevelCount {
  std::string crosses, within;
  uint64_t messages = 0;
  std::string bytes;
};

struct Simulated {
  std::string name;
  uint64_t bytes = 0;
  std::vector<uint64_t> finishNs; ///< per rank
  uint64_t makespanNs = 0, events = 0, ops = 0, messages = 0;
  std::vector<LevelCount> traffic; ///< from the node outwards
};

/// The dimensions of a schedule.
struct Shape {
  std::string name;
  uint32_t ranks = 0;
  uint64_t elements = 0, minElements = 0, maxElements = 0;
  std::vector<uint64_t> ops; ///< per rank
};

using File = std::pair<std::string, std::string>; ///< its name, its text

/// A line of a traced text, from 1, and its origin: the number of a file, a line and a column of
/// it.
using Place = std::tuple<uint32_t, uint16_t, uint32_t, uint16_t>;

/// The program that files and names denote. Messages of the work become texts of exceptions. The
/// work is done without the GIL, and Ctrl-C ends it. Any thread may call any method.
class Program {
public:
  /// `operands`: files, or names of collectives of the standard library.
  static std::shared_ptr<Program> read(const std::vector<std::string> &operands,
                                       const Asked<driver::SingleRequest> &reading);
  /// The program of a text, whose ops have the origins of their lines: see Place.
  static std::shared_ptr<Program> ofText(const std::string &name, const std::string &text,
                                         const Asked<driver::SingleRequest> &reading,
                                         const std::vector<File> &files,
                                         const std::vector<Place> &places);

  std::vector<std::string> collectives();
  std::vector<Parameter> parameters(const std::string &collective);

  /// As `colldsl opt`.
  std::shared_ptr<Program> instantiate(const Asked<driver::MakeRequest> &asked);
  /// As `colldsl verify`: one per collective.
  std::vector<Verified> verify(const Asked<driver::ProofRequest> &asked);
  /// As `colldsl sim`.
  Simulated simulate(const Asked<driver::SimulationRequest> &asked);
  /// A library of one collective or of all, as `colldsl compile` writes it, without images.
  py::bytes library(const std::optional<std::string> &name);

  /// The text of the schedule that instantiate() made.
  std::string text();
  Shape shape();

  const std::string &remarks() const { return remarks_; }

  // For work() with several programs
  Workplace &place() { return place_; }
  driver::Source &source() { return *source_; }

private:
  template <typename Body> std::string work(Body body) { return python::work({&place_}, body); }

  Workplace place_;
  std::unique_ptr<driver::Source> source_;
  std::string remarks_; ///< warnings of the compiler, rules that chose
};

} // namespace colldsl::python
