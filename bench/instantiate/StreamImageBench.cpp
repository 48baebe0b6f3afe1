// The cost of making the image of a whole large job, one rank after the other.
//   streamRing    ring allreduce, all of 4,096 ranks (or as many as the first argument says),
//                 by two threads, into a sink that only counts bytes; the image's checksum is
//                 made along the way.                 bound: 10 s and 1 GB for 34 million messages;
//                 on a machine shared with others, half of the processor time says more
#include "compiler/Compile.h"
#include "instantiate/StreamImage.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sys/resource.h>

using namespace colldsl;

int main(int argc, char **argv) {
  Compilation compilation = compileFiles({});
  InstantiateRequest request;
  request.collective = compilation.program().find("allreduce_ring", DeclKind::Collective);
  request.ranks = argc > 1 ? static_cast<uint32_t>(std::atoi(argv[1])) : 4096;
  request.elements = 1'000'000;
  uint64_t bytes = 0;
  auto count = [&](std::span<const std::byte> piece) -> Status {
    bytes += piece.size();
    return {};
  };
  auto begin = std::chrono::steady_clock::now();
  if (Status s = streamImage(compilation.program(), request, count, 2); !s) {
    std::fprintf(stderr, "%s\n", s.message().c_str());
    return 1;
  }
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  auto secondsOf = [](const timeval &t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  double cpu = secondsOf(usage.ru_utime) + secondsOf(usage.ru_stime);
  // Each rank sends a block to its neighbour in each of 2 (P - 1) steps.
  uint64_t messages = uint64_t{request.ranks} * 2 * (request.ranks - 1);
  std::printf("streamRing: %u ranks, %.1f million messages, image of %.2f GB: %.2f s (bound 10), "
              "%.2f s of processor time, %.1f MB at most (bound 1000)\n",
              request.ranks, static_cast<double>(messages) * 1e-6,
              static_cast<double>(bytes) * 1e-9, seconds.count(), cpu,
              static_cast<double>(usage.ru_maxrss) * 1024e-6);
  return 0;
}
