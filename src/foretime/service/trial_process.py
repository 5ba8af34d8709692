"""The process that tries a run: opens it, asks it an example question for each slot, and says how it went.

python -m foretime.service.trial_process NAME FOLDER SECONDS BYTES [DEVICE]
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import platform
import sys
from pathlib import Path

REFUSED, TOO_LARGE = 3, 4
"""Exit codes: the run cannot be served; it takes more memory than it may. Any other code than 0 is a crash."""


def main() -> None:
    """Try the run that the arguments name, and end the process."""
    name, path, seconds, most, *device = sys.argv[1:]
    faulthandler.enable()
    # a thread that needs no lock of Python: whatever hangs, the process ends and says where it was
    faulthandler.dump_traceback_later(float(seconds), exit=True)
    code = outcome(name, Path(path), int(most), *device)
    sys.stderr.flush()
    os._exit(code)  # at once: what was loaded may not be able to end


def outcome(name: str, path: Path, most: int, device: str | None = None) -> int:
    """Return 0 if a run answers within so many bytes of memory, or else an exit code, and say what is wrong."""
    try:
        from foretime.service.served import ServedRun

        limit_memory(most)
        for ask in ServedRun(name, path, device).warm_ups():
            ask()
    except BaseException as error:  # a folder may hold anything
        from foretime.errors import ForetimeError

        sys.stderr.write(str(error) if isinstance(error, ForetimeError) else repr(error))
        return TOO_LARGE if wants_memory(error) else REFUSED
    return 0


def limit_memory(most: int) -> None:
    """Let this process take so many bytes beside those that it has, where the system can; with 0 any number."""
    with contextlib.suppress(OSError):  # if memory gets scarce, this process is the first to go
        Path("/proc/self/oom_score_adj").write_text("1000")
    if most:
        with contextlib.suppress(ImportError, ValueError, OSError):  # Windows has no limits, and others not these
            import resource

            # on Linux what is written to, and not what is only mapped; elsewhere only addresses are counted
            limit = resource.RLIMIT_DATA if platform.system() == "Linux" else resource.RLIMIT_AS
            resource.setrlimit(limit, (most + memory_in_use(),) * 2)


def memory_in_use() -> int:
    """Return how many bytes this process has for its own data; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0


def wants_memory(error: BaseException | None) -> bool:
    """Return whether an error, or one that led to it, is that of memory that could not be had."""
    while error is not None:
        if isinstance(error, MemoryError) or "allocate memory" in str(error):
            return True
        error = error.__context__
    return False


if __name__ == "__main__":
    main()
