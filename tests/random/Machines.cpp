#include "tests/random/Machines.h"

#include "tests/random/Patterns.h"

namespace colldsl::generated {
namespace {

Level someLevel(Random &random) { return random.chance(60) ? Level::Node : Level::Socket; }

GroupExpr over(Level level) {
  GroupExpr group;
  group.kind = GroupExpr::Kind::Level;
  group.level = level;
  return group;
}

/// include: a rank, or nothing.
GroupExpr overLeaders(Level level, std::vector<Expr> include) {
  GroupExpr group;
  group.kind = GroupExpr::Kind::Leaders;
  group.level = level;
  group.choice = std::move(include);
  return group;
}

Stmt call(size_t callee, GroupExpr group) {
  Stmt s = simple(Stmt::Kind::Call);
  s.callee = static_cast<uint32_t>(callee);
  s.group = std::move(group);
  return s;
}

class ByLevels {
public:
  ByLevels(Program &program, Random &random) : program_(program), random_(random) {}

  void add() {
    level_ = someLevel(random_);
    addPattern(program_, random_, isReduction_ ? Pattern::Reduce : Pattern::Bcast);
    callee_ = program_.collectives.size() - 1;
    Collective made = isReduction_ ? reduce() : broadcast();
    program_.collectives.push_back(std::move(made));
  }

private:
  Name name() { return program_.newName(); }
  const Param &calleeParam(size_t i) const { return program_.collectives[callee_].params[i]; }

  Stmt broadcastOver(Name b, Expr root, GroupExpr group) {
    Stmt s = call(callee_, std::move(group));
    s.arguments = {{calleeParam(0).name, {}, {whole(b)}},
                   {calleeParam(1).name, {std::move(root)}, {}}};
    return s;
  }

  /// To one rank of each node, and from there to all of it.
  Collective broadcast() {
    Collective c;
    Name b = name(), root = name();
    c.params = {buffer(b, BufferRole::InOut), rankParam(root, num(random_.below(program_.ranks)))};
    if (random_.chance(20)) // what is called takes a block as T[n]
      c.params[0] = callTimeBlocks(b, BufferRole::InOut, {}, Extent::CallTime);
    c.ensures = {holds(whole(b), whole(b), var(root))};
    Expr lead = leaderExpr(level_, var(root), random_.chance(90) ? 0 : 1);
    // Without the root among the leaders it must be one by chance.
    std::vector<Expr> include;
    if (random_.chance(85))
      include = {var(root)};
    c.body = {broadcastOver(b, var(root), overLeaders(level_, include)),
              broadcastOver(b, lead, over(level_))};
    return c;
  }

  Stmt reduceOver(Name x, Name y, Expr root, GroupExpr group) {
    Stmt s = call(callee_, std::move(group));
    s.arguments = {{calleeParam(0).name, {}, {whole(x)}},
                   {calleeParam(1).name, {}, {whole(y)}},
                   {calleeParam(2).name, {std::move(root)}, {}}};
    return s;
  }

  /// The sums of the nodes, and their sum.
  Collective reduce() {
    Collective c;
    Name x = name(), y = name(), root = name(), sum = name(), r = name();
    Reduction op = program_.collectives[callee_].ensures[0].inner[0].reduction;
    c.params = {buffer(x, BufferRole::In), buffer(y, BufferRole::InOut),
                rankParam(root, num(random_.below(program_.ranks)))};
    c.ensures = {
        at(equal(rankExpr(), var(root)), reduces(whole(y), op, r, allRanks(), whole(x), var(r)))};
    c.body = {temporary(sum), reduceOver(x, sum, leaderExpr(level_, var(root), 0), over(level_)),
              reduceOver(sum, y, var(root), overLeaders(level_, {var(root)}))};
    return c;
  }

  Program &program_;
  Random &random_;
  Level level_ = Level::Node;
  size_t callee_ = 0;
  const bool isReduction_ = random_.chance(40);
};

} // namespace

std::vector<Machine> machinesFor(uint32_t ranks) {
  std::vector<Machine> machines{{1, 1, 0}};
  for (const Machine &machine : {Machine{2, 1, 3}, Machine{3, 1, 2}, Machine{6, 1, 1},
                                 Machine{2, 2, 2}, Machine{1, 2, 3}, Machine{2, 3, 1}})
    if (machine.nodes * machine.sockets * machine.cores >= ranks)
      machines.push_back(machine);
  return machines;
}

void addByLevels(Program &program, Random &random) { ByLevels(program, random).add(); }

void addLevelCalls(Program &program, Random &random) {
  Collective main = std::move(program.collectives.back());
  program.collectives.pop_back();
  addPattern(program, random, Pattern::Bcast);
  size_t callee = program.collectives.size() - 1;
  Name param = program.collectives[callee].params[0].name;
  std::vector<Name> lines;
  for (const Param &p : main.params)
    if (p.kind == Param::Kind::Buffer && p.role == BufferRole::InOut && p.dims.size() == 1 &&
        p.extent == Extent::Symbol)
      lines.push_back(p.name);
  for (int64_t left = random.between(1, 2); left > 0 && !lines.empty(); --left) {
    Level level = someLevel(random);
    std::vector<Expr> include;
    if (random.chance(50))
      include = {num(random.below(program.ranks))};
    Stmt s = call(callee, random.chance(50) ? over(level) : overLeaders(level, std::move(include)));
    s.arguments = {{param, {}, {whole(random.anyOf(lines))}}};
    main.body.insert(main.body.begin() + random.below(static_cast<int64_t>(main.body.size()) + 1),
                     s);
  }
  program.collectives.push_back(std::move(main));
}

} // namespace colldsl::generated
