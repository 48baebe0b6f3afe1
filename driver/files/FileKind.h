/// The kind of a file's content, by its first bytes, not by its name.
#pragma once

#include "driver/RequestFields.h"
#include "formats/Msccl.h"

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace colldsl::driver {

enum class FileKind {
  Source, ///< .coll
  Text,   ///< the text form, or plain GOAL
  Image,
  Library,    ///< a schedule library
  GoalBinary, ///< GOAL as LogGOPSim and ATLAHS simulate it
  MscclXml,   ///< an algorithm of MSCCL
  Chakra,     ///< an execution trace of one rank
  Plan,       ///< an execution plan of MSCCL++
};

/// The form as which a file is read.
struct InputForm {
  std::optional<FileKind> kind = {};                ///< else by its bytes
  std::optional<msccl::Collective> collective = {}; ///< of MSCCL; else the one that it names
  bool allowsWildcards = false;                     ///< of GOAL; see TextLimits
  bool allowsPlans = false;                         ///< of MSCCL++: the steps of one launch
  std::optional<uint64_t> planBytes = {};           ///< of its messages; nothing: near kUsualBytes
};

/// Never Plan, which only some commands take: see isPlanText().
FileKind fileKind(llvm::StringRef content);
bool isPlanText(llvm::StringRef content);

/// An error if the content of `file` is of a format that no command reads.
Status refuseForeign(llvm::StringRef content, const std::string &file);

/// Adds --as COLLECTIVE, for algorithms of MSCCL.
void addAs(Fields &fields, InputForm &form);

/// The words for the formats of other tools.
inline constexpr llvm::StringRef kForeignKinds[] = {"goal", "goal-bin", "msccl-xml", "chakra"};
/// "goal, goal-bin, msccl-xml or chakra"
inline constexpr llvm::StringLiteral kForeignKindsInWords = "goal, goal-bin, msccl-xml or chakra";
std::optional<FileKind> parseForeignKind(llvm::StringRef word);

} // namespace colldsl::driver
