#include "tools/output/ExportFormat.h"

#include "driver/source/TraceFiles.h"
#include "formats/Chakra.h"
#include "formats/GoalBinary.h"
#include "formats/MscclExport.h"
#include "formats/MscclImport.h"
#include "ir/TextForm.h"
#include "mscclpp/FromAlgorithm.h"
#include "mscclpp/Prove.h"
#include "mscclpp/Read.h"
#include "verifier/Verifier.h"

#include "llvm/ADT/STLExtras.h"

namespace colldsl::tools {
namespace {

struct Format {
  ExportFormat format;
  llvm::StringLiteral word, extension;
};

constexpr Format kFormats[] = {{ExportFormat::Goal, "goal", ".goal"},
                               {ExportFormat::GoalBinary, "goal-bin", ".bin"},
                               {ExportFormat::MscclXml, "msccl-xml", ".xml"},
                               {ExportFormat::Chakra, "chakra", ".et"},
                               {ExportFormat::Mscclpp, "mscclpp", ".json"}};
constexpr llvm::StringLiteral kFormatsInWords = "goal, goal-bin, msccl-xml, chakra or mscclpp";

const Format &rowOf(ExportFormat format) {
  return *llvm::find_if(kFormats, [&](const Format &row) { return row.format == format; });
}

/// Limits for what was written: it has no more than what is in memory.
TextLimits noLimits() {
  TextLimits limits;
  limits.maxBytes = limits.maxOps = UINT64_MAX;
  limits.maxRanks = UINT32_MAX;
  return limits;
}

Status readsAsOther(ExportFormat format) {
  return Status::error("the schedule is another one when its " + spelling(format).str() +
                       " is read back: this is a mistake of colldsl");
}

/// The places of such an error are in what was written, not in the source.
Status notReadBack(const std::string &message) {
  return Status::error("what was written cannot be read back: " + message);
}

/// True if what was read back is the schedule as GOAL, in another format than the one that it was
/// written in: what a writer has lost its own reader does not miss.
template <typename Write>
bool isAsGoal(const Schedule &again, const Schedule &schedule, const GoalOptions &options,
              Write write) {
  auto left = write(again, {}), right = write(schedule, options);
  return left && right && *left == *right;
}

Result<std::string> emitGoal(const Schedule &schedule, const GoalOptions &options) {
  Result<std::string> text = printGoal(schedule, options);
  if (!text)
    return text.status();
  ParsedText again = parseText(*text, "", noLimits());
  if (!again.errors.empty())
    return notReadBack(again.errors.front().message);
  if (!isAsGoal(again.schedule, schedule, options, encodeGoal))
    return readsAsOther(ExportFormat::Goal);
  return text;
}

Result<std::string> emitGoalBinary(const Schedule &schedule, const GoalOptions &options) {
  Result<std::vector<std::byte>> bytes = encodeGoal(schedule, options);
  if (!bytes)
    return bytes.status();
  Result<Schedule> again = decodeGoal(*bytes, "", noLimits());
  if (!again)
    return notReadBack(again.message());
  if (!isAsGoal(*again, schedule, options, printGoal))
    return readsAsOther(ExportFormat::GoalBinary);
  return bytesOf(*bytes);
}

/// The schedule with a calc of no time on ranks without ops, as traces have it.
Schedule withoutEmptyRanks(Schedule schedule) {
  for (Dag &dag : schedule.ranks)
    if (dag.size() == 0)
      dag.add(Op(), {}, {}, {});
  return schedule;
}

Result<std::vector<std::string>> emitTraces(const Schedule &schedule, const GoalOptions &options) {
  Result<std::vector<std::string>> traces = chakra::encode(schedule, options);
  if (!traces)
    return traces.status();
  std::vector<std::string_view> views(traces->begin(), traces->end());
  Result<Schedule> again = chakra::decode(views, schedule.name, noLimits());
  if (!again)
    return notReadBack(again.message());
  if (!isAsGoal(*again, withoutEmptyRanks(schedule), options, printGoal))
    return readsAsOther(ExportFormat::Chakra);
  return traces;
}

/// The type of the parameters, which an algorithm does not name.
ElementType typeOf(const Schedule &schedule) {
  for (const Buffer &buffer : schedule.ranks.front().buffers)
    if (buffer.role != BufferRole::Temp)
      return buffer.type;
  return ElementType::I32;
}

Result<std::string> emitAlgorithm(const msccl::Algorithm &algorithm, ElementType type) {
  std::string xml = msccl::print(algorithm);
  Result<msccl::Algorithm> again = msccl::read(xml);
  if (!again)
    return notReadBack(again.message());
  Result<Schedule> schedule = msccl::toSchedule(*again, algorithm.name, {type});
  if (!schedule)
    return notReadBack(schedule.message());
  proof::VerifyReport report =
      proof::verify(*schedule, {{schedule->sizeClass.elements, {}, 0}}, {});
  if (!report.proved())
    return Status::error("the algorithm is refused: " + report.failures.front().message);
  return xml;
}

Result<std::string> emitPlan(const msccl::Algorithm &algorithm) {
  Result<mscclpp::Plan> plan = mscclpp::fromAlgorithm(algorithm);
  if (!plan)
    return plan.status();
  std::string text = mscclpp::print(*plan);
  Result<mscclpp::Plan> again = mscclpp::read(text);
  if (!again)
    return notReadBack(again.message());
  Result<mscclpp::Verdict> verdict = mscclpp::prove(*again);
  if (!verdict)
    return verdict.status();
  if (!verdict->refusals.empty())
    return Status::error("the plan is refused: " + verdict->refusals.front().message);
  return text;
}

Result<std::string> emitOne(const Schedule &schedule, const ExportSettings &settings) {
  if (settings.to == ExportFormat::Goal)
    return emitGoal(schedule, settings.goal);
  if (settings.to == ExportFormat::GoalBinary)
    return emitGoalBinary(schedule, settings.goal);
  Result<msccl::Algorithm> algorithm = msccl::fromSchedule(schedule);
  if (!algorithm) {
    Diagnostic why = algorithm.status().diagnostic();
    if (settings.to == ExportFormat::Mscclpp)
      why.message = "plans of MSCCL++ are made of MSCCL's algorithms: " + why.message;
    return why;
  }
  return settings.to == ExportFormat::Mscclpp ? emitPlan(*algorithm)
                                              : emitAlgorithm(*algorithm, typeOf(schedule));
}

} // namespace

llvm::StringRef exportFormatsInWords() { return kFormatsInWords; }

llvm::StringRef spelling(ExportFormat format) { return rowOf(format).word; }

llvm::StringRef extension(ExportFormat format) { return rowOf(format).extension; }

void ExportSettings::addTo(Options &options, llvm::StringRef help) {
  std::vector<llvm::StringRef> words;
  for (const Format &row : kFormats)
    words.push_back(row.word);
  options.add("--to", "FORMAT", help.str(), [this](llvm::StringRef word) -> Status {
    const auto *row = llvm::find_if(kFormats, [&](const Format &r) { return r.word == word; });
    if (row == std::end(kFormats))
      return Status::error("'" + word.str() + "' is not " + kFormatsInWords.str());
    to = row->format;
    return {};
  }) = completionOf(words);
  options.addFlag("--local-as-calc",
                  "goal, goal-bin, chakra: write copy and combine, which these lack, as\n"
                  "calc of a nanosecond per byte",
                  goal.localOpsAsCalc);
}

Status ExportSettings::check() const {
  bool hasCopies = to == ExportFormat::MscclXml || to == ExportFormat::Mscclpp;
  return goal.localOpsAsCalc && hasCopies
             ? Status::error("--local-as-calc is for goal, goal-bin and chakra")
             : Status();
}

Result<std::vector<OutputFile>>
exportFiles(const Schedule &schedule, const ExportSettings &settings, const std::string &name) {
  std::vector<OutputFile> files;
  if (settings.to == ExportFormat::Chakra) {
    Result<std::vector<std::string>> traces = emitTraces(schedule, settings.goal);
    if (!traces)
      return traces.status();
    for (size_t rank = 0; rank < traces->size(); ++rank)
      files.push_back({traceFile(name, rank), std::move((*traces)[rank])});
    return files;
  }
  Result<std::string> content = emitOne(schedule, settings);
  if (!content)
    return content.status();
  files.push_back({name, content.take()});
  return files;
}

} // namespace colldsl::tools
