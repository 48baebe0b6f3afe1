#include "tools/output/Convert.h"

#include "driver/files/WriteFile.h"
#include "tools/input/ChooseSingle.h"
#include "tools/input/ErrorMessages.h"

#include "llvm/Support/FileSystem.h"

namespace colldsl::tools {
namespace {

bool write(const std::string &file, const std::string &content) {
  Status status = writeFile(file, [&](llvm::raw_ostream &out) {
    out << content;
    return Status();
  });
  return status || printError(status.diagnostic());
}

bool write(const std::vector<OutputFile> &files) {
  for (size_t i = 0; i < files.size(); ++i) {
    if (write(files[i].name, files[i].content))
      continue;
    for (size_t k = 0; k < i; ++k)
      llvm::sys::fs::remove(files[k].name);
    return false;
  }
  return true;
}

} // namespace

Exit convertOne(const Options &options, const SingleRequest &single, const InputForm &form,
                const Emit &emit, const std::string &output) {
  auto asFile = [&](const Schedule &schedule) -> Result<std::vector<OutputFile>> {
    Result<std::string> content = emit(schedule);
    if (!content)
      return content.status();
    return std::vector<OutputFile>{{output, content.take()}};
  };
  return convertToFiles(options, single, form, asFile);
}

Exit convertToFiles(const Options &options, const SingleRequest &single, const InputForm &form,
                    const EmitFiles &emit) {
  const ScheduleRequest &schedule = single.schedule;
  if (options.operands().empty() && schedule.names.empty())
    return options.refuse("nothing to read: name a file or a collective");
  std::unique_ptr<Source> source;
  Source::Target target;
  if (std::optional<Exit> exit = chooseSingle(options, single, Purpose::Make, form, source, target))
    return *exit;
  Result<Schedule> made = makeProved(*source, target, single);
  Result<std::vector<OutputFile>> files = made ? emit(*made) : made.status();
  if (!files) {
    source->report(files.status().diagnostic(), target);
    return Exit::Failure;
  }
  return write(*files) ? Exit::Success : Exit::Failure;
}

std::string bytesOf(const std::vector<std::byte> &bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

} // namespace colldsl::tools
