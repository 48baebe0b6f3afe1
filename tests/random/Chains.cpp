#include "tests/random/Chains.h"

#include "passes/MessageEnds.h"
#include "passes/Pipeline.h"
#include "tests/mutation/Oracle.h"
#include "tests/random/Build.h"
#include "tests/random/Lengths.h"
#include "verifier/Verifier.h"

namespace colldsl::generated {
namespace {

constexpr uint32_t kUnbufferedOrders = 8;
constexpr uint32_t kBufferedOrders = 3;

const std::vector<const char *> &allSteps() {
  static const std::vector<const char *> steps{"edge-coloring",
                                               "edge-coloring{always=true}",
                                               "edge-coloring{always=true;algorithm=welsh-powell}",
                                               "tree-rebalance",
                                               "tree-rebalance{rule=published}",
                                               "combine-messages",
                                               "combine-messages{by=node}",
                                               "fuse",
                                               "fuse{streams=false}",
                                               "protocol",
                                               "protocol{static=true}",
                                               "protocol{static=true;eager=0x0x0x0}",
                                               "direction{least=1}",
                                               "canary-rte{most=1MiB}",
                                               "rtr-tree",
                                               "rtr-tree{degree=1}",
                                               "choose",
                                               "choose{static=true}"};
  return steps;
}

const std::vector<const char *> &allTopologies() {
  static const std::vector<const char *> topologies{"flat", "node:3 core:2", "node:2 core:3",
                                                    "node:2 package:2 core:2", "node:6 core:1"};
  return topologies;
}

std::string noSuggestion(std::string_view, const std::vector<std::string_view> &) { return {}; }

std::string chainOf(Random &random) {
  std::string chain;
  for (int64_t left = random.between(1, 4); left > 0; --left)
    chain += (chain.empty() ? "" : ",") + std::string(random.anyOf(allSteps()));
  return chain;
}

/// Says of one message that other ops announce that its receiver is ready. False: there is none.
bool announceOne(Schedule &schedule, Random &random) {
  Result<std::vector<MessageEnds>> messages = messagesOf(schedule);
  if (!messages)
    return false;
  std::vector<MessageEnds> data;
  for (const MessageEnds &m : *messages)
    if (schedule.ranks[index(m.from)].op(m.send).kind == OpKind::Send)
      data.push_back(m);
  if (data.empty())
    return false;
  const MessageEnds &m = random.anyOf(data);
  for (Op *op : {&schedule.ranks[index(m.from)].ops[index(m.send)],
                 &schedule.ranks[index(m.to)].ops[index(m.recv)]}) {
    op->transfer.protocol = Protocol::Static;
    op->transfer.announced = true;
  }
  return true;
}

bool isProved(const Schedule &schedule, const std::vector<Sizes> &sizes) {
  proof::VerifyOptions options;
  options.maxFailures = 1;
  return proof::verify(schedule, sizes, options).proved();
}

ChainVerdict judgeMade(ChainVerdict verdict, const Schedule &made, const Schedule &promising,
                       const Program &program, uint64_t seed) {
  Schedule judged = withContractOf(promising, made);
  std::vector<Sizes> sizes = sizesFor(program, made);
  mutation::Oracle oracle(judged, sizes, {kUnbufferedOrders, kBufferedOrders, seed});
  mutation::Finding fault = oracle.findFault(judged);
  proof::VerifyOptions options;
  options.maxFailures = 1;
  proof::VerifyReport report = proof::verify(made, sizes, options);
  verdict.kind = !report.proved() ? ChainVerdict::Kind::Broken
                 : fault          ? ChainVerdict::Kind::Unsound
                                  : ChainVerdict::Kind::Proved;
  if (!report.proved()) {
    verdict.why += std::string(spelling(report.failures.front().proof)) +
                   (fault ? ", and goes wrong" : ", though no order fails");
    verdict.details = describe(report, made);
  }
  if (fault) {
    verdict.why += report.proved() ? fault.text : "";
    verdict.details += "rank " + std::to_string(index(fault.rank)) + ", op " +
                       std::to_string(index(fault.op)) + " " + fault.text;
  }
  return verdict;
}

} // namespace

ChainVerdict judgeChain(const Schedule &schedule, const Schedule &promising, const Program &program,
                        uint64_t seed) {
  Random random(seed);
  ChainVerdict verdict;
  const char *described = random.anyOf(allTopologies());
  Topology topology = *Topology::make(described, schedule.numRanks());
  std::string chain = chainOf(random);
  verdict.passes = chain + " on " + described;
  std::vector<Sizes> sizes = sizesFor(program, schedule);
  Schedule given = schedule;
  if (random.chance(3) && announceOne(given, random)) {
    verdict.passes = "an announcement, " + verdict.passes;
    verdict.why = "announced: ";
    if (!isProved(given, sizes)) {
      verdict.kind = ChainVerdict::Kind::Unfit;
      mutation::Oracle oracle(given, sizes, {kUnbufferedOrders, kBufferedOrders, seed});
      verdict.why += oracle.findFault(given) ? "goes wrong" : "no order that was tried fails";
      return verdict;
    }
  }
  Pipeline pipeline = *Pipeline::parse(chain, noSuggestion);
  Result<Schedule> made = pipeline.run(std::move(given), {topology, sizes, CostModel()});
  if (made)
    return judgeMade(verdict, *made, promising, program, seed);
  verdict.kind = ChainVerdict::Kind::Refused;
  verdict.why += made.message();
  return verdict;
}

} // namespace colldsl::generated
