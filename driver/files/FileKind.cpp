#include "driver/files/FileKind.h"

#include "formats/Chakra.h"
#include "formats/GoalBinary.h"
#include "ir/ForeignFormat.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"

namespace colldsl::driver {
namespace {

constexpr llvm::StringRef kImageMagic("colldsl\0", 8);
constexpr llvm::StringRef kLibraryMagic("colllib\0", 8);

/// True also for a file that a simulator has consumed, so that the error can say so.
bool isGoalBinary(llvm::StringRef content) {
  if (content.size() < sizeof(uint64_t))
    return false;
  uint64_t magic = llvm::support::endian::read64le(content.data());
  return magic == kGoalMagic || magic == kGoalUsedMagic;
}

/// True if the text begins with '<', as no other kind of file does.
bool isXml(llvm::StringRef content) {
  content.consume_front("\xEF\xBB\xBF");
  return content.ltrim().starts_with("<");
}

llvm::StringRef skipBlanksAndComments(llvm::StringRef text) {
  for (;;) {
    text = text.ltrim();
    if (text.starts_with("//"))
      text = text.split('\n').second;
    else if (text.starts_with("/*"))
      text = text.drop_front(2).split("*/").second;
    else
      return text;
  }
}

} // namespace

bool isPlanText(llvm::StringRef content) {
  return foreignFormat(std::string_view(content), Readable::Text) == kExecutionPlan;
}

FileKind fileKind(llvm::StringRef content) {
  if (content.starts_with(kImageMagic))
    return FileKind::Image;
  if (content.starts_with(kLibraryMagic))
    return FileKind::Library;
  if (isGoalBinary(content))
    return FileKind::GoalBinary;
  if (isXml(content))
    return FileKind::MscclXml;
  if (chakra::isTrace({content.data(), content.size()}))
    return FileKind::Chakra;
  llvm::StringRef text = skipBlanksAndComments(content);
  llvm::StringRef word = text.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
  for (llvm::StringRef first : {"schedule", "num_ranks", "size", "file", "rank"})
    if (word == first)
      return FileKind::Text;
  return FileKind::Source;
}

Status refuseForeign(llvm::StringRef content, const std::string &file) {
  FileKind kind = fileKind(content);
  if (kind != FileKind::Source && kind != FileKind::MscclXml)
    return {};
  std::string format = foreignFormat(std::string_view(content), Readable::Text);
  if (format.empty())
    return {};
  if (format == kExecutionPlan)
    return Diagnostic::error({}, "'" + file + "' is not read: it is " + format,
                             "verify and run take plans from ordinary files, sim and show from "
                             "streams, too");
  return Diagnostic::error({}, "'" + file + "' is not read: it is " + format,
                           "read are collectives (.coll), schedules as text or image, schedule "
                           "libraries, GOAL as text or in binary, algorithms of MSCCL (XML), and "
                           "traces of Chakra");
}

void addAs(Fields &fields, InputForm &form) {
  fields.addParsed(
      "--as", "COLLECTIVE",
      "allreduce, allgather, reduce_scatter, alltoall, broadcast, reduce or\n"
      "custom, which has no contract, in any spelling: the collective of an\n"
      "algorithm of MSCCL, whatever its file says",
      form.collective,
      [](llvm::StringRef word) -> Result<msccl::Collective> {
        if (auto known = msccl::parseCollective(std::string_view(word)))
          return *known;
        return Status::error("'" + word.str() + "' is none of MSCCL's collectives");
      },
      [](msccl::Collective c) { return std::string(msccl::spelling(c)); }) = completionOf({
#define COLLDSL_MSCCL_COLLECTIVE(Name, spelling) spelling,
#include "formats/Msccl.def"
  });
}

std::optional<FileKind> parseForeignKind(llvm::StringRef word) {
  return llvm::StringSwitch<std::optional<FileKind>>(word)
      .Case("goal", FileKind::Text)
      .Case("goal-bin", FileKind::GoalBinary)
      .Case("msccl-xml", FileKind::MscclXml)
      .Case("chakra", FileKind::Chakra)
      .Default(std::nullopt);
}

} // namespace colldsl::driver
