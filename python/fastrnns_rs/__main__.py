"""Command `fastrnns-rs`, also available as `python -m fastrnns_rs`."""

# Only modules that Python has loaded by now: with `python -m`, any other may be a file in the working directory.
import os
import sys
import time

#: Seconds that threads of runner files and plug-ins have to end after the command.
_PATIENCE_S = 5.0
#: Time of one wait for them, in seconds.
_GLANCE_S = 0.1


def main() -> None:
    """Runs the command; reports a file that hides a module of the command."""
    try:
        import signal

        from fastrnns_rs.cli import main as run
    except KeyboardInterrupt:
        # The exit code of a command that is interrupted later. There is nothing to report yet.
        sys.exit(130)
    except Exception as error:
        from fastrnns_rs.hidden_modules import explained

        explanation = explained(error)
        if explanation is None:
            raise
        print(f"error: {explanation[0]}\nhint: {explanation[1]}", file=sys.stderr)  # noqa: T201  # nothing else can be imported
        sys.exit(2)
    code = 1
    try:
        run()
    except KeyboardInterrupt:
        # A second signal came while the first was handled.
        code = 130
        sys.exit(code)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
        raise
    finally:
        # Python prints a traceback of a signal that comes while it ends.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            if callable(signal.getsignal(number)):
                signal.signal(number, lambda *_, leave=os._exit: leave(130))
        _leave_threads(code)


def _leave_threads(code: int) -> None:
    """Exits with a code if threads of runner files or plug-ins do not end. Python would wait for them without end.

    Results have been written by then, and no thread of the command is left.
    """
    import atexit
    import threading

    others = [one for one in threading.enumerate() if not one.daemon and one is not threading.current_thread()]
    until = time.monotonic() + _PATIENCE_S
    for one in others:
        while one.is_alive() and (left_s := until - time.monotonic()) > 0:
            # A signal that comes just before the wait is handled after it.
            one.join(min(left_s, _GLANCE_S))
    left = [one.name for one in others if one.is_alive()]
    if not left:
        return
    try:
        print(f"note: ended beside a thread of a runner file or plug-in: {left[0]!a}", file=sys.stderr)  # noqa: T201
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
        # Temporary folders are removed.
        atexit._run_exitfuncs()  # noqa: SLF001  # there is no other way to call them
    finally:
        os._exit(code)


def _leave_working_directory() -> None:
    """Removes the working directory from the import path, where `python -m` puts it first."""
    ours = os.path.realpath(os.path.join(__file__, "..", ".."))  # noqa: PTH118  # pathlib may be hidden
    if not sys.flags.safe_path and sys.path[0] and os.path.realpath(sys.path[0]) != ours:
        del sys.path[0]


if __name__ == "__main__":
    _leave_working_directory()
    main()
