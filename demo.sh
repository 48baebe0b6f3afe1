#!/usr/bin/env bash
# Installs what the program is built from, builds it, proves four collectives and runs them on 4 ranks.
set -euo pipefail
cd "$(dirname "$0")"

scripts/install-packages --program
if [ ! -e build/release/build.ninja ]; then # else it was configured for more, which serves here
  echo "== configure build/release"
  cmake --preset release -DCOLLDSL_BUILD_TESTS=OFF -DCOLLDSL_BUILD_BENCH=OFF -DCOLLDSL_BUILD_PYTHON=OFF \
    --log-level=NOTICE >/dev/null
fi
echo "== build"
cmake --build --preset release --target colldsl -j "$(nproc)"

collectives=(neighbor_alltoall bcast_hierarchical allreduce_recursive_doubling allreduce_ring)
# A 2-D torus of four ranks, on two nodes of two cores each.
options=(--set "g=torus([2,2])" --topology "node:2 core:2" --bytes 65536)

for command in "verify --ranks 4" "run -n 4"; do
  read -ra words <<<"$command"
  echo "== colldsl $command ${collectives[*]} ${options[*]}"
  build/release/bin/colldsl "${words[@]}" "${collectives[@]}" "${options[@]}"
done
