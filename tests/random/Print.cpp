#include "tests/random/Program.h"

#include <algorithm>
#include <map>

namespace colldsl::generated {
namespace {

class Printer {
public:
  explicit Printer(const Program &program) : program_(program) {}

  std::string print() {
    for (size_t i = 0; i < program_.functions.size(); ++i)
      addFunction(i);
    for (size_t i = 0; i < program_.structures.size(); ++i)
      addStructure(i);
    for (size_t i = 0; i < program_.collectives.size(); ++i)
      addCollective(i);
    return std::move(text_);
  }

private:
  static std::string named(Name name) { return "v" + std::to_string(name); }
  static const char *named(Level level) { return level == Level::Node ? "node" : "socket"; }
  static std::string numbered(const char *prefix, size_t i) { return prefix + std::to_string(i); }

  template <typename List, typename Spell>
  static std::string joined(const List &list, Spell spell, const char *between = ", ") {
    std::string result;
    for (const auto &item : list)
      result += (result.empty() ? "" : between) + spell(item);
    return result;
  }
  std::string listOf(const std::vector<Expr> &exprs) const {
    return joined(exprs, [this](const Expr &e) { return spell(e); });
  }
  std::string slicesOf(const std::vector<SliceExpr> &slices) const {
    std::string all = joined(slices, [this](const SliceExpr &s) { return spell(s); });
    return slices.size() == 1 ? all : "[" + all + "]";
  }

  static const char *operatorOf(ExprOp op) {
    static const std::map<ExprOp, const char *> operators{
        {ExprOp::Add, "+"}, {ExprOp::Sub, "-"},   {ExprOp::Mul, "*"},   {ExprOp::Div, "/"},
        {ExprOp::Mod, "%"}, {ExprOp::Xor, "xor"}, {ExprOp::Eq, "=="},   {ExprOp::Ne, "!="},
        {ExprOp::Lt, "<"},  {ExprOp::Le, "<="},   {ExprOp::And, "and"}, {ExprOp::Or, "or"}};
    return operators.at(op);
  }
  std::string binary(const Expr &e) const {
    return "(" + spell(e.args[0]) + " " + operatorOf(e.op) + " " + spell(e.args[1]) + ")";
  }

  std::string spell(const Expr &e) const {
    switch (e.op) {
    case ExprOp::Number:
      return e.value < 0 ? "(0 - " + std::to_string(-e.value) + ")" : std::to_string(e.value);
    case ExprOp::None:
      return "none";
    case ExprOp::Var:
      return named(e.name);
    case ExprOp::Rank:
      return "rank";
    case ExprOp::Ranks:
      return "ranks";
    case ExprOp::Add:
    case ExprOp::Sub:
    case ExprOp::Mul:
    case ExprOp::Div:
    case ExprOp::Mod:
    case ExprOp::Xor:
      return binary(e);
    case ExprOp::Min:
      return "min(" + listOf(e.args) + ")";
    case ExprOp::Max:
      return "max(" + listOf(e.args) + ")";
    case ExprOp::Eq:
    case ExprOp::Ne:
    case ExprOp::Lt:
    case ExprOp::Le:
    case ExprOp::And:
    case ExprOp::Or:
      return binary(e);
    case ExprOp::Not:
      return "(not " + spell(e.args[0]) + ")";
    case ExprOp::Select:
      return "(" + spell(e.args[0]) + " ? " + spell(e.args[1]) + " : " + spell(e.args[2]) + ")";
    case ExprOp::ListElement:
      return "[" + listOf({e.args.begin(), e.args.end() - 1}) + "][" + spell(e.args.back()) + "]";
    case ExprOp::CallFunction:
      return numbered("f", e.name) + "(" + listOf(e.args) + ")";
    case ExprOp::TreeParent:
      return named(e.name) + ".parent";
    case ExprOp::TreeRoot:
      return named(e.name) + ".root";
    case ExprOp::InDegree:
      return named(e.name) + ".indegree";
    case ExprOp::OutDegree:
      return named(e.name) + ".outdegree";
    case ExprOp::EdgeSlot:
      return named(e.name) + ".slot";
    case ExprOp::EdgePeer:
      return named(e.name) + ".peer";
    case ExprOp::Size:
      return named(static_cast<Symbol>(e.value));
    case ExprOp::Leader:
      return std::string("leader(") + named(static_cast<Level>(e.value)) +
             ", include = " + spell(e.args[0]) + ", index = " + spell(e.args[1]) + ")";
    }
    return "";
  }

