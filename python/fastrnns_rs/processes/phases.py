"""Phases that a worker reports, in order."""

IMPORT = "import"
BUILD = "build"
#: Compiling with an empty cache, and again with the files that the first left there: each has a time limit.
COMPILE = "compile"
COMPILE_AGAIN = "compile again"
#: The first iteration, then all others.
WARM_UP = "warm-up"
MEASURE = "measure"
#: Waiting for the workers of other ranks.
WAIT = "wait"
