#!/usr/bin/env bash
# Installs what is missing, builds colldsl and runs its tests.
set -euo pipefail
cd "$(dirname "$0")"

usage() {
  cat <<'TXT'
usage: ./test.sh [--long] [--asan | --tsan] [CTEST OPTION...]

  --long   also the tests that take minutes
  --asan   in a build of its own with the address and undefined behavior sanitizers
  --tsan   in a build of its own with the thread sanitizer

Whatever else is given goes to ctest: ./test.sh -R topology
TXT
}

preset=release
timeout=120
exclude=(-LE '^long$')
ctest_options=()
while [ $# -gt 0 ]; do
  case $1 in
    --long) exclude=() timeout=3600 COLLDSL_TEST_LONG=1; export COLLDSL_TEST_LONG ;;
    --asan | --tsan) preset=${1#--} ;;
    -h | --help) usage; exit 0 ;;
    *) ctest_options+=("$1") ;;
  esac
  shift
done
if [ "$preset" != release ]; then
  timeout=$((timeout * 5))
  ulimit -s 65536 || true # frames of instrumented code are several times as large
  export ASAN_OPTIONS=allocator_may_return_null=1 TSAN_OPTIONS=allocator_may_return_null=1
fi
build=build/$preset
jobs=$(nproc)

scripts/install-packages
echo "== configure $build"
cmake --preset "$preset" --log-level=NOTICE >/dev/null
echo "== build"
cmake --build --preset "$preset" -j "$jobs"
echo "== test"
status=0
# One more than cores, as some tests wait.
ctest --test-dir "$build" -j $((jobs + 1)) --timeout "$timeout" --output-on-failure --no-tests=error \
  --output-junit report.xml "${exclude[@]}" "${ctest_options[@]}" || status=$?
python3 scripts/summarize-tests "$build/report.xml"
exit $status
