"""Time and memory of every stage on worlds of many sizes, and how fast they grow.

    python -m benchmarks.growth --events 10000 100000 1000000 --entities 1000 10000 100000

Stages: read, mine, index (of the evidence), train (all epochs of the preset), rerank (features and trees of one fold), rank
(calibrates on valid and ranks it), answer, explain. Each stage of each size is a process of its own, which is stopped
at the limits: then the row says so, and the later stages of that size that need it fail by themselves. Every stage is
run on a tiny world first, so that no time of compiling is measured. Seconds are the processor's.

A sample of the facts is trained on against the evidence of all of them: `seconds` is what the sample took, and
`whole_seconds` that of all questions that the preset asks in its epochs, in proportion. A size that is in the file already, measured with the same code,
settings and machine, is not measured again.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.growth.processes import Limits, run_apart
from benchmarks.growth.slopes import slopes

TINY = (2_000, 200)
ASKED = 250
NEEDS_A_RUN = ("rerank", "rank", "answer", "explain")
ORDER = ("read", "mine", "index", "train", *NEEDS_A_RUN)


def main() -> None:
    """Measure one stage in this process, or all stages of all sizes in others."""
    given = _parser().parse_args()
    if given.stage:
        print(json.dumps(_one(given)))
        return
    from foretime.files import write_json

    found = _all(given)
    write_json(given.out, found)
    for row in found["slopes"]:
        seconds, memory = row["whole_seconds"], row["own_mb"]
        at = ", ".join(f"{key} {row[key]:,}" for key in ("events", "entities") if key in row)
        print(
            f"{row['stage']:8} over {row['over']:8} {row['from']:>9,} to {row['to']:>9,} ({at}): "
            f"time {seconds['all']:5.2f} (last {seconds['last']:5.2f}), memory {memory['all']:5.2f}"
        )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--entities", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--stages", nargs="+", choices=ORDER, default=ORDER)
    parser.add_argument("--train-facts", type=int, default=2_000, help="facts of the sample that training is timed on")
    parser.add_argument(
        "--rerank-facts",
        type=int,
        default=1_000,
        help="facts that the re-ranker is fitted on, if a hundredth is not more",
    )
    parser.add_argument("--seconds", type=float, default=900.0, help="the limit of one stage of one size")
    parser.add_argument("--memory-mb", type=float, default=12_000.0, help="the limit of one stage of one size")
    parser.add_argument("--again", action="store_true", help="measure also what is in the file already")
    parser.add_argument("--scratch", type=Path, default=Path("runs/growth"), help="where worlds and runs are kept")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/growth.json"))
    parser.add_argument("--stage", choices=("world", *ORDER), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    return parser


def _one(given: argparse.Namespace) -> dict[str, Any]:
    """Return what one stage of one size costs, in this process; or make its world."""
    if given.stage == "world":
        from benchmarks.growth.worlds import write_world

        write_world(
            given.folder / "world", given.events[0], given.entities[0], ASKED if given.events[0] > TINY[0] else 50
        )
        return {}
    from benchmarks.growth.stages import Sample, measure

    sample = Sample(given.train_facts, given.rerank_facts)
    measure(given.stage, given.scratch / "tiny", sample)
    return measure(given.stage, given.folder, sample)


def _all(given: argparse.Namespace) -> dict[str, Any]:
    """Return the rows of all sizes with their slopes; the file is written after each stage."""
    from foretime.files import write_json

    setting = _setting(given)
    rows = _kept(given, setting)
    _prepare_tiny(given)
    for events in given.events:
        for entities in given.entities:
            if entities > events:
                continue
            for row in _size(given, events, entities, {_key(row) for row in rows}):
                rows.append(row)
                write_json(given.out, {"setting": setting, "rows": rows, "slopes": slopes(rows)})
                print(_line(row), file=sys.stderr)
    return {"setting": setting, "rows": rows, "slopes": slopes(rows)}


def _size(given: argparse.Namespace, events: int, entities: int, known: set[tuple[Any, ...]]) -> Any:
    """Yield the row of each stage of one size that is not known yet."""
    folder = given.scratch / f"{events}-{entities}"
    left = [stage for stage in given.stages if (events, entities, stage) not in known]
    if left and not (folder / "world" / "test.tsv").exists():
        _apart(given, "world", folder, ["--events", str(events), "--entities", str(entities)])
    if not (folder / "run" / "best.safetensors").exists() and set(left) & set(NEEDS_A_RUN) and "train" not in left:
        _apart(given, "train", folder)
    for stage in left:
        yield {"events": events, "entities": entities, "stage": stage, **_apart(given, stage, folder)}


def _prepare_tiny(given: argparse.Namespace) -> None:
    """Make the tiny world and, if a stage needs one, its run: on them every process warms up."""
    folder = given.scratch / "tiny"
    if not (folder / "world" / "test.tsv").exists():
        _apart(given, "world", folder, ["--events", str(TINY[0]), "--entities", str(TINY[1])])
    if set(given.stages) & set(NEEDS_A_RUN) and not (folder / "run" / "report.json").exists():
        for stage in ORDER[ORDER.index("train") :]:
            made = _apart(given, stage, folder)
            if made["status"] != "done":
                sys.exit(f"the tiny world: {stage}: {made['status']}")


def _apart(given: argparse.Namespace, stage: str, folder: Path, more: list[str] | None = None) -> dict[str, Any]:
    sample = ["--train-facts", str(given.train_facts), "--rerank-facts", str(given.rerank_facts)]
    where = ["--folder", str(folder), "--scratch", str(given.scratch)]
    return run_apart(["--stage", stage, *where, *sample, *(more or [])], Limits(given.seconds, given.memory_mb))


def _setting(given: argparse.Namespace) -> dict[str, Any]:
    """Return what must be the same for two measures to stand in one table."""
    import hashlib

    import foretime
    from foretime.runs.machine import machine

    code = hashlib.sha256()
    for file in sorted(Path(foretime.__file__).parent.rglob("*.py")):
        code.update(file.read_bytes())
    sample = {"train_facts": given.train_facts, "rerank_facts": given.rerank_facts, "asked": ASKED}
    return {"code": code.hexdigest()[:16], "machine": machine(), **sample}


def _kept(given: argparse.Namespace, setting: dict[str, Any]) -> list[dict[str, Any]]:
    from foretime.files import read_json

    if given.again or not given.out.exists():
        return []
    found = read_json(given.out)
    return list(found["rows"]) if found.get("setting") == setting else []


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["events"], row["entities"], row["stage"]


def _line(row: dict[str, Any]) -> str:
    size = f"{row['events']:>10,} events {row['entities']:>9,} entities {row['stage']:8}"
    if row["status"] != "done":
        return f"{size} {row['status']}"
    return f"{size} {row['whole_seconds']:9.2f} s {row['memory_mb']:8,.0f} MB"


if __name__ == "__main__":
    main()
