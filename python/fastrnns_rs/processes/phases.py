"""What a worker reports that it does, in the order in which it does it."""

IMPORT = "import"
BUILD = "build"
#: Compiling with nothing in the cache, and once more with what that left there: each has a limit of its time.
COMPILE = "compile"
COMPILE_AGAIN = "compile again"
MEASURE = "measure"
#: For the workers of other ranks.
WAIT = "wait"
