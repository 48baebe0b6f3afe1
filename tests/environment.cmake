# Read by ctest before it runs tests. The profile of the machine, which the user may have tuned, is
# none of theirs.
set(ENV{COLLDSL_PROFILE} /nonexistent)
