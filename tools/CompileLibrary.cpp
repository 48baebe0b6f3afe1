#include "driver/Lists.h"
#include "driver/files/WriteFile.h"
#include "driver/schedule/Parameters.h"
#include "driver/source/Effects.h"
#include "runtime/StoredImages.h"
#include "stdlib/StdlibFiles.h"
#include "tools/Commands.h"
#include "tools/CompileFormats.h"
#include "tools/TextProofs.h"
#include "tools/input/ErrorMessages.h"
#include "tools/options/Progress.h"
#include "tools/options/ResultStream.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

namespace colldsl::tools {
namespace {

struct LibrarySettings {
  LibraryRequest request;
  ExportSettings formats; ///< --to: files for other tools in place of a library
  std::string output;
  std::string depfile;
  bool allRanks = false;
  uint64_t seconds = 60; ///< for each proof for all ranks

  void addTo(Options &options);
};

void LibrarySettings::addTo(Options &options) {
  options.section("what to write");
  options.addOutput("-o", "LIB", "the library, or with --to a new folder (required)", output) =
      completionOfFiles({".cdag"});
  options.addSideOutput("--depfile", "FILE",
                        "also write which files the library was made of, as a rule of make",
                        depfile);
  request.addTo(options);
  options.section("files for other tools");
  formats.addTo(options, "in place of a library, a folder of files for another tool, of each\n"
                         "collective for each number of ranks: " +
                             exportFormatsInWords().str());
  options.section("proofs of texts");
  options.addFlag(
      "--all-ranks",
      "prove each collective for every number of ranks, as `colldsl verify --all-ranks`\n"
      "does, and store which ones are; the others are stored without such a proof",
      allRanks);
  options.addNumber("--within", "SECONDS", "for each of these proofs (default: 60)", seconds, 1,
                    86'400);
}

/// An error: options that have no effect beside --to, or on the targets.
Status checkGivenWithFormats(const Options &options, const LibrarySettings &settings,
                             llvm::ArrayRef<Source::Target> targets) {
  if (Status s = options.refuseGiven({"--depfile", "--rules", "--no-verify", "--all-ranks"},
                                     "with --to there is no library");
      !s)
    return s;
  bool isSchedules = llvm::all_of(targets, [](const auto &t) { return t.schedule != nullptr; });
  return settings.request.proofs.ranks || isSchedules
             ? Status()
             : Status::error("--to: say for which numbers of ranks, with --ranks");
}

/// An error: options that have no effect on the targets.
Status checkGiven(const Options &options, const LibrarySettings &settings,
                  llvm::ArrayRef<Source::Target> targets) {
  auto isSchedule = [](const Source::Target &target) { return target.schedule != nullptr; };
  std::vector<llvm::StringRef> unused = {"--bytes",  "--topology", "--op",      "--set",
                                         "--passes", "--model",    "--network", "--receive-slots"};
  if (llvm::all_of(targets, isSchedule)) {
    unused.push_back("--ranks");
    return options.refuseGiven(unused, "a schedule from a file is as it is");
  }
  if (settings.request.proofs.ranks)
    return {};
  if (llvm::none_of(targets, isSchedule))
    unused.insert(unused.end(), {"--no-verify", "--type"});
  return options.refuseGiven(unused, "it is for images, which are made with --ranks only");
}

bool write(const std::string &file, const std::vector<std::byte> &bytes) {
  Status status = writeFile(file, [&](llvm::raw_ostream &out) {
    out.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    return Status();
  });
  return status || printError(status.diagnostic());
}

/// A path as make reads it.
std::string escapedForMake(llvm::StringRef path) {
  std::string escaped;
  for (char c : path) {
    if (c == ' ' || c == '#')
      escaped += '\\';
    escaped += c == '$' ? "$$" : std::string(1, c);
  }
  return escaped;
}

/// The regular files among the operands, their imports and the rules.
std::vector<std::string> filesRead(std::vector<std::string> files, const LibraryInput &input,
                                   const LibrarySettings &settings) {
  if (!input.source->library())
    for (const std::string &file :
         llvm::ArrayRef(input.source->program().files).drop_front(stdlibFiles().size()))
      if (!llvm::is_contained(files, file))
        files.push_back(file);
  if (!settings.request.rules.empty())
    files.push_back(settings.request.rules);
  llvm::erase_if(files,
                 [](const std::string &file) { return !llvm::sys::fs::is_regular_file(file); });
  return files;
}

bool writeDepfile(const std::vector<std::string> &files, const LibrarySettings &settings) {
  Status status = writeFile(settings.depfile, [&](llvm::raw_ostream &out) {
    out << escapedForMake(settings.output) << ":";
    for (const std::string &file : files)
      out << " \\\n  " << escapedForMake(file);
    out << "\n";
    return Status();
  });
  return status || printError(status.message());
}

/// The collectives with a text: a collective that was imported has images alone.
std::vector<uint32_t> textsOf(const LibraryContent &content) {
  std::vector<uint32_t> texts;
  for (uint32_t id : content.identity.exports)
    if (!unitOf(content.imported, content.program.nameOf(content.program.decl(DeclId{id}))))
      texts.push_back(id);
  return texts;
}

/// `operands` of the command line.
Exit compile(const std::vector<std::string> &operands, LibraryInput &input,
             const LibrarySettings &settings) {
  std::optional<LibraryContent> content = [&] {
    Progress progress;
    return makeLibrary(input, settings.request, progress.watch());
  }();
  if (!content)
    return Exit::Failure;
  const std::vector<uint32_t> &exports = content->identity.exports;
  size_t proved = settings.allRanks ? addTextProofs(content->program, textsOf(*content),
                                                    settings.seconds, content->textProofs)
                                    : 0;
  std::vector<std::byte> bytes = encodeLibrary(*content);
  if (!write(settings.output, bytes) ||
      (!settings.depfile.empty() && !writeDepfile(filesRead(operands, input, settings), settings)))
    return Exit::Failure;
  resultStream() << settings.output << ": " << counted(exports.size(), "collective")
                 << (settings.allRanks ? " (" + std::to_string(proved) + " proved for all P)" : "")
                 << ", " << counted(content->images.size(), "image")
                 << (settings.request.prove || content->images.empty() ? "" : " (not proved)")
                 << ", " << counted(content->rules.size(), "rule") << ", "
                 << bytesWord(bytes.size()) << "\n";
  return Exit::Success;
}

} // namespace

Exit compileCommand(Arguments arguments) {
  LibrarySettings settings;
  Options options("compile", "FILE... -o LIB [OPTION...]",
                  "Writes collectives (.coll) as a schedule library: programs that are\n"
                  "instantiated anywhere without a compiler, images for named numbers of ranks\n"
                  "and sizes, rules that choose among collectives, and their sources. Images\n"
                  "are proved first. Schedules from files, such as algorithms of MSCCL, become\n"
                  "images for the ranks that each has, of all types or --type, which serve the\n"
                  "function that their contract is of. With --to, the collectives are written for\n"
                  "other tools, and what a format cannot say is told of each.");
  options.completeOperands(completionOfSchedules());
  settings.addTo(options);
  if (std::optional<Exit> exit = options.parse(arguments))
    return *exit;
  if (settings.output.empty() || settings.output == "-")
    return options.refuse(settings.formats.to ? "say where to write the files, with -o DIR"
                                              : "say where to write the library, with -o LIB");
  if (Status s = settings.formats.check(); !s)
    return options.refuse(s.message());
  if (settings.formats.goal.localOpsAsCalc && !settings.formats.to)
    return options.refuse("--local-as-calc: it is for --to");
  const LibraryRequest &request = settings.request;
  const ScheduleRequest &schedule = request.proofs.schedule;
  if (options.operands().empty() && !request.stdlib && schedule.names.empty())
    return options.refuse("nothing to compile: name files, or --stdlib");
  if (!settings.allRanks)
    if (Status s = options.refuseGiven({"--within"}, "it is for --all-ranks"); !s)
      return options.refuse(s.message());
  std::optional<LibraryInput> input = readForLibrary(session(), options.operands(), request);
  if (!input)
    return Exit::Failure;
  const ExportSettings &formats = settings.formats;
  if (Status s = formats.to ? checkGivenWithFormats(options, settings, input->targets)
                            : checkGiven(options, settings, input->targets);
      !s)
    return printError(s.diagnostic()), Exit::Failure;
  if (!usedAllSettings(*input->source, input->targets, schedule) ||
      !usesAllGiven(options, *input->source, input->targets, schedule, Purpose::Store))
    return Exit::Failure;
  if (formats.to)
    return compileFormats(*input, request, formats, settings.output);
  return compile(options.operands(), *input, settings);
}

} // namespace colldsl::tools
