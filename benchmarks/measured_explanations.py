"""The tables of `docs/measured_explanations.md`, from what `foretime evaluate --explanations --json` has printed.

foretime evaluate runs/world-quick --explanations --json > benchmarks/results/measured_explanations_world.json
python -m benchmarks.measured_explanations
"""

from __future__ import annotations

import argparse
import json
from math import isfinite
from pathlib import Path

from foretime.evaluation.explanations import ExplanationMeasures

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[1] / "docs" / "measured_explanations.md"
MARKS = "<!-- explanations:begin -->", "<!-- explanations:end -->"
CONTROLS = {
    "random": "random events",
    "nearest": "the nearest in time",
    "random others": "random events that no reason names",
    "nearest others": "the nearest in time that no reason names",
}


def main() -> None:
    """Write the page with new tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), measured()), encoding="utf-8")


def measured() -> list[ExplanationMeasures]:
    """Return what was measured of each run that has a file, by the name of the file."""
    files = sorted(RESULTS.glob("measured_explanations_*.json"))
    return [ExplanationMeasures.from_dict(json.loads(path.read_text(encoding="utf-8"))) for path in files]


def with_tables(page: str, found: list[ExplanationMeasures]) -> str:
    """Return the page with the tables of some runs between its marks."""
    before, rest = page.split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    return before + "\n".join([MARKS[0], "", *(line for one in found for line in section(one)), MARKS[1]]) + after


def section(found: ExplanationMeasures) -> list[str]:
    """Return the heading, the table and the ratios of one run."""
    asked = found.settings
    return [
        f"### {asked['graph']}",
        "",
        f"`{asked['run']}`, {asked['questions']:,} questions of {asked['split']}, seed {asked['seed']}.",
        "",
        *found.table().to_markdown().strip().splitlines(),
        "",
        *ratios(found),
    ]


def ratios(found: ExplanationMeasures) -> list[str]:
    """Return in words how much more the reasons' events matter than others, without three reasons."""
    times = {words: found.ratio(3, events) for events, words in CONTROLS.items()}  # type: ignore[arg-type]
    shown = [
        f"{ratio:.1f} times as far as without {words}" for words, ratio in times.items() if ratio and isfinite(ratio)
    ]
    unmoved = [words for words, ratio in times.items() if ratio is not None and not isfinite(ratio)]
    said = [f"Without the events of three reasons H@1 falls {_listed(shown)}."] if shown else []
    said += [f"Without {_listed(unmoved, 'or')} it does not fall at all."] if unmoved else []
    return [" ".join(said), ""] if said else []


def _listed(texts: list[str], word: str = "and") -> str:
    *first, last = texts
    return f"{', '.join(first)} {word} {last}" if first else last


if __name__ == "__main__":
    main()
