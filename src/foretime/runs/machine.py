"""The machine: what the figures of a report were made with (versions, threads, memory), and the memory that is free."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

import foretime


def machine() -> dict[str, Any]:
    """Return the versions, the threads and the processor of this process."""
    return {
        "foretime": foretime.__version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "processor": platform.machine(),
    }


def peak_memory_mb() -> float | None:
    """Return the most memory that this process or one of its children has held so far; None where unknown (Windows)."""
    try:
        import resource
    except ImportError:
        return None
    peak = max(resource.getrusage(whose).ru_maxrss for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return round(peak / (1024 * 1024 if sys.platform == "darwin" else 1024), 1)


def available_memory(root: Path = Path("/")) -> int | None:
    """Return the bytes that this process may still take, as far as the system says; None where it says nothing.

    It is the least of what is free in the machine, with its swap, and of what the limits of control groups and of the
    process leave. `root` is where `proc` and `sys` lie.
    """
    return min((found for found in _bounds(root) if found is not None), default=None)


def _bounds(root: Path) -> Iterator[int | None]:
    free = _table(root / "proc/meminfo")
    if "MemAvailable" in free:
        yield 1024 * (free["MemAvailable"] + free.get("SwapFree", 0))
    else:
        with suppress(AttributeError, ValueError, OSError):  # the whole memory is more than what is free
            yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if not controllers:
            yield from _left(root / "sys/fs/cgroup", path, "memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            yield from _left(root / "sys/fs/cgroup/memory", path, *names)
    yield _left_of_process(root)


def _left(mount: Path, path: str, limit: str, usage: str, cached: str) -> Iterator[int | None]:
    """Yield what a control group and those above it leave; files that are only cached can be dropped."""
    group = mount / path.strip("/")
    for folder in (group, *group.parents):
        most, used = _number(folder / limit), _number(folder / usage)
        if most is not None and used is not None:
            yield max(0, most - used + _table(folder / "memory.stat").get(cached, 0))
        if folder == mount:
            return


def _left_of_process(root: Path) -> int | None:
    """Return what the limit on addresses leaves; None without one."""
    try:
        import resource
    except ImportError:
        return None
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    pages = next(iter(_lines(root / "proc/self/statm")), "0").split()[0]
    return None if most == resource.RLIM_INFINITY else max(0, most - int(pages) * resource.getpagesize())


def _table(file: Path) -> dict[str, int]:
    """Return the numbers in a file of lines such as `MemAvailable:   123 kB`."""
    words = (line.replace(":", " ").split() for line in _lines(file))
    return {found[0]: int(found[1]) for found in words if len(found) > 1 and found[1].isdecimal()}


def _number(file: Path) -> int | None:
    word = next(iter(_lines(file)), "").strip()
    return int(word) if word.isdecimal() else None


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
