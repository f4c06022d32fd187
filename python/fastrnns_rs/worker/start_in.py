"""Runs a module of this package in a folder, for profilers in another folder.

Arguments: the folder, the module, and the arguments of the module.
"""

import os
import runpy
import sys

from fastrnns_rs.processes.worker_setting import OWN_TMPDIR

if __name__ == "__main__":
    own = os.environ.pop(OWN_TMPDIR, None)
    if own is not None:
        del os.environ["TMPDIR"]
    if own:
        os.environ["TMPDIR"] = own
    os.chdir(sys.argv.pop(1))
    runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