  std::string spell(const SliceExpr &s) const {
    auto arg = [&](size_t i) { return spell(s.args[i]); };
    switch (s.kind) {
    case SliceExpr::Kind::Var:
      return named(s.name);
    case SliceExpr::Kind::Block:
      return spell(s.base[0]) + "[" + arg(0) + "]";
    case SliceExpr::Kind::Blocks:
    case SliceExpr::Kind::Elements:
      return spell(s.base[0]) + "[" + arg(0) + ".." + arg(1) + "]";
    case SliceExpr::Kind::Part:
      return "part(" + spell(s.base[0]) + ", " + arg(0) + " of " + arg(1) + ")";
    case SliceExpr::Kind::Parts:
      return "part(" + spell(s.base[0]) + ", " + arg(0) + ".." + arg(1) + " of " + arg(2) + ")";
    }
    return "";
  }

  std::string spell(const Range &r) const {
    switch (r.kind) {
    case Range::Kind::Upto:
      return spell(r.exprs[0]) + ".." + spell(r.exprs[1]);
    case Range::Kind::Through:
      return spell(r.exprs[0]) + "..=" + spell(r.exprs[1]);
    case Range::Kind::List:
      return "[" + listOf(r.exprs) + "]";
    case Range::Kind::Children:
      return named(r.name) + ".children";
    case Range::Kind::Out:
      return named(r.name) + ".out";
    case Range::Kind::In:
      return named(r.name) + ".in";
    case Range::Kind::Segments:
      return "segments(" + spell(r.slice[0]) + ", " + spell(r.exprs[0]) + "B)";
    }
    return "";
  }

  std::string spell(const Label &label) const {
    return "l" + std::to_string(label.name) +
           joined(
               label.index, [this](const Expr &e) { return "[" + spell(e) + "]"; }, "");
  }

  std::string spell(const GroupExpr &group) const {
    switch (group.kind) {
    case GroupExpr::Kind::Current:
      return "";
    case GroupExpr::Kind::Where:
      return " over where(" + named(group.var) + ": " + spell(group.choice[0]) + ")";
    case GroupExpr::Kind::Split:
      return " over split(" + named(group.var) + ": " + spell(group.choice[0]) + ")";
    case GroupExpr::Kind::Level:
      return std::string(" over ") + named(group.level);
    case GroupExpr::Kind::Leaders:
      return std::string(" over leaders(") + named(group.level) +
             (group.choice.empty() ? "" : ", include = " + spell(group.choice[0])) + ")";
    }
    return "";
  }

  static std::string named(Symbol symbol) {
    switch (symbol) {
    case Symbol::N:
      return "n";
    case Symbol::M:
      return "m";
    case Symbol::K:
      return "k";
    }
    return "";
  }
  std::string last(const Expr &size, Extent extent, Symbol symbol) const {
    switch (extent) {
    case Extent::Number:
      return spell(size);
    case Extent::Symbol:
      return named(symbol);
    case Extent::CallTime:
      return "*";
    case Extent::Capacity:
      return "<= " + named(symbol);
    }
    return "";
  }
  std::string dims(const std::vector<Expr> &sizes, Extent extent, Symbol symbol) const {
    std::string result = "T";
    for (size_t i = 0; i < sizes.size(); ++i)
      result +=
          "[" + (i + 1 == sizes.size() ? last(sizes[i], extent, symbol) : spell(sizes[i])) + "]";
    return result;
  }

  std::string spell(const Param &p) const {
    switch (p.kind) {
    case Param::Kind::Buffer:
      return std::string(spelling(p.role)) + " " + named(p.name) + ": " +
             dims(p.dims, p.extent, p.symbol) + (p.root.empty() ? "" : " at " + spell(p.root[0]));
    case Param::Kind::Int:
      return named(p.name) + ": int = " + spell(p.value[0]);
    case Param::Kind::Rank:
      return named(p.name) + ": rank = " + spell(p.value[0]);
    case Param::Kind::Tree:
      return named(p.name) + ": tree = " + numbered("t", p.structure) + "(" + listOf(p.value) + ")";
    case Param::Kind::Graph:
      return named(p.name) + ": graph = " + numbered("t", p.structure) + "()";
    }
    return "";
  }

