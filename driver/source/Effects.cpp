#include "driver/source/Effects.h"

#include "llvm/ADT/STLExtras.h"

namespace colldsl::driver {
namespace {

using Targets = llvm::ArrayRef<Source::Target>;

template <typename Has> bool anyParam(const Source &source, Targets targets, Has has) {
  return llvm::any_of(targets, [&](const Source::Target &target) {
    return target.collective != kNoDecl &&
           llvm::any_of(source.program().decl(target.collective).params, has);
  });
}

/// "'bcast_ring' has no buffer of type T"
std::string lacks(Targets targets, const std::string &what) {
  return targets.size() > 1 ? "none of the collectives here has a " + what
                            : "'" + targets.front().name + "' has no " + what;
}

Status checkOfSchedules(const Fields &fields, const Source &source, Targets targets,
                        Purpose purpose) {
  std::string is = "'" + targets.front().name + "' is a schedule, ";
  if (Status s = fields.refuseGiven({"--op"}, is + "whose ops say what they combine"); !s)
    return s;
  if (!source.hasRead(FileKind::MscclXml) && purpose != Purpose::Store)
    if (Status s = fields.refuseGiven({"--type"}, is + "whose buffers have their types"); !s)
      return s;
  if (Status s = fields.refuseGiven({"--roots", "--thorough"}, is + "which has no parameters"); !s)
    return s;
  if (source.hasRead(FileKind::Plan))
    if (Status s = fields.refuseGiven(
            {"--verify", "--passes", "--compare"},
            "'" + targets.front().name +
                "' is an execution plan, which `colldsl verify` proves as it is");
        !s)
      return s;
  return fields.refuseGiven(
      {"--max-steps", "--max-ops", "--max-deps", "--max-total-deps", "--max-call-depth"},
      is + "which is not instantiated");
}

Status checkOfCollectives(const Fields &fields, const Source &source, Targets targets,
                          Purpose purpose) {
  auto isReduction = [](const Param &p) { return !p.isBuffer && p.type == ValueType::Reduction; };
  auto isRoot = [&](const Param &p) { return source.program().nameOf(p) == "root"; };
  auto isGeneric = [](const Param &p) { return p.isBuffer && p.buffer.generic; };
  if (!anyParam(source, targets, isReduction))
    if (Status s = fields.refuseGiven({"--op"}, lacks(targets, "parameter that is a reduction"));
        !s)
      return s;
  if (!anyParam(source, targets, isRoot))
    if (Status s = fields.refuseGiven({"--roots"}, lacks(targets, "parameter 'root'")); !s)
      return s;
  bool retypes =
      purpose == Purpose::Store && llvm::any_of(targets, [](const Source::Target &target) {
        return target.schedule != nullptr;
      });
  if (!retypes && !anyParam(source, targets, isGeneric))
    return fields.refuseGiven({"--type"}, lacks(targets, "buffer of type T"));
  return {};
}

} // namespace

Status checkEffects(const Fields &fields, const Source &source, Targets targets,
                    const ScheduleRequest &schedule, Purpose purpose) {
  bool hasCollective =
      llvm::any_of(targets, [](const Source::Target &t) { return t.collective != kNoDecl; });
  if (Status s = hasCollective ? checkOfCollectives(fields, source, targets, purpose)
                               : checkOfSchedules(fields, source, targets, purpose);
      !s)
    return s;
  if (!source.isCompiled())
    if (Status s = fields.refuseGiven(
            {"--include", "--max-tokens", "--max-nesting", "--max-chain", "--max-files"},
            "no source text (.coll) is read");
        !s)
      return s;
  if (!source.hasRead(FileKind::MscclXml))
    if (Status s = fields.refuseGiven({"--as"},
                                      "'" + targets.front().name + "' was not read from MSCCL XML");
        !s)
      return s;
  bool isTimed = !schedule.passes.pipeline.empty() || purpose == Purpose::Simulate;
  if (!isTimed)
    if (Status s = fields.refuseGiven({"--model", "--network", "--receive-slots"},
                                      "it is for --passes, of which there are none");
        !s)
      return s;
  if (!isTimed && !hasCollective && purpose != Purpose::Run)
    return fields.refuseGiven({"--topology"}, "'" + targets.front().name +
                                                  "' is a schedule, which is made already");
  return {};
}

bool usesAllGiven(const Fields &fields, const Source &source, Targets targets,
                  const ScheduleRequest &schedule, Purpose purpose) {
  if (!source.usesAllFiles(targets, schedule))
    return false;
  Status s = checkEffects(fields, source, targets, schedule, purpose);
  return s || source.session().sink().error(s.diagnostic());
}

bool hasOpenBlocks(const Source &source, Targets targets) {
  auto isOpen = [](const Param &param) {
    auto isOpenDim = [](const Dim &dim) {
      return dim.kind == DimKind::CallTime || dim.kind == DimKind::Capacity;
    };
    return param.isBuffer &&
           llvm::any_of(llvm::ArrayRef(param.buffer.dim).take_front(param.buffer.dims), isOpenDim);
  };
  auto hasOpenBuffer = [](const Dag &dag) {
    return llvm::any_of(dag.buffers, [](const Buffer &b) { return b.layout == Layout::CallTime; });
  };
  return anyParam(source, targets, isOpen) ||
         llvm::any_of(targets, [&](const Source::Target &target) {
           return target.schedule && llvm::any_of(target.schedule->ranks, hasOpenBuffer);
         });
}

} // namespace colldsl::driver
