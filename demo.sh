#!/usr/bin/env bash
# Installs what is missing, builds colldsl, proves three collectives and runs them on 4 ranks.
set -euo pipefail
cd "$(dirname "$0")"

scripts/install-packages
echo "== configure build/release"
cmake --preset release --log-level=NOTICE >/dev/null
echo "== build"
cmake --build --preset release --target colldsl -j "$(nproc)"

colldsl=build/release/bin/colldsl
size=(-n 4 --bytes 65536)
# Collectives of the standard library, each with its parameters.
neighbor_alltoall=(--name neighbor_alltoall --set "g=torus([2,2])")
bcast_hierarchical=(--name bcast_hierarchical)
allreduce=(--name allreduce_recursive_doubling)

# FINISH HERE: one row per collective in the closing table (collective, ranks, bytes, ops, proof,
# time per call), once `colldsl run` can print it.
show() {
  echo "== colldsl verify $*"
  "$colldsl" verify "$@" --ranks 4 --bytes 65536
  echo "== colldsl run $*"
  "$colldsl" run "$@" "${size[@]}"
}
show "${neighbor_alltoall[@]}"
show "${bcast_hierarchical[@]}"
show "${allreduce[@]}"
