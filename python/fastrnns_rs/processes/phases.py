"""Phases that a worker reports, in order."""

IMPORT = "import"
BUILD = "build"
#: Compiling with an empty cache, and again with the files that the first left there: each has a time limit.
COMPILE = "compile"
COMPILE_AGAIN = "compile again"
#: The first iteration, then all others.
WARM_UP = "warm-up"
MEASURE = "measure"
#: Waiting for the next turn of a live pair; also the word that gives it.
TURN = "turn"
#: Word that ends a loop of turns.
END = "end"
#: Waiting for the workers of other ranks.
WAIT = "wait"
