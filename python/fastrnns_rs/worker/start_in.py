"""Runs a module of this package in a folder, for profilers in another folder.

Arguments: the folder, the module, and the arguments of the module.
"""

import os
import runpy
import sys

if __name__ == "__main__":
    os.chdir(sys.argv.pop(1))
    runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
