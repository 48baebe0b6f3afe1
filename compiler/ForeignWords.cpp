#include "compiler/ForeignWords.h"

#include "compiler/Spelling.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace colldsl {

using llvm::StringRef;
using llvm::StringSwitch;

StringRef ourOperatorFor(StringRef op) {
  return StringSwitch<StringRef>(op)
      .Cases("&&", "&", "and")
      .Cases("||", "|", "or")
      .Case("!", "not")
      .Case("^", "xor")
      .Case("::", ".")
      .Case("=", "==")
      .Default("");
}

StringRef ourWordFor(StringRef word) {
  return StringSwitch<StringRef>(word)
      .Cases("receive", "irecv", "recieve", "recv")
      .Cases("isend", "put", "send")
      .Cases("reduce", "accumulate", "combine")
      .Cases("compute", "work", "calc")
      .Cases("var", "const", "auto", "int", "let")
      .Cases("while", "foreach", "for")
      .Cases("elif", "elsif", "elseif", "else if")
      .Cases("def", "fn", "func", "function")
      .Cases("memcpy", "move", "copy")
      .Cases("buffer", "alloc", "temp")
      .Cases("include", "using", "import")
      .Cases("proc", "procedure", "algorithm", "collective")
      .Default("");
}

StringRef ourValueFor(StringRef name) {
  return StringSwitch<StringRef>(name)
      .Cases("me", "myrank", "my_rank", "self", "pid", "rank")
      .Cases("nranks", "num_ranks", "nprocs", "comm_size", "world_size", "ranks")
      .Cases("size", "np", "P", "ranks")
      .Cases("True", "TRUE", "true")
      .Cases("False", "FALSE", "false")
      .Cases("None", "nil", "null", "NULL", "nullptr", "none")
      .Default("");
}

std::string hintForMpi(StringRef name) {
  if (!name.consume_front("MPI_"))
    return "";
  if (name.equals_insensitive("sendrecv") || name.equals_insensitive("isendrecv"))
    return "write a send and a recv: both are under way at once";
  StringRef verb = name;
  for (StringRef mode : {"I", "S", "B", "R", "Is", "Ib", "Ir", "M", "Im"}) // of sends and receives
    if (name.starts_with(mode) &&
        llvm::is_contained({"send", "recv"}, name.drop_front(mode.size())))
      verb = name.drop_front(mode.size());
  return StringSwitch<std::string>(verb.lower())
      .Case("send", "write 'send x to r;'")
      .Case("recv", "write 'recv y from r;'")
      .Cases("wait", "waitall", "waitany", "test",
             "operations wait for what they need; none is waited for by name")
      .Cases("comm_rank", "comm_size", "the names are 'rank' and 'ranks'")
      .Default("collectives of the standard library are called by their own names, which `colldsl "
               "list` shows");
}

std::string hintForFunction(StringRef name) {
  if (name == "range")
    return "a range is written a..b, without b";
  if (name == "mod" || name == "fmod")
    return "the remainder is written a % b";
  if (name == "pow")
    return "a power of two is written 1 << b";
  if (name == "div")
    return "a quotient is written a / b, rounded down";
  return didYouMean(StringSwitch<StringRef>(name)
                        .Cases("len", "size", "sizeof", "count_of", "length")
                        .Cases("lg", "ilog2", "floor_log2", "log2")
                        .Cases("clog2", "ceillog2", "log2ceil", "ceil_log2")
                        .Cases("logb", "log_k", "floor_log", "log")
                        .Case("clog", "ceil_log")
                        .Cases("popcnt", "bitcount", "count_ones", "popcount")
                        .Cases("bitrev", "reverse_bits", "bitreverse")
                        .Case("prod", "product")
                        .Default(""));
}

} // namespace colldsl
