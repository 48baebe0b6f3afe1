/// The common part of `opt`, `import` and `export`: they read one schedule, or make it of a
/// collective, and write it in some form.
#pragma once

#include "tools/input/FileKind.h"
#include "tools/input/SingleSchedule.h"

namespace colldsl::tools {

/// A form, as bytes.
using Emit = std::function<Result<std::string>(const Schedule &)>;

/// Takes what `options` were given as operands; with a kind in `form`, files of that kind. `output`
/// is a file, or "-" for standard output; nothing is written if there is an error.
/// Reports mistakes.
Exit convertOne(const Options &options, const SingleOptions &single, const InputForm &form,
                const Emit &emit, const std::string &output);

/// The schedule that `options` make of a target, with their size; of a collective it holds for the
/// sizes that are proved. An error is reported as Source::render() shows it.
Result<Schedule> makeConverted(Source &source, const Source::Target &target,
                               const SingleOptions &single);

std::string bytesOf(const std::vector<std::byte> &bytes);

} // namespace colldsl::tools
