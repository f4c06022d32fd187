"""The steps of the check in the order in which they run. The tests have the time that is left."""

from gpu_check.items import Step
from gpu_check.steps import acceptance, captures, comparison, device, gpu_tests, kernels, verification

STEPS = (
    Step(name="device", title="Device and software", needs_device=False, run=device.run),
    Step(name="comparison", title="Structure: real and emulated device", run=comparison.run),
    Step(name="kernels", title="Triton kernels", run=kernels.run),
    Step(name="captures", title="Captures", run=captures.run),
    Step(name="verification", title="Values of all runners", run=verification.run),
    Step(name="acceptance", title="Acceptance table", run=acceptance.run),
    Step(name="tests", title="Tests marked gpu", run=gpu_tests.run),
)
