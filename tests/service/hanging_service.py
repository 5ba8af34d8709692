"""A service whose questions hang, for the tests of what then ends it: run as a program.

    python hanging_service.py RUN HOW DEADLINE GRACE GIVE_UP

HOW says what hangs: `lane`, without keeping other threads from running; `frozen`, with the lock of Python held; `loop`,
the thread of the connections itself. Times that are constants of the service are short here.
"""

import ctypes
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from foretime.service import app, lanes, server, watchdog
from foretime.service.served import ServedRun
from foretime.service.settings import Settings

HANGS: dict[str, Callable[[], object]] = {
    "lane": lambda: ctypes.CDLL(None).sleep(100_000),
    "frozen": lambda: ctypes.PyDLL(None).sleep(100_000),
    "loop": lambda: time.sleep(100_000),
}


def main() -> None:
    run, how, deadline, grace, give_up = sys.argv[1:]

    def hang(*given: Any, **named: Any) -> None:
        HANGS[how]()

    async def hang_in_loop(*given: Any, **named: Any) -> None:
        HANGS[how]()

    if how == "loop":
        app.Service._keep_looking = hang_in_loop  # type: ignore[method-assign]
    else:
        ServedRun.predict_many = hang  # type: ignore[assignment, method-assign]
    lanes.SECONDS_TO_END = 0.2
    server.SECONDS_TO_FINISH = 1
    watchdog.SECONDS_TO_STOP = 6.0
    watchdog.SECONDS_FROZEN = 15.0
    settings = Settings(
        port=0, load_seconds=0, deadline=float(deadline), grace=float(grace), give_up=float(give_up), look_again=0.2
    )
    server.listen_and_serve([Path(run)], settings, say, say)


def say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