  std::string peerOf(const Stmt &s, const char *direction) const {
    if (s.name != kNoName)
      return " along " + named(s.name) + (s.exprs.empty() ? "" : " tag " + spell(s.exprs[0]));
    return " " + std::string(direction) + " " + spell(s.exprs[0]) +
           (s.exprs.size() > 1 ? " tag " + spell(s.exprs[1]) : "");
  }
  static std::string how(const Stmt &s) {
    return std::string(spelling(s.reduction)) + (s.side == Side::Before ? " before" : " after");
  }

  std::string call(const Stmt &s) const {
    return numbered("c", s.callee) + "(" +
           joined(s.arguments,
                  [this](const Argument &a) {
                    return named(a.param) + " = " +
                           (a.slice.empty() ? spell(a.value[0]) : spell(a.slice[0]));
                  }) +
           ")" + spell(s.group);
  }

  std::string simple(const Stmt &s) const {
    switch (s.kind) {
    case Stmt::Kind::Let:
      return "let " + named(s.name) + " = " + spell(s.exprs[0]);
    case Stmt::Kind::LetSlice:
      return "let " + named(s.name) + " = " + spell(s.sources[0]);
    case Stmt::Kind::LetTree:
      return "let " + named(s.name) + " = " + numbered("t", s.callee) + "(" + spell(s.exprs[0]) +
             ")";
    case Stmt::Kind::Temp:
      return "temp " + named(s.name) + ": " + dims(s.exprs, s.extent, s.symbol);
    case Stmt::Kind::Send:
      return "send " + slicesOf(s.sources) + peerOf(s, "to");
    case Stmt::Kind::Recv:
      return "recv " + slicesOf(s.targets) + peerOf(s, "from") +
             (s.combines ? " combine " + how(s) : "");
    case Stmt::Kind::Signal:
      return "signal" + peerOf(s, "to");
    case Stmt::Kind::Wait:
      return "wait" + peerOf(s, "from");
    case Stmt::Kind::Copy:
      return "copy " + slicesOf(s.sources) + " to " + slicesOf(s.targets);
    case Stmt::Kind::Combine:
      return "combine " + slicesOf(s.sources) + " into " + slicesOf(s.targets) + " " + how(s);
    case Stmt::Kind::Calc:
      return "calc " + spell(s.exprs[0]) + "ns";
    case Stmt::Kind::Depend:
      return spell(s.labels[0]) + (s.irequires ? " irequires " : " requires ") +
             joined(std::vector<Label>(s.labels.begin() + 1, s.labels.end()),
                    [this](const Label &l) { return spell(l); });
    case Stmt::Kind::Call:
      return call(s);
    case Stmt::Kind::Parent:
      return "parent " + spell(s.exprs[0]);
    case Stmt::Kind::Child:
      return "child " + spell(s.exprs[0]);
    case Stmt::Kind::EdgeTo:
    case Stmt::Kind::EdgeFrom:
      return std::string("edge ") + (s.kind == Stmt::Kind::EdgeTo ? "to " : "from ") +
             spell(s.exprs[0]) + (s.exprs.size() > 1 ? " key " + spell(s.exprs[1]) : "");
    case Stmt::Kind::For:
    case Stmt::Kind::If:
      break;
    }
    return "";
  }

  void add(const Stmt &s) {
    if (s.kind == Stmt::Kind::For) {
      line("for " + named(s.name) + " in " + spell(s.range) + " {");
      block(s.body);
      return line("}");
    }
    if (s.kind == Stmt::Kind::If) {
      line("if " + spell(s.exprs[0]) + " {");
      block(s.body);
      if (!s.otherwise.empty()) {
        line("} else {");
        block(s.otherwise);
      }
      return line("}");
    }
    line((s.label.name == kNoName ? "" : spell(s.label) + ": ") + simple(s) + ";");
  }

