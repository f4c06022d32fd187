"""Runs the command in a folder: `python -m fastrnns_rs.worker.profile.start_in FOLDER ARGUMENT...`.

The profiler that starts this process is in another folder.
"""

import os
import sys

from fastrnns_rs.__main__ import main

if __name__ == "__main__":
    os.chdir(sys.argv.pop(1))
    main()
