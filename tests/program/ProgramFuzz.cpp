// Programs with any byte changed: what deserializeProgram lets through must be safe to
// instantiate, and encode to the same bytes.

#include "tests/ir/Fuzz.h"

#include "compiler/Compile.h"
#include "instantiate/Instantiate.h"
#include "program/SerializedProgram.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace colldsl {
namespace {

// Small, and with nearly everything that the language has.
constexpr const char *kSources[] = {
    R"(
function span(v: int, size: int = ranks) = 1 << (v == 0 ? ceil_log2(size) : ctz(v));
tree binomial(root: rank) {
  let v = (rank - root) % ranks;
  if v > 0 { parent (root + v - span(v)) % ranks; }
  for i in 1..=log2(span(v)) {
    let w = v + (span(v) >> i);
    if w < ranks { child (root + w) % ranks; }
  }
}
collective bcast(inout buf: T[n], root: rank = 0, t: tree = binomial(root) in {binomial(root)},
                 segment: bytes = 64 in 4..1MiB)
  where t.root == root
  ensures buf == buf@root
{
  for s in segments(buf, segment) {
    a: recv s from t.parent;
    for c in t.children { b[c]: send s to c; if rank != root { b[c] requires a; } }
  }
}
)",
    R"(
deterministic collective allreduce(in x: T[n], out y: T[n], op: reduction = sum)
  where commutative(op)
  x aliases y
  ensures y == reduce(op, for r in 0..ranks: x@r)
{
  copy x to y;
  for k in 0..2 * (ranks - 1) {
    let here  = part(y, (rank - k) % ranks of ranks);
    send here to (rank + 1) % ranks tag k;
    if k < ranks - 1 { recv part(y, (rank - k - 1) % ranks of ranks) from (rank - 1) % ranks combine op before; }
    else { recv part(y, (rank - k - 1) % ranks of ranks) from (rank - 1) % ranks; }
  }
}
collective counts(in x: T[counts[rank]], out y: T[ranks][counts], counts: int[] = [for r in 0..ranks if r >= 0: r % 3 + 1])
  where length(counts) == ranks and min(for r in 0..ranks: counts[r]) > 0
  ensures for r in 0..ranks: y[r] == x@r
{
  for r in 0..ranks { send x to r; recv y[r] from r; }
}
)",
    R"(
graph torus(dims: int[]) {
  for d in 0..length(dims) {
    edge to   shift(dims, d, -1) key 2 * d;
    edge to   shift(dims, d, +1) key 2 * d + 1;
    edge from shift(dims, d, -1) key 2 * d + 1;
    edge from shift(dims, d, +1) key 2 * d;
  }
}
collective halo(in send: T[g.outdegree][*], out recv: T[g.indegree][*], g: graph = torus([ranks]))
  ensures for e in g.in: recv[e.slot] == send[e.peerslot]@e.peer
{
  for e in g.out { send send[e.slot] along e; }
  for e in g.in  { recv recv[e.slot] along e; }
}
)",
    R"(
collective inner(inout buf: T[m], root: rank = 0)
  ensures buf == buf@root
{
  if rank == root { for r in 0..ranks { if r != root { send buf to r; } } }
  else { recv buf from root; }
}
collective outer(inout buf: T[n])
  ensures buf == buf@0
{
  if ranks > 2 { outer(buf) over where(r: r < max(1, ranks / 2)); }
  temp held: T[2][n];
  copy buf to held[1];
  w: inner(buf) over leaders(node, include = 0);
  c: calc 100ns;
  c irequires w;
  i[1, 2]: inner(buf) over split(r: r % 2 == 0 ? 0 : none);
  inner(buf, root = leader(socket)) over socket;
  signal to (rank xor 1) < ranks ? rank xor 1 : none;
  wait from (rank xor 1) < ranks ? rank xor 1 : none;
  send [held[0], held[1]] to rank;
  recv [for k in 0..2: held[k]] from rank;
}
)"};

Program compile(const std::string &text) {
  std::string path = std::filesystem::temp_directory_path() /
                     ("colldsl-fuzz-" + std::to_string(getpid()) + ".coll");
  std::ofstream(path) << text;
  CompileOptions options;
  options.withStdlib = false;
  Compilation compilation = compileFiles({path}, options);
  std::filesystem::remove(path);
  for (const Diagnostic &d : compilation.diagnostics())
    failFuzz("the corpus does not compile: " + compilation.render(d));
  return compilation.program();
}

void instantiate(const Program &program, const Decl &decl, DeclId id, uint32_t ranks) {
  InstantiateRequest request;
  request.collective = id;
  request.ranks = ranks;
  request.elements = 7;
  request.contract = true;
  request.inPlace = ranks == 3;
  request.limits.maxSteps = 2'000;
  request.limits.maxOps = 2'000;
  request.limits.maxTotalOps = 4'000;
  request.limits.maxCallDepth = 20;
  for (uint32_t name : decl.sizeNames)
    request.sizes.push_back({program.strings[name], 5});
  (void)instantiateAll(program, request);
}

} // namespace

std::vector<FuzzInput> fuzzCorpus() {
  std::vector<FuzzInput> corpus;
  for (const char *source : kSources) {
    std::vector<std::byte> bytes = serializeProgram(compile(source));
    auto begin = reinterpret_cast<const uint8_t *>(bytes.data());
    corpus.emplace_back(begin, begin + bytes.size());
  }
  return corpus;
}

} // namespace colldsl

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace colldsl;
  std::span bytes(reinterpret_cast<const std::byte *>(data), size);
  Result<Program> program = deserializeProgram(bytes);
  if (!program)
    return 0;
  std::vector<std::byte> again = serializeProgram(*program);
  if (!std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()))
    failFuzz("an accepted program encodes to other bytes");
  for (size_t i = 0; i < program->decls.size(); ++i)
    if (const Decl &decl = program->decls[i]; decl.kind == DeclKind::Collective)
      for (uint32_t ranks : {1, 3})
        instantiate(*program, decl, DeclId{static_cast<uint32_t>(i)}, ranks);
  return 0;
}
