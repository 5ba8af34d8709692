"""The tables of `docs/november.md`, made of the figures that the walk through November has written.

python -m benchmarks.november_page
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.marks import DOCS, fill

RESULT = Path(__file__).parent / "results" / "november.json"
PAGE, TEMPLATE = DOCS / "november.md", Path(__file__).with_name("november.md")
"""The page, and what it is made of the first time."""
RANKINGS = {
    "updated": "updated every evening",
    "not updated": "never updated, asked every morning",
    "said on 1 November": "never updated, all 30 days said on 1 November",
    "recency": "recency, updated",
    "frequency": "frequency, updated",
}
RULE = "| --- |"


def main() -> None:
    """Write the page anew."""
    write_page(json.loads(RESULT.read_text(encoding="utf-8")))


def write_page(found: dict[str, Any]) -> None:
    """Replace every block of the page by what was found."""
    if not PAGE.exists():
        shutil.copyfile(TEMPLATE, PAGE)
    fill(PAGE, dict(blocks(found)))


def blocks(found: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the lines of every block."""
    for day, told in found["told"].items():
        yield f"morning of {day}", morning_lines(told)
        yield f"evening of {day}", evening_lines(day, told)
    yield "month", month_lines(found["days"])
    yield "brier", error_lines(found["days"])
    yield "reliability", reliability_lines(found["reliability"])
    yield "days", day_lines(found["days"])
    yield "cost", cost_lines(found)


def morning_lines(told: dict[str, Any]) -> list[str]:
    """Return what the commands of a morning printed."""
    commands = {"whole graph": "--days 1 --top 20", "Iran": "--subject Iran --days 1 --top 5 --why 1"}
    printed = [
        [f"$ foretime forecast living {flags}", *(line.rstrip() for line in told[scope].splitlines())]
        for scope, flags in commands.items()
    ]
    return ["```", *(line for lines in printed for line in lines), "```"]


def evening_lines(day: str, told: dict[str, Any]) -> list[str]:
    """Return what was let in, which of the first twenty came, and where the rest was."""
    came, right = told["came"], told["came"]["first"]["whole graph"]
    rows = [
        f"| {event['rank']} | {event['subject']} | {event['predicate']} | {event['object']} | {event['probability']:.0%} "
        f"| {'**yes**' if true else 'no'} |"
        for event, true in zip(told["events"], right, strict=True)
    ]
    said = sum(event["probability"] for event in told["events"])
    own = came["first"]["Iran"][:5]
    return [
        "```", f"$ foretime update living november/{day}.csv", *told["update"].splitlines(), "```", "",
        "| | subject | predicate | object | said | came |", "| ---: | --- | --- | --- | ---: | --- |", *rows, "",
        f"{sum(right)} of the 20 came; the probabilities had said {said:.1f}. Of the five of Iran, {sum(own)} came. The "
        f"day had {came['all']:,} different events. {came['listed']:,} of them were on the list as a whole, "
        f"{came['below 1 %']:,} of these with less than 1 %; the other {came['all'] - came['listed']:,} were not on it.",
    ]  # fmt: skip


def month_lines(days: list[dict[str, Any]]) -> list[str]:
    """Return the mean precision of every ranking, for the whole graph and for one subject."""
    scopes = {
        scope: [f"@{top}" for top in tops] for scope, tops in (("whole graph", (10, 20, 100)), ("Iran", (10, 20)))
    }
    heads = [f"{scope}, {top}" for scope, tops in scopes.items() for top in tops]
    lines = [f"| mean precision of {len(days)} days | " + " | ".join(heads) + " |", RULE + " ---: |" * len(heads)]
    for name, words in RANKINGS.items():
        cells = [
            float(np.mean([day["precision"][scope][name][top] for day in days]))
            for scope, tops in scopes.items()
            for top in tops
        ]
        lines.append(f"| {words} | " + " | ".join(f"{one:.3f}" for one in cells) + " |")
    return lines


def error_lines(days: list[dict[str, Any]]) -> list[str]:
    """Return the squared errors of all probabilities of a day, as means over the days and of its halves."""
    half = len(days) // 2
    parts = {"1–15 November": days[:half], "16–30 November": days[half:], "the month": days}
    lines = ["| squared errors of a day | " + " | ".join(parts) + " |", RULE + " ---: |" * len(parts)]
    for name in [name for name, found in days[0]["precision"]["whole graph"].items() if "squared errors" in found]:
        means = [
            np.mean([day["precision"]["whole graph"][name]["squared errors"] for day in part])
            for part in parts.values()
        ]
        lines.append(f"| {RANKINGS[name]} | " + " | ".join(f"{mean:.1f}" for mean in means) + " |")
    return lines


def reliability_lines(found: dict[str, Any]) -> list[str]:
    """Return what was said against what came, updated and not, over the whole month."""
    tables = {
        name: {row["from"]: row for row in found[f"{name}, whole graph"]["table"]}
        for name in ("updated", "not updated")
    }
    edges = sorted({edge for table in tables.values() for edge in table})
    lines = [
        "| said at least | " + " | ".join(f"events, {name} | said | came" for name in tables) + " |",
        RULE + " ---: |" * 6,
    ]
    for edge in edges:
        cells = [_bin(table.get(edge)) for table in tables.values()]
        lines.append(f"| {edge:.0%} | " + " | ".join(cells) + " |")
    return lines


def _bin(row: dict[str, Any] | None) -> str:
    return "– | – | –" if row is None else f"{row['events']:,} | {row['said']:.1%} | {row['came']:.1%}"


def day_lines(days: list[dict[str, Any]]) -> list[str]:
    """Return one line for each day."""
    lines = [
        "| day | events | never seen before | new names | @20 updated | @20 not updated | @20 recency | @20 frequency |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for day in days:
        whole = day["precision"]["whole graph"]
        cells = [f"{whole[name]['@20']:.2f}" for name in ("updated", "not updated", "recency", "frequency")]
        when = f"{date.fromisoformat(day['day']):%a} {day['day']}"
        names = day["new_entities"] + day["new_predicates"]
        lines.append(f"| {when} | {day['events']} | {day['new']} | {names} | " + " | ".join(cells) + " |")
    return lines


def cost_lines(found: dict[str, Any]) -> list[str]:
    """Return how long updates, answers and forecasts took."""
    days = [day for day in found["days"] if day["by"] == "python"]
    steps = {
        "an update": "update", "the first answer after it": "answer",
        "the first forecast of the morning, whole graph": "forecast, whole graph", "the next, of Iran": "forecast, Iran",
    }  # fmt: skip
    lines = ["| seconds of the processor | median | longest |", "| --- | ---: | ---: |"]
    for words, name in steps.items():
        taken = [day["seconds"][name]["processor"] for day in days]
        lines.append(f"| {words} | {np.median(taken):.2f} | {max(taken):.2f} |")
    entities, predicates = (sum(day[name] for day in found["days"]) for name in ("new_entities", "new_predicates"))
    return [
        *lines, "",
        f"In all, {sum(day['events'] for day in found['days']):,} events came, {sum(day['new'] for day in found['days']):,} of "
        f"them never seen before, with {entities:,} new entities and {predicates:,} new predicates. Seconds are those of the "
        f"processor, because other work shared the machine (load {found['load']}).",
    ]  # fmt: skip


if __name__ == "__main__":
    main()
