"""What became of the inputs of one target: outcomes, failures, the slowest input, and memory before and after."""

from __future__ import annotations

import json
import os
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.fuzz.target import Target
from foretime.errors import ForetimeError

WARM = 0.25
"""The share of the inputs after which memory is measured first: until then modules and caches are loaded."""


class Watch:
    """Gives inputs to a target until there were enough, or there is no time left; then the process ends."""

    def __init__(self, target: Target, folder: Path, inputs: int, seconds: float) -> None:
        self._target, self._folder, self._inputs, self._seconds = target, folder, inputs, seconds
        self._begun, self._count, self._slowest = time.monotonic(), 0, 0.0
        self._outcomes: Counter[str] = Counter()
        self._failures: dict[str, dict[str, Any]] = {}
        self._before = 0.0
        self._place = folder / "place"
        self._place.mkdir()

    def __call__(self, content: bytes) -> None:
        """Give one input to the target."""
        begun = time.monotonic()
        self._outcomes[self._outcome(content)] += 1
        now = time.monotonic()
        self._slowest = max(self._slowest, now - begun)
        self._count += 1
        done = max(self._count / self._inputs, (now - self._begun) / self._seconds)
        if self._count == 1:  # which has loaded what the reader needs
            self._begun = now
        if not self._before and done >= WARM:
            self._before = resident_megabytes()
        if done >= 1:
            self._finish()

    def _outcome(self, content: bytes) -> str:
        try:
            self._target.read(content, self._place)
        except ForetimeError:
            return "refused"
        except Exception as error:  # each is what fuzzing looks for
            self._keep(error, content)
            return "failed"
        return "read"

    def _keep(self, error: Exception, content: bytes) -> None:
        """Keep the first input of each failure: its kind, and where it was raised."""
        frame = traceback.extract_tb(error.__traceback__)[-1]
        key = f"{type(error).__name__} {Path(frame.filename).name}:{frame.lineno}"
        found = self._failures.setdefault(key, {"times": 0})
        found["times"] += 1
        if found["times"] == 1:
            file = self._folder.parent / f"{self._folder.name}-{len(self._failures)}.input"
            file.write_bytes(content)
            found |= {"input": file.name, "error": "".join(traceback.format_exception(error))[-4000:]}

    def _finish(self) -> None:
        found = {
            "inputs": self._count,
            **dict(sorted(self._outcomes.items())),
            "seconds": round(time.monotonic() - self._begun, 1),
            "slowest_ms": round(1000 * self._slowest),
            "resident_mb_before": round(self._before),
            "resident_mb_after": round(resident_megabytes()),
            "failures": self._failures,
        }
        (self._folder / "found.json").write_text(json.dumps(found), encoding="utf-8")
        os._exit(0)  # libFuzzer has no way of ending that lets anything else be done


def resident_megabytes() -> float:
    """Return how much memory this process holds."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
