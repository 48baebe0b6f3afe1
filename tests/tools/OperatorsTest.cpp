// Each operator with each element type: all that takes an operator has it or refuses it, with the
// same words.
#include "ir/Operators.h"

#include "compiler/Compile.h"
#include "executor/Reduce.h"
#include "instantiate/Instantiate.h"
#include "ir/Image.h"
#include "ir/TextForm.h"
#include "tools/run/NaiveReduce.h"
#include "verifier/Verifier.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <unistd.h>

namespace colldsl::tools {
namespace {

std::string joined(const std::vector<Diagnostic> &errors) {
  std::string all;
  for (const Diagnostic &error : errors)
    all += error.message + "\n";
  return all;
}

std::string messageOf(const Status &status) { return status ? "" : status.message(); }

/// One rank combines v into y, which is promised.
Schedule combining(Reduction reduction, ElementType type) {
  Schedule schedule;
  schedule.hasContract = true;
  schedule.names = {"y", "v"};
  schedule.sizeClass = {8, 8, 8};
  Dag &dag = schedule.ranks.emplace_back();
  Slice slices[2];
  for (uint32_t b = 0; b < 2; ++b) {
    Buffer buffer;
    buffer.endScale = 1;
    buffer.name = b;
    buffer.role = b == 0 ? BufferRole::InOut : BufferRole::In;
    buffer.type = type;
    slices[b].endScale = 1;
    slices[b].buffer = dag.addBuffer(buffer);
  }
  Op op;
  op.kind = OpKind::Combine;
  op.reduction = reduction;
  op.type = type;
  dag.add(op, {&slices[1], 1}, {&slices[0], 1}, {});
  dag.contract.operands = {{Rank{0}, slices[0]}, {Rank{0}, slices[1]}};
  dag.contract.ensures = {{slices[0], true, reduction, 0, 2, {}}};
  return schedule;
}

std::string saidByText(Reduction reduction, ElementType type) {
  std::string t(spelling(type)), op(spelling(reduction));
  std::string head =
      "schedule \"s\" contract\nnum_ranks 1\nsize n = 8 in 8..8\nrank 0 {\ninout y: " + t +
      "[n]\nin v: " + t + "[n]\n";
  std::string combine = "l0: combine by " + op + " " + t + " after from v into y\n";
  std::string ensures = "ensures y == " + op + "(y@0, v@0)\n";
  std::string byOp = joined(parseText(head + combine + "}\n", "t").errors);
  EXPECT_EQ(byOp, joined(parseText(head + ensures + "}\n", "t").errors));
  return byOp;
}

std::string saidByImage(Reduction reduction, ElementType type) {
  std::string said[2];
  for (bool combines : {false, true}) {
    Schedule schedule = combining(reduction, type);
    if (combines)
      schedule.ranks[0].contract = {};
    else
      schedule.ranks[0].ops.clear();
    Result<Image> image = Image::load(encodeImage(schedule));
    said[combines] = image ? "" : image.message();
    said[combines].erase(0, said[combines].rfind(": ") + 2);
  }
  EXPECT_EQ(said[0], said[1]);
  return said[0];
}

std::string saidByVerifier(Reduction reduction, ElementType type) {
  Sizes sizes;
  sizes.elements = 8;
  proof::VerifyReport report = proof::verify(combining(reduction, type), {sizes});
  if (report.proved())
    return "";
  const std::string &message = report.failures.front().message;
  return message.substr(message.rfind(": ") + 2);
}

class Text {
public:
  explicit Text(const std::string &text)
      : path_(testing::TempDir() + "/operators-" + std::to_string(getpid()) + ".coll") {
    std::ofstream(path_) << text;
    compilation_ = compileFiles({path_});
  }
  ~Text() { std::filesystem::remove(path_); }
  const Compilation &get() const { return compilation_; }

private:
  std::string path_;
  Compilation compilation_;
};

/// What the compiler says where it knows both.
std::set<std::string> saidByCompiler(Reduction reduction, ElementType type) {
  std::string t(spelling(type)), op(spelling(reduction));
  Text text("collective a(in x: " + t + "[n], inout y: " + t +
            "[n]) ensures y == x "
            "{ combine x into y " +
            op +
            "; }\n"
            "collective b(inout y: " +
            t +
            "[n]) ensures y == y "
            "{ recv y from (rank + 1) % ranks combine " +
            op +
            "; }\n"
            "collective c(inout y: " +
            t +
            "[n]) "
            "ensures y == reduce(" +
            op + ", for r in 0..ranks: y@r) { let z = y; }\n");
  std::vector<Diagnostic> errors = text.get().diagnostics();
  std::set<std::string> said;
  for (const Diagnostic &error : errors) {
    EXPECT_TRUE(error.loc.known());
    said.insert(error.message);
  }
  EXPECT_TRUE(errors.empty() || errors.size() == 3) << joined(errors);
  return said;
}

/// What instantiation says, which knows T and the operator that was given.
std::string saidByInstantiation(const Program &program, const char *name, Reduction reduction,
                                ElementType type) {
  InstantiateRequest request;
  request.collective = program.find(name, DeclKind::Collective);
  request.ranks = 2;
  request.elements = 8;
  request.type = type;
  const std::vector<Param> &params = program.decl(request.collective).params;
  request.values.resize(params.size());
  for (size_t p = 0; p < params.size(); ++p)
    if (!params[p].isBuffer)
      request.values[p] = static_cast<int64_t>(reduction);
  Result<Schedule> made = instantiateAll(program, request);
  return made ? "" : made.message();
}

TEST(Operators, asTheLanguagePageHasThem) {
  for (unsigned r = 0; r < kReductions; ++r)
    for (unsigned t = 0; t < kElementTypes; ++t) {
      auto op = static_cast<Reduction>(r);
      auto type = static_cast<ElementType>(t);
      std::string_view name = spelling(op), of = spelling(type);
      bool isBitwise = name == "band" || name == "bor" || name == "bxor";
      bool isInteger = of.front() == 'i' || of.front() == 'u';
      bool expected = isBitwise                         ? isInteger
                      : name == "matmul"                ? of.substr(1) == "32"
                      : name != "sum" && name != "prod" ? of.front() != 'c'
                                                        : true;
      EXPECT_EQ(isDefined(op, type), expected) << name << " of " << of;
    }
  EXPECT_EQ(messageOf(checkDefined(Reduction::Band, ElementType::F32)),
            "there is no band of f32; band is for integers");
  EXPECT_EQ(messageOf(checkDefined(Reduction::MatMul, ElementType::I8)),
            "there is no matmul of i8; matmul is for types of 4 bytes");
}

TEST(Operators, allThatTakesOneAgrees) {
  Text text("collective a(in x: T[n], inout y: T[n], op: reduction) ensures y == x "
            "{ combine x into y op; }\n"
            "collective b(inout y: T[n], op: reduction) ensures y == y "
            "{ send y to 1 - rank; recv y from 1 - rank combine op; }\n"
            "collective c(inout y: T[n], op: reduction) "
            "ensures y == reduce(op, for r in 0..ranks: y@r) { let z = y; }\n");
  ASSERT_TRUE(text.get().diagnostics().empty()) << joined(text.get().diagnostics());
  for (unsigned r = 0; r < kReductions; ++r)
    for (unsigned t = 0; t < kElementTypes; ++t) {
      auto op = static_cast<Reduction>(r);
      auto type = static_cast<ElementType>(t);
      SCOPED_TRACE(std::string(spelling(op)) + " of " + std::string(spelling(type)));
      std::string why = messageOf(checkDefined(op, type));
      EXPECT_EQ(messageOf(findReduction(op, type, Side::After).status()), why);
      std::vector<std::byte> left(sizeBytes(type)), right(left);
      EXPECT_EQ(messageOf(reduceInto(left, right, op, type)), why);
      EXPECT_EQ(saidByText(op, type), why.empty() ? "" : why + "\n");
      EXPECT_EQ(saidByImage(op, type), why);
      EXPECT_EQ(saidByVerifier(op, type), why);
      EXPECT_EQ(saidByCompiler(op, type),
                why.empty() ? std::set<std::string>() : std::set<std::string>{why});
      for (const char *name : {"a", "b", "c"})
        EXPECT_EQ(saidByInstantiation(text.get().program(), name, op, type), why) << name;
    }
}

// A plan whose operator is the caller's has one of the schedule's stand for it.
TEST(Operators, aCallersOwnIsOfAnyType) {
  Sizes sizes;
  sizes.elements = 8;
  proof::VerifyOptions options;
  options.ownOperators = true;
  EXPECT_TRUE(
      proof::verify(combining(Reduction::MatMul, ElementType::U8), {sizes}, options).proved());
}

} // namespace
} // namespace colldsl::tools
