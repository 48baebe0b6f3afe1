/// Rules that choose among collectives, as people write them into a file. One a line:
///
///   # short messages on one node
///   allreduce ranks 2..64 bytes 0..8KiB nodes 1 types i32,f32 use allreduce_recursive_doubling
///   allreduce commutative use allreduce_ring
///   bcast bytes 64KiB.. use bcast_tree segment=32KiB t='kary(0, 4)'
///
/// The first rule that fits is taken. `a..b` includes both ends, either of which may be left out;
/// `total` is the bytes times the ranks, `pernode` counts the ranks of the node that has most,
/// `commutative` requires an operator that commutes, `oversubscribed` that all ranks are on one
/// node with fewer cores than ranks, `multicast` that their network sends to several at once, `tcp`
/// that the kernel moves messages between nodes, over TCP or UDP. Each condition stands once.
/// Values of parameters are expressions of the language, in quotes if they contain blanks.
#pragma once

#include "compiler/Compile.h"
#include "driver/Sink.h"
#include "program/library/Library.h"

#include "llvm/ADT/StringRef.h"

namespace colldsl::driver {

class StandardFunctions;

/// The name of the standard library's rules, in messages.
inline constexpr const char *kStandardRules = "stdlib/selection.rules";

/// The text of a file of rules; empty: the path is empty. An error: the file cannot be read, or has
/// another format.
Result<std::string> rulesText(const std::string &path);

/// Adds the arguments of the rules to the compilation's program. An error names the file and the
/// line. With `standard`, a rule that cannot serve one of these functions is an error, and a rule
/// for any other function a warning for `sink`.
Result<std::vector<SelectionRule>> readRules(llvm::StringRef fileName, llvm::StringRef text,
                                             Compilation &compilation,
                                             const StandardFunctions *standard = nullptr,
                                             Sink *sink = nullptr);

/// The words of a text of rules, as candidates for names of declarations.
std::vector<std::string> wordsOf(std::string_view text);

/// The text with the rules for one function alone; all lines keep their numbers.
std::string linesOfFunction(std::string_view text, llvm::StringRef function);

/// The functions for which the standard library has rules, each once, in the order of the rules.
std::vector<llvm::StringRef> functionNames();

/// A rule as a line of a file of rules.
std::string printRule(const SelectionRule &rule, const Program &program,
                      const std::vector<LibrarySource> &sources);

} // namespace colldsl::driver
