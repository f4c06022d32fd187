"""Phases that a worker reports, in order."""

IMPORT = "import"
BUILD = "build"
#: Compiling with an empty cache, and again with the files that the first left there: each has a time limit.
COMPILE = "compile"
COMPILE_AGAIN = "compile again"
MEASURE = "measure"
#: Waiting for the workers of other ranks.
WAIT = "wait"
