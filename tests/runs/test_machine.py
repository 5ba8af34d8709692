"""What a report says of the machine, and that everything can be imported on one without POSIX modules."""

import subprocess
import sys

from foretime.runs.machine import machine, peak_memory_mb

WITHOUT_POSIX = """
import importlib, pkgutil, sys
for name in ("fcntl", "resource", "termios"):
    sys.modules[name] = None  # as on Windows
for room in ("foretime.models", "foretime.reranker", "foretime.training", "foretime.runs"):
    package = importlib.import_module(room)
    for info in pkgutil.walk_packages(package.__path__, room + "."):
        importlib.import_module(info.name)
from foretime.runs.machine import peak_memory_mb
print(peak_memory_mb())
"""


def test_a_report_has_versions_threads_and_memory():
    assert {"foretime", "python", "torch", "threads", "processor"} == set(machine())
    assert 50 < peak_memory_mb() < 1_000_000


def test_training_can_be_imported_without_posix_modules():
    done = subprocess.run([sys.executable, "-c", WITHOUT_POSIX], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "None"), done.stderr
