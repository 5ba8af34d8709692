"""Fuzz every reader with atheris, guided by the branches of foretime's own modules that inputs reach.

    make check-fuzz                # about a minute
    make check-fuzz LONG=1         # at least 100,000 inputs; writes the figures

Any error but those of `foretime.errors`, an input that takes longer than `TIMEOUT` seconds, a row that is lost, and memory
that grows are failures, whose inputs are kept; then the exit code is 1. Each target has a process of its own, forked
from one that has loaded and instrumented everything.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import os
import pkgutil
import re
import shutil
import sys
import tempfile
import time
import tomllib
import warnings
from pathlib import Path
from typing import Any

import atheris

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
KERNELS = PROJECT["tool"]["mypy"]["overrides"][0]["module"]
"""The modules that numba compiles, which cannot be instrumented."""
with (
    contextlib.redirect_stderr(io.StringIO()),  # a line for every module
    atheris.instrument_imports(include=["foretime"], exclude=KERNELS, enable_loader_override=False),
):
    import foretime

    for info in pkgutil.walk_packages(foretime.__path__, "foretime."):
        if info.name.rpartition(".")[2] not in ("__main__", "worker"):
            importlib.import_module(info.name)
    import benchmarks.fuzz.api_target as api
    import benchmarks.fuzz.run_targets as runs
    from benchmarks.fuzz.data_targets import data_targets
    from benchmarks.fuzz.figures import figures, write_part
    from benchmarks.fuzz.import_targets import import_targets
    from benchmarks.fuzz.small_run import train_small_run
    from benchmarks.fuzz.target import Target
    from benchmarks.fuzz.text_targets import text_targets
    from benchmarks.fuzz.watch import Watch
    from foretime.runs.machine import machine

TIMEOUT = 20
GROWTH_AT_MOST_MB = 150
LONG_INPUTS, SHORT_INPUTS = 1_600, 50
"""Inputs of a target whose share is 1."""
LONG_SECONDS, SHORT_SECONDS = 1800.0, 1.0
"""How long a target may take, whatever its share."""
LONGEST = 4_096
MOST_MEMORY_MB = 4_096


def targets_of(folder: Path) -> list[Target]:
    """Return every target; those of runs are of a small run that is trained for them."""
    in_a_process(lambda: train_small_run(folder))
    shutil.copytree(folder / "run", folder / "other" / "run")
    run = folder / "run"
    return [
        *data_targets(),
        *import_targets(),
        *text_targets(),
        *runs.run_targets(run),
        api.api_target(run),
        api.event_target(folder / "other" / "run"),
    ]


def in_a_process(work: Any) -> int:
    """Do something in a process of its own, and return how that ended."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:  # the process ends here, whatever it was
            sys.excepthook(*sys.exc_info())
            os._exit(70)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def fuzz(target: Target, folder: Path, inputs: int, seconds: float, seed: int) -> dict[str, Any]:
    """Fuzz a target in a process of its own, and return what became of its inputs."""
    own = folder / re.sub(r"\W+", "-", target.name)
    seeds = own / "seeds"
    seeds.mkdir(parents=True)
    for number, content in enumerate(target.seeds):
        (seeds / str(number)).write_bytes(content)
    log = own / "log"
    longest = max(LONGEST, 2 * max(map(len, target.seeds)))
    words = [
        "fuzz", str(seeds), f"-max_len={longest}", f"-timeout={TIMEOUT}", f"-rss_limit_mb={MOST_MEMORY_MB}",
        f"-artifact_prefix={own}/", f"-seed={seed}",
    ]  # fmt: skip

    def work() -> None:
        with log.open("w", encoding="utf-8") as stream:
            os.dup2(stream.fileno(), 1)
            os.dup2(stream.fileno(), 2)
        warnings.simplefilter("ignore")
        atheris.Setup(words, Watch(target, own, inputs * target.share, seconds))
        atheris.Fuzz()

    code = in_a_process(work)
    said = log.read_text(encoding="utf-8", errors="replace")
    edges = [int(found) for found in re.findall(r" cov: (\d+)", said)]
    result = own / "found.json"
    if not result.exists():  # it crashed, hung, or took too much memory
        artifacts = [path.name for path in own.glob("*-*") if path.is_file()]
        return {
            "inputs": 0, "seconds": 0.0, "slowest_ms": 0, "resident_mb_before": 0, "resident_mb_after": 0,
            "failures": {f"the process ended with {code}": {"input": artifacts, "error": said[-4000:]}},
        }  # fmt: skip
    found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    grown = found["resident_mb_after"] - found["resident_mb_before"]
    if grown > GROWTH_AT_MOST_MB:
        found["failures"][f"memory grew by {grown} MB"] = {"input": None, "error": ""}
    return {"edges": max(edges, default=0), **found}


def main() -> None:
    """Fuzz, say what was found, and write the figures of a long run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true", help="at least 100,000 inputs in place of a few thousand")
    parser.add_argument(
        "--only", default="", help="only the targets whose names have this in them; others keep figures"
    )
    parser.add_argument("--inputs", type=int, help="inputs of a target whose share is 1")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where inputs that failed are kept (default: a temporary folder)")
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp(prefix="foretime-fuzz-"))
    shutil.rmtree(folder / "targets", ignore_errors=True)
    shutil.rmtree(folder / "made", ignore_errors=True)
    (folder / "made").mkdir(parents=True)
    inputs = given.inputs or (LONG_INPUTS if given.long else SHORT_INPUTS)
    found = figures().get("inputs", {}).get("targets", {}) if given.long and given.only else {}
    begun, total, failures = time.monotonic(), 0, 0
    for target in targets_of(folder / "made"):
        if given.only in target.name:
            seconds = LONG_SECONDS if given.long or given.inputs else SHORT_SECONDS
            found[target.name] = fuzz(target, folder / "targets", inputs, seconds, given.seed)
            say(target.name, found[target.name])
            failures = sum(len(one["failures"]) for one in found.values())
            total = sum(one["inputs"] for one in found.values())
            if given.long:  # after each: a fuzzing that is stopped has figures too
                about = {"machine": machine(), "total": total, "failures": failures}
                write_part("inputs", {**about, "targets": found})
    print(f"{total:,} inputs of {len(found)} targets in {time.monotonic() - begun:.0f} s: {failures} failures")
    if failures:
        print(f"the inputs are in {folder / 'targets'}")
        sys.exit(1)
    if given.folder is None:
        shutil.rmtree(folder)


def say(name: str, found: dict[str, Any]) -> None:
    """Print what became of a target."""
    counts = ", ".join(f"{found[word]:,} {word}" for word in ("read", "refused", "failed") if word in found)
    seconds = found.get("seconds", 0)
    print(f"{name}: {found['inputs']:,} inputs ({counts}), {found.get('edges', 0):,} edges, {seconds} s", flush=True)
    for key, failure in found["failures"].items():
        print(f"  {key}: {failure['input']}\n{failure['error']}", flush=True)


if __name__ == "__main__":
    main()
