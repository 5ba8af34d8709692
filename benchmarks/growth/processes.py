"""One stage in a process of its own, which is stopped if it takes too much memory or too long."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

LOOKS_A_SECOND = 5


class Limits(NamedTuple):
    """The most that one stage of one size may take."""

    seconds: float
    memory_mb: float


def run_apart(arguments: list[str], limits: Limits) -> dict[str, Any]:
    """Return what `python -m benchmarks.growth …` prints, with its status: done, or why it failed."""
    command = [sys.executable, "-m", "benchmarks.growth", *arguments]
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        status = _watch(process, began, limits)
        out, err = process.communicate()
    if status is None and process.returncode == 0:
        return {**json.loads(out.splitlines()[-1]), "status": "done"}
    last = err.strip().splitlines()[-1:] or [f"ended with {process.returncode}"]
    return {"status": status or f"failed: {last[0][:200]}", "whole_seconds": None, "memory_mb": None}


def _watch(process: subprocess.Popen[str], began: float, limits: Limits) -> str | None:
    """Return why a process was stopped, nothing once it has ended by itself."""
    while process.poll() is None:
        if _held_mb(process.pid) > limits.memory_mb:
            process.kill()
            return f"stopped: more than {limits.memory_mb:,.0f} MB"
        if time.monotonic() - began > limits.seconds:
            process.kill()
            return f"stopped: longer than {limits.seconds:,.0f} s"
        time.sleep(1 / LOOKS_A_SECOND)
    return None


def _held_mb(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * 4096 / (1 << 20)
    except (OSError, IndexError):  # it has just ended
        return 0.0
