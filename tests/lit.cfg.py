# How the lit tests run. A test is a *.coll or *.test file with RUN lines:
#
#   // RUN: %colldsl verify %s --ranks 1..8 | FileCheck %s
#   // CHECK: proved
#
# %colldsl   the program under test
# %source    the top of the source tree
# %build     the top of the build folder
# FileCheck  and `not` are LLVM's
#
# Files that tests read lie in folders called Inputs or examples. `REQUIRES: long` marks a test that
# runs only on request, `REQUIRES: openmpi`, `mpich` where colldsl is built for that MPI, `mpich-4.2` where that
# is one of these, which has faults of its own, `libfabric` with that, `preload` where
# its libraries can be loaded into any program, which needs a build without sanitizers.
import os
import re
import subprocess

import lit.formats

config.name = "colldsl"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".coll", ".test"]
config.excludes = ["Inputs", "examples"]
config.test_source_root = os.path.dirname(__file__)

config.environment["PATH"] = os.pathsep.join([config.llvm_tools, os.environ["PATH"]])
config.environment["COLLDSL_PROFILE"] = ""  # what the user tuned is none of the tests'
config.substitutions += [("%colldsl", config.colldsl), ("%source", config.source_dir), ("%build", config.build_dir)]
if "COLLDSL_TEST_LONG" in os.environ:
    config.available_features.add("long")
config.available_features.update(config.mpis)
if "mpich" in config.mpis:
    version = subprocess.run(["mpichversion"], capture_output=True, text=True).stdout
    if re.search(r"Version:\s*4\.2\.", version):
        config.available_features.add("mpich-4.2")
if config.libfabric == "1":
    config.available_features.add("libfabric")
if "-fsanitize" not in config.cxx_flags:
    config.available_features.add("preload")
for name in ("HOME", "XDG_CACHE_HOME", "COLLDSL_TEST_LONG", "ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
