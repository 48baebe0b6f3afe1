/// The common part of `opt`, `import` and `export`: they read one schedule, or make it of a
/// collective, and write it in some form.
#pragma once

#include "driver/files/FileKind.h"
#include "driver/schedule/SingleSchedule.h"
#include "tools/options/Options.h"

namespace colldsl::tools {

/// Encodes a schedule in a form.
using Emit = std::function<Result<std::string>(const Schedule &)>;

struct OutputFile {
  std::string name, content;
};
/// Encodes a schedule as several files.
using EmitFiles = std::function<Result<std::vector<OutputFile>>(const Schedule &)>;

/// Converts the operands of `options`, which are files of the kind in `form` if it has one.
/// `output` is a file, or "-" for standard output. After an error nothing is written. Reports
/// mistakes.
Exit convertOne(const Options &options, const SingleRequest &single, const InputForm &form,
                const Emit &emit, const std::string &output);
/// Variant of convertOne() for several files, all of which are written, or none.
Exit convertToFiles(const Options &options, const SingleRequest &single, const InputForm &form,
                    const EmitFiles &emit);

std::string bytesOf(const std::vector<std::byte> &bytes);

} // namespace colldsl::tools
