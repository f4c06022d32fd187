"""Plants a fault in each worker whose PYTHONPATH has this folder: the probe looks at the first device in any case."""

import sys

if "fastrnns_rs.worker" in sys.orig_argv:
    from fastrnns_rs.worker.jobs import probe

    device_problem = probe.device_problem
    probe.device_problem = lambda _device: device_problem("cuda:0")
