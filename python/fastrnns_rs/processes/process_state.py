"""State of this process that loaded code of others may change."""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress

from fastrnns_rs.errors import UsageError
from fastrnns_rs.processes.working_directory import working_directory_restored

#: Limits of the system by name, without the old name of one. That of core files changes no measurement.
_LIMITS = {
    name: getattr(resource, name)
    for name in dir(resource)
    if name.startswith("RLIMIT_") and name not in {"RLIMIT_CORE", "RLIMIT_OFILE"}
}
#: Held while state of the process is replaced: two threads would save and restore what the other has replaced.
_LOCK = threading.RLock()
#: Longest wait for it. Code that holds it may wait for another thread that wants it.
_PATIENCE_S = 60.0
#: A timer ends a process that has no handler for its signal.
_TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)


def _renew_lock() -> None:
    """Replaces the lock in a fork: the thread that held it does not exist there."""
    global _LOCK  # noqa: PLW0603
    _LOCK = threading.RLock()


os.register_at_fork(after_in_child=_renew_lock)


@contextmanager
def other_threads_waiting() -> Iterator[None]:
    """Lets one thread at a time run such a block; others wait for a minute at most."""
    lock = _LOCK
    is_held = lock.acquire(timeout=_PATIENCE_S)
    try:
        yield
    finally:
        if is_held:
            lock.release()


@contextmanager
def process_restored(code: str) -> Iterator[None]:
    """Restores what loaded code may change for others.

    These are working directory, umask, signals, timers, variables, arguments, limits, CPUs, priority and Python's
    recursion limit. Code of runners runs in processes of its own later. Here it would move the files that a command
    writes, let others write to them, keep the command from ending, or change how other runners are measured.

    Args:
        code: Code that the block loads, for the error.

    Raises:
        UsageError: If the code changed the priority or a limit, and the system does not let this process restore it.
            If the block fails, or is interrupted, its own error is raised.
    """
    with other_threads_waiting(), _restored(code):
        yield


@contextmanager
def _restored(code: str) -> Iterator[None]:
    caught = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
    handlers, blocked = {one: signal.getsignal(one) for one in caught}, signal.pthread_sigmask(signal.SIG_BLOCK, ())
    unset = [one for one in _TIMERS if signal.getitimer(one) == (0, 0)]
    variables, depth = dict(os.environ), sys.getrecursionlimit()
    arguments, limits = list(sys.argv), {one: resource.getrlimit(one) for one in _LIMITS.values()}
    cpus, priority = os.sched_getaffinity(0), os.getpriority(os.PRIO_PROCESS, 0)
    umask = os.umask(0o077)
    os.umask(umask)
    try:
        with working_directory_restored():
            yield
    finally:
        # First: without the code's handlers, they would end this process.
        for timer in unset:
            signal.setitimer(timer, 0)
        sys.setrecursionlimit(depth)
        # They are in the hint on how to go on.
        sys.argv = arguments
        os.umask(umask)
        _restore(variables)
        for one, handler in handlers.items():
            if handler is not None and signal.getsignal(one) is not handler:
                # Only the main thread sets handlers, so that code in another one has set none.
                with suppress(ValueError):
                    signal.signal(one, handler)
        # A signal that came meanwhile finds its own handler.
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        if os.sched_getaffinity(0) != cpus:
            # The container may have lost them meanwhile.
            with suppress(OSError):
                os.sched_setaffinity(0, cpus)
        lowered = _restore_limits(limits)
        now = _restore_priority(priority)
    if now != priority:
        message = f"{code} changed the priority of the process from {priority} to {now}, also for other runners"
        raise UsageError(message, "Set the priority of the whole command: nice -n 5 fastrnns-rs.")
    if lowered:
        message = f"{code} lowered limits of the process for good, also for other runners: {', '.join(lowered)}"
        raise UsageError(message, "Set the limits of the whole command: ulimit.")


def _restore_limits(before: Mapping[int, tuple[int, int]]) -> list[str]:
    """Restores the limits, and returns the names of those that stay lower."""
    lowered = []
    for name, one in _LIMITS.items():
        soft, hard = before[one]
        if resource.getrlimit(one) == (soft, hard):
            continue
        try:
            resource.setrlimit(one, (soft, hard))
        except (OSError, ValueError):
            # Most users may not raise a hard limit.
            lowered.append(name)
            left = resource.getrlimit(one)[1]
            fits = left == resource.RLIM_INFINITY or resource.RLIM_INFINITY != soft <= left
            with suppress(OSError, ValueError):
                resource.setrlimit(one, (soft if fits else left, left))
    return lowered


def _restore_priority(before: int) -> int:
    """Restores the priority, if the system permits it, and returns the priority."""
    if os.getpriority(os.PRIO_PROCESS, 0) != before:
        # Most users may only lower the priority.
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, before)
    return os.getpriority(os.PRIO_PROCESS, 0)


def _restore(variables: Mapping[str, str]) -> None:
    for name in os.environ.keys() - variables.keys():
        del os.environ[name]
    # A variable that has not changed may have a name that cannot be set.
    for name, value in variables.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


@contextmanager
def standard_output_elsewhere() -> Iterator[None]:
    """Redirects standard output to standard error in the block.

    Standard output is reserved for results: that of programs and of compiled code is redirected, too. Standard error is
    opened again if the block closes it.
    """
    with other_threads_waiting(), ExitStack() as stack:
        stack.callback(_open_standard_error)
        # Either stream may be closed.
        with suppress(OSError, ValueError):
            if sys.stdout is not None:
                sys.stdout.flush()
            before = os.dup(1)
            stack.callback(os.close, before)
            os.dup2(2, 1)
            stack.callback(os.dup2, before, 1)
            if sys.stdout is not None:
                stack.callback(sys.stdout.flush)
        stack.enter_context(redirect_stdout(sys.stderr))
        yield


def _open_standard_error() -> None:
    if sys.stderr is not None and sys.stderr.closed:
        # Its descriptor stays open.
        sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
