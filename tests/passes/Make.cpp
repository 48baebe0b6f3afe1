#include "tests/passes/Make.h"

#include "verifier/Verifier.h"

#include <gtest/gtest.h>

namespace colldsl {

Compilation &stdlibForTests() {
  static Compilation compilation = compileFiles({});
  return compilation;
}

Result<InstantiateRequest>
requestForTest(const std::string &name, uint32_t ranks, uint64_t elements,
               const std::vector<std::pair<std::string, std::string>> &arguments,
               const Topology *topology) {
  Compilation &compilation = stdlibForTests();
  InstantiateRequest request;
  request.collective = compilation.program().find(name, DeclKind::Collective);
  request.ranks = ranks;
  request.elements = elements;
  request.contract = true;
  request.topology = topology;
  const Decl decl = compilation.program().decl(request.collective);
  request.arguments.assign(decl.params.size(), kNoExpr);
  for (const auto &[param, text] : arguments) {
    Result<ExprId> expr = compilation.addArgument(request.collective, param, text);
    if (!expr)
      return expr.status();
    for (uint32_t p = 0; p < decl.params.size(); ++p)
      if (compilation.program().nameOf(decl.params[p]) == param)
        request.arguments[p] = *expr;
  }
  return request;
}

Result<Schedule> makeForTest(const std::string &name, uint32_t ranks, uint64_t elements,
                             const std::vector<std::pair<std::string, std::string>> &arguments,
                             const Topology *topology) {
  Result<InstantiateRequest> request = requestForTest(name, ranks, elements, arguments, topology);
  if (!request)
    return request.status();
  return instantiateAll(stdlibForTests().program(), *request);
}

std::vector<Sizes> sizesForTest(const Schedule &schedule) {
  Sizes sizes;
  sizes.elements = schedule.sizeClass.elements;
  return {sizes};
}

uint64_t timeForTest(const Schedule &schedule, const LogGop &parameters) {
  CostModel cost{MachineModel::flat(parameters), {}, 0};
  Result<uint64_t> time =
      cost.makespanNs(schedule, sizesForTest(schedule), Topology::flat(schedule.numRanks()));
  EXPECT_TRUE(time.ok()) << (time ? "" : time.message());
  return time ? *time : 0;
}

std::string refusalForTest(const Schedule &schedule) {
  proof::VerifyReport report = proof::verify(schedule, sizesForTest(schedule));
  return report.proved() ? std::string() : describe(report, schedule);
}

} // namespace colldsl
