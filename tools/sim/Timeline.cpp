#include "tools/sim/Timeline.h"
#include "driver/source/RenderInFiles.h"

#include "tools/options/Json.h"
#include "tools/sim/SimulationSummary.h"

namespace colldsl::tools {

using namespace driver;

namespace {

class TraceWriter {
public:
  TraceWriter(const sim::Workload &workload, const sim::Recording &recording,
              llvm::raw_ostream &out)
      : workload_(workload), recording_(recording), json_(out) {}

  Status run() {
    json_.objectBegin();
    json_.attribute("displayTimeUnit", "ns");
    json_.attributeBegin("traceEvents");
    json_.arrayBegin();
    for (uint32_t r = 0; r < workload_.numRanks(); ++r) {
      json_.object([&] {
        common("process_name", "M", r);
        json_.attributeObject("args",
                              [&] { json_.attribute("name", "rank " + std::to_string(r)); });
      });
      const sim::RankVertices &rank = workload_.ranks[r];
      for (uint32_t op = 0; op < rank.count; ++op)
        if (Status s = addOp(r, OpId{op}, rank.at(op)); !s)
          return s;
    }
    json_.arrayEnd();
    json_.attributeEnd();
    json_.objectEnd();
    return {};
  }

private:
  void common(llvm::StringRef name, llvm::StringRef phase, uint32_t rank) {
    json_.attribute("name", name);
    json_.attribute("ph", phase);
    json_.attribute("pid", rank);
    json_.attribute("tid", 0);
  }
  void time(const char *key, uint64_t ns) {
    json_.attributeBegin(key);
    json_.rawValue(llvm::formatv("{0}.{1,0+3}", ns / 1000, ns % 1000).str());
    json_.attributeEnd();
  }

  void span(const std::string &name, uint32_t rank, const sim::Activity &activity, const Op &op,
            OpId id, uint64_t bytes) {
    json_.object([&] {
      common(name, "X", rank);
      time("ts", activity.begin);
      time("dur", activity.end - activity.begin);
      json_.attributeObject("args", [&] {
        json_.attribute("op", index(id));
        if (isMessage(op.kind))
          json_.attribute("bytes", bytes);
        if (std::string place = placeWord(op.loc, workload_.files); !place.empty())
          json_.attribute("place", jsonText(place));
      });
    });
  }

  void flow(const char *phase, uint32_t rank, uint64_t ns, uint32_t send) {
    json_.object([&] {
      common("message", phase, rank);
      time("ts", ns);
      json_.attribute("id", send);
      json_.attribute("cat", "message");
      if (phase[0] == 'f')
        json_.attribute("bp", "e");
    });
  }

  Status addOp(uint32_t rank, OpId id, uint32_t vertex) {
    const sim::Vertex &v = workload_.vertices[vertex];
    if (v.kind == sim::VertexKind::Recv) // takes no time: its message does
      return {};
    Result<Op> op = workload_.describe(Rank{rank}, id);
    if (!op)
      return op.status();
    const sim::Activity &activity = recording_.ops[vertex];
    uint64_t bytes = workload_.amountOf(v);
    sim::PathStep step;
    step.what = *op;
    span(stepWord(step), rank, activity, *op, id, bytes);
    const sim::Activity &message = recording_.messages[vertex];
    if (!message.happened)
      return {};
    step.isMessage = true;
    step.peer = rank;
    span(stepWord(step), v.peer, message, *op, id, bytes);
    flow("s", rank, activity.begin, vertex);
    flow("f", v.peer, message.begin, vertex);
    return {};
  }

  const sim::Workload &workload_;
  const sim::Recording &recording_;
  llvm::json::OStream json_;
};

} // namespace

Status writeTrace(const sim::Workload &workload, const sim::Recording &recording,
                  llvm::raw_ostream &out) {
  return TraceWriter(workload, recording, out).run();
}

} // namespace colldsl::tools
