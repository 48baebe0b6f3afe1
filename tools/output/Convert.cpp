#include "tools/output/Convert.h"

#include "driver/files/WriteFile.h"
#include "tools/input/ChooseSingle.h"
#include "tools/input/ErrorMessages.h"

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

Exit convertOne(const Options &options, const SingleRequest &single, const InputForm &form,
                const Emit &emit, const std::string &output) {
  const ScheduleRequest &schedule = single.schedule;
  if (options.operands().empty() && schedule.names.empty())
    return options.refuse("nothing to read: name a file or a collective");
  std::unique_ptr<Source> source;
  Source::Target target;
  if (std::optional<Exit> exit = chooseSingle(options, single, Purpose::Make, form, source, target))
    return *exit;
  Result<Schedule> made = makeProved(*source, target, single);
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
