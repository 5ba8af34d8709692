"""The figures of fuzzing: the file that they are kept in, and the part of `docs/robustness.md` that shows them.

python -m benchmarks.fuzz.figures   # writes that part again from the file
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.marks import DOCS, fill
from foretime.files import write_json

FILE = Path(__file__).parents[1] / "results" / "fuzz.json"


def write_part(part: str, found: dict[str, Any]) -> None:
    """Write one part of the figures, and the page; the other part stays."""
    write_json(FILE, figures() | {part: found})
    write_page()


def figures() -> dict[str, Any]:
    """Return the figures that the file has; none if it is not there."""
    return dict(json.loads(FILE.read_text(encoding="utf-8"))) if FILE.exists() else {}


def write_page(page: Path = DOCS / "robustness.md") -> None:
    """Write what the file has between the marks of the page."""
    found = figures()
    parts = {"inputs": _inputs, "requests": _requests}
    fill(page, {"fuzz": [line for name, lines in parts.items() if name in found for line in [*lines(found[name]), ""]]})


def _inputs(found: dict[str, Any]) -> list[str]:
    targets = found["targets"]
    seconds = sum(one["seconds"] for one in targets.values())
    slowest = max(one["slowest_ms"] for one in targets.values())
    grown = max(one["resident_mb_after"] - one["resident_mb_before"] for one in targets.values())
    lines = [
        "### Fuzzed inputs",
        "",
        f"`make check-fuzz LONG=1` gave {found['total']:,} inputs to {len(targets)} readers in {seconds / 60:.0f} minutes. "
        "[atheris](https://github.com/google/atheris) changes samples so that they reach new branches of foretime's own "
        "modules; edges are the branches that were reached. A reader may read an input or refuse it with an error of "
        f"foretime; anything else is a failure: another error, a row that is lost, more than 20 seconds. There were "
        f"{found['failures']}. The slowest input took {slowest / 1000:.1f} s; no reader held more than {grown} MB more at "
        "its end than after a quarter of its inputs.",
        "",
        "| reader | inputs | read | refused | failed | edges | s | slowest, ms | MB before | MB after |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, one in targets.items():
        counts = " | ".join(f"{one.get(word, 0):,}" for word in ("inputs", "read", "refused", "failed", "edges"))
        lines.append(
            f"| {name} | {counts} | {one['seconds']:.0f} | {one['slowest_ms']:,} | {one['resident_mb_before']} "
            f"| {one['resident_mb_after']} |"
        )
    return lines


def _requests(found: dict[str, Any]) -> list[str]:
    total = sum(one["requests"] for one in found.values())
    faults = sum(len(one["faults"]) for one in found.values())
    plain = sum(one["plain_questions"] for one in found.values())
    memory = "; ".join(
        f"{name}, {one['resident_mb_before']} MB after a tenth of the requests and {one['resident_mb_after']} MB at the end"
        for name, one in found.items()
    )
    lines = [
        "### Hostile requests",
        "",
        f"The same command sent {total:,} requests to `foretime serve`, which had a token for most of them: heads and bodies "
        "that are malformed, huge, nested, cut off, slow or contradictory, wrong methods, tokens and paths, and questions "
        f"with extreme values. A 5xx other than 503, an answer without the token, another answer to the plain question that "
        f"was asked {plain:,} times in between, a traceback in the log, or more than 64 MB more memory would be a fault. "
        f"There were {faults}. The service held: {memory}.",
        "",
    ]
    kinds: dict[str, Counter[str]] = {}
    for one in found.values():
        for kind, statuses in one["statuses"].items():
            kinds.setdefault(kind, Counter()).update(statuses)
    every = sorted({status for counts in kinds.values() for status in counts}, key=int)
    lines.append("| kind | " + " | ".join("none" if status == "0" else status for status in every) + " |")
    lines.append("| --- |" + " --- |" * len(every))
    for kind, counts in kinds.items():
        lines.append(f"| {kind.replace('_', ' ')} | " + " | ".join(f"{counts[status]:,}" for status in every) + " |")
    return [*lines, "", "Statuses of answers, by kind of request; none: the connection was closed without an answer."]


if __name__ == "__main__":
    write_page()
