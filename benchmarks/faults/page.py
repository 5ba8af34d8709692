"""The tables of `docs/robustness.md` about kills and damages, from the figures that the long check has written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.marks import DOCS, fill
from foretime.tables import Table

SHOWN = 160
"""Characters of a failure that the page shows."""
OUT = Path(__file__).parents[1] / "results" / "faults.json"


def write_page(page: Path = DOCS / "robustness.md") -> None:
    """Write the tables between their marks."""
    found = json.loads(OUT.read_text(encoding="utf-8"))
    blocks = {"kills": kill_lines, "mutations": mutation_lines}
    fill(page, {name: lines(found[name]) for name, lines in blocks.items() if name in found})


def kill_lines(kills: Mapping[str, Any]) -> list[str]:
    """Return what was killed and how disks failed."""
    count, errors = kills["kills"]["killed"], sum(kills["disk_errors"].values())
    return [
        f"{count:,} processes were killed, {kills['kills'].get('in a new interpreter', 0):,} of them begun anew and the "
        f"others forked, and {errors:,} calls failed as on a full or a broken disk. Not as if nothing had happened: "
        f"**{len(kills['failures']):,}**. Seeds {', '.join(map(str, kills['seeds']))}, "
        f"{kills['minutes']:.0f} minutes.",
        "",
        *_told(kills["failures"]),
        *_table({"what was going on": kills["by_phase"]}, "kills"),
        *_table({"where it was killed": kills["by_call"]}, "kills"),
        *_table({"what failed": kills["disk_errors"]}, "errors"),
    ]


def mutation_lines(found: Mapping[str, Any]) -> list[str]:
    """Return what was damaged, and what came out."""
    return [
        f"{found['mutations']:,} damages in {found['minutes']:.0f} minutes, each before one command. Crashes, hangs, tracebacks, messages without a place, and "
        f"other answers without a word: **{len(found['failures']):,}**.",
        "",
        *_told(found["failures"]),
        *_table({"what came out": found["outcomes"]}, "damages"),
        *_table({"command": found["by_command"]}, "damages"),
        *_table({"file": found["by_file"]}, "damages"),
        *_table({"damage": found["by_damage"]}, "damages"),
    ]


def _told(failures: list[str]) -> list[str]:
    """Return the first line of each failure, in a list."""
    return [*(f"- {failure.splitlines()[0][:SHOWN]}" for failure in failures), *([""] if failures else [])]


def _table(counts: Mapping[str, Mapping[str, int]], unit: str) -> list[str]:
    """Return a table of the only entry of `counts`, the most frequent first."""
    ((head, rows),) = counts.items()
    ordered = sorted(rows.items(), key=lambda row: -row[1])
    return [*Table.of([{head: name, unit: f"{count:,}"} for name, count in ordered]).to_markdown().splitlines(), ""]