  void block(const std::vector<Stmt> &body) {
    indent_ += 2;
    for (const Stmt &s : body)
      add(s);
    indent_ -= 2;
  }

  std::string condition(const Ensure &e) const {
    return e.condition.empty() ? "" : " if " + spell(e.condition[0]);
  }

  std::string spell(const Ensure &e) const {
    std::string at = e.rank.empty() ? "" : "@(" + spell(e.rank[0]) + ")";
    switch (e.kind) {
    case Ensure::Kind::Equal:
      return spell(e.target) + " == " + spell(e.operand) + at;
    case Ensure::Kind::Reduce:
      return spell(e.target) + " == reduce(" + std::string(spelling(e.reduction)) + ", for " +
             named(e.var) + " in " + spell(e.range) + condition(e) + ": " + spell(e.operand) + at +
             ")";
    case Ensure::Kind::For:
      return "for " + named(e.var) + " in " + spell(e.range) + condition(e) + ": " +
             spell(e.inner[0]);
    case Ensure::Kind::At:
      return "at " + spell(e.condition[0]) + ": " + spell(e.inner[0]);
    case Ensure::Kind::Synchronizes:
      return "synchronizes";
    }
    return "";
  }

  void addFunction(size_t i) {
    const Function &f = program_.functions[i];
    line("function " + numbered("f", i) + "(" +
         joined(f.params, [](Name name) { return named(name) + ": int"; }) +
         ") = " + spell(f.result) + ";");
  }

  void addStructure(size_t i) {
    const Structure &s = program_.structures[i];
    line((s.isTree ? "tree " : "graph ") + numbered("t", i) + "(" +
         (s.isTree ? named(s.root) + ": rank" : "") + ") {");
    block(s.body);
    line("}");
  }

  void addCollective(size_t i) {
    const Collective &c = program_.collectives[i];
    line(std::string(c.deterministic ? "deterministic " : "") + "collective " + numbered("c", i) +
         "(" + joined(c.params, [this](const Param &p) { return spell(p); }) + ")");
    indent_ += 2;
    for (const Alias &a : c.aliases)
      line(named(a.param) + " aliases " + spell(a.slice));
    for (const Ensure &e : c.ensures)
      line("ensures " + spell(e));
    indent_ -= 2;
    line("{");
    block(c.body);
    line("}");
  }

  void line(const std::string &content) { text_ += std::string(indent_, ' ') + content + "\n"; }

  const Program &program_;
  std::string text_;
  size_t indent_ = 0;
};

} // namespace

std::string print(const Program &program) { return Printer(program).print(); }

std::string describe(const Machine &machine) {
  if (machine.cores == 0)
    return "flat";
  return "node:" + std::to_string(machine.nodes) + " package:" + std::to_string(machine.sockets) +
         " core:" + std::to_string(machine.cores);
}

std::string valuesOf(const Program &program) {
  std::string text = std::to_string(program.ranks) + " ranks, n = " + std::to_string(program.n()) +
                     ", m = " + std::to_string(program.sizeOf(Symbol::M)) +
                     ", k = " + std::to_string(program.sizeOf(Symbol::K)) +
                     (program.inPlace ? ", in place" : "") + ", " + describe(program.machine);
  if (!program.hasBlocks())
    return text;
  text += ", blocks of " + std::to_string(program.lengths.all) + " but (rank, parameter, block):";
  for (const auto &[at, length] : program.lengths.listed)
    text += " (" + std::to_string(at[0]) + ", " + std::to_string(at[1]) + ", " +
            std::to_string(at[2]) + ") " + std::to_string(length);
  return text;
}

bool Program::hasBlocks() const {
  const std::vector<Param> &params = main().params;
  return std::any_of(params.begin(), params.end(),
                     [](const Param &param) { return generated::hasBlocks(param); });
}

Symbol Program::mainSize() const {
  for (const Param &param : main().params)
    if (param.kind == Param::Kind::Buffer &&
        (param.extent == Extent::Symbol || param.extent == Extent::Capacity))
      return param.symbol;
  return Symbol::N;
}

} // namespace colldsl::generated
