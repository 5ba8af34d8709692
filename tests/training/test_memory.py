"""Memory is kept while a training goes on, and given back after it."""

import ctypes
import platform
import subprocess
import sys

import pytest

from foretime.training import memory

IN_A_LOOP = """
import resource, numpy
from foretime.training.memory import memory_kept

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        numpy.zeros(40_000_000, dtype=numpy.int8).fill(1)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

def resident():
    return int(open("/proc/self/statm").read().split()[1])

numpy.ones(40_000_000, dtype=numpy.int8)
usual = faults()
with memory_kept():
    faults()
    kept, full = faults(), resident()
print(usual, kept, full - resident(), faults())
"""


class Library:
    """Stands for a C library, and remembers what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[int, ...]] = []

    def mallopt(self, parameter: int, value: int) -> int:
        self.told.append((parameter, value))
        return 1

    def malloc_trim(self, pad: int) -> int:
        self.told.append((pad,))
        return 1


def test_what_was_changed_is_put_back_also_after_an_error(monkeypatch):
    library = Library()
    monkeypatch.setattr(memory, "_glibc", lambda: library)
    context = memory.memory_kept()
    context.__enter__()
    assert library.told == list(memory.KEPT.items())
    assert not context.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert library.told == [*memory.KEPT.items(), *memory.USUAL.items(), (0,)]
    assert set(memory.KEPT) <= set(memory.USUAL)


def test_nothing_happens_without_glibc(monkeypatch):
    monkeypatch.setattr(platform, "libc_ver", lambda: ("", ""))
    monkeypatch.setattr(ctypes, "CDLL", None)  # not even looked for
    with memory.memory_kept():
        assert memory._glibc() is None


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc alone gives large blocks back at once")
def test_blocks_are_not_taken_anew_for_every_step():
    found = subprocess.run([sys.executable, "-c", IN_A_LOOP], capture_output=True, text=True, check=True)
    usual, kept, given_back, after = map(int, found.stdout.split())
    assert usual > 20 * kept
    assert given_back > 0.9 * 40_000_000 / 4096
    assert after > 20 * kept
