# Calls colldsl_compile() with the words of ARGUMENTS.
include(${MODULE})
colldsl_compile(mine ${ARGUMENTS})
