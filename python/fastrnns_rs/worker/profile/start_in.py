"""Runs the command in a folder, which is the first argument.

The profiler that starts this process is in another folder.
"""

import os
import runpy
import sys

if __name__ == "__main__":
    os.chdir(sys.argv.pop(1))
    runpy.run_module("fastrnns_rs", run_name="__main__", alter_sys=True)
