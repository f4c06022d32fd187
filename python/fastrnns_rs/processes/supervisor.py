"""Program of the supervisor, the parent of every command; see `run_command`.

It is started by path, without site-packages and without this package, so that it is ready within milliseconds.
"""

import importlib.machinery
import sys

if __name__ == "__main__":
    path = sys.argv[1]
    loader = importlib.machinery.ExtensionFileLoader("fastrnns_rs._core", path)
    module = loader.create_module(importlib.machinery.ModuleSpec("fastrnns_rs._core", loader, origin=path))
    loader.exec_module(module)
    module.keep()
