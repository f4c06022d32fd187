"""Command `fastrnns-rs`, also available as `python -m fastrnns_rs`."""

import os
import signal
import sys


def main() -> None:
    """Runs the command; reports a file that hides a module of the command."""
    try:
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
    try:
        run()
    except KeyboardInterrupt:
        # A second signal came while the first was handled.
        sys.exit(130)
    finally:
        # Python prints a traceback of a signal that comes while it ends. It may wait for a thread of a runner file.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if callable(signal.getsignal(number)):
                signal.signal(number, lambda *_, leave=os._exit: leave(130))


def _leave_working_directory() -> None:
    """Removes the working directory from the import path, where `python -m` puts it first."""
    ours = os.path.realpath(os.path.join(__file__, "..", ".."))  # noqa: PTH118  # pathlib may be hidden
    if not sys.flags.safe_path and sys.path[0] and os.path.realpath(sys.path[0]) != ours:
        del sys.path[0]


if __name__ == "__main__":
    _leave_working_directory()
    main()
