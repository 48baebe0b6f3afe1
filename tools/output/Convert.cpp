#include "tools/output/Convert.h"

#include "tools/input/ErrorMessages.h"
#include "tools/output/WriteFile.h"
#include "verifier/ProvedSizes.h"

namespace colldsl::tools {
namespace {

bool write(const std::string &file, const std::string &content) {
  Status status = writeFile(file, [&](llvm::raw_ostream &out) {
    out << content;
    return Status();
  });
  return status || printError(status.diagnostic());
}

} // namespace

Result<Schedule> makeConverted(Source &source, const Source::Target &target,
                               const SingleOptions &single) {
  Result<SingleSchedule> made = makeSingle(source, target, single);
  if (!made)
    return made.status();
  Schedule schedule = *made->schedule;
  schedule.sizeClass.elements = made->elements;
  if (!single.schedule.passes.verifyMade || target.schedule)
    return schedule;
  std::optional<proof::ProvedDomain> domain = proof::provedSizes(schedule);
  if (!domain && schedule.hasCallTimeBlocks())
    return Status::error("'" + target.name +
                         "' is wrong at some lengths of its blocks: see `colldsl verify`");
  if (domain)
    schedule.sizeClass = domain->sizes;
  return schedule;
}

Exit convertOne(const Options &options, const SingleOptions &single, const InputForm &form,
                const Emit &emit, const std::string &output) {
  const ScheduleOptions &schedule = single.schedule;
  if (options.operands().empty() && schedule.names.empty())
    return options.refuse("nothing to read: name a file or a collective");
  std::unique_ptr<Source> source;
  Source::Target target;
  if (std::optional<Exit> exit = chooseSingle(options, single, form, source, target))
    return *exit;
  Result<Schedule> made = makeConverted(*source, target, single);
  Result<std::string> content = made ? emit(*made) : made.status();
  if (!content) {
    source->report(content.status().diagnostic(), target);
    return Exit::Failure;
  }
  return write(output, *content) ? Exit::Success : Exit::Failure;
}

std::string bytesOf(const std::vector<std::byte> &bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

} // namespace colldsl::tools
