"""`foretime evaluate`."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from foretime.errors import DataError


class SplitName(StrEnum):
    """The splits that can be evaluated."""

    train = "train"
    valid = "valid"
    test = "test"


class FilterChoice(StrEnum):
    """The filters of known answers."""

    exact = "exact"
    valid_at = "valid-at"
    points = "points"


def evaluate(
    run: Annotated[Path, typer.Argument(help="The folder of a run.", show_default=False)],
    split: Annotated[SplitName, typer.Option(help="Which facts to rank.")] = SplitName.test,
    filter_name: Annotated[
        FilterChoice | None, typer.Option("--filter", help="Which known answers do not count; default: the run's own.")
    ] = None,
    predicates: Annotated[int, typer.Option(help="How many of the most frequent predicates to list.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole report as JSON.")] = False,
) -> None:
    """Rank the facts of a split with the best weights of a run."""
    from foretime.cli import tables
    from foretime.inference.predictor import Predictor
    from foretime.runs.evaluation import evaluate_split
    from foretime.runs.folder import RunFolder

    folder = RunFolder.open(run)
    predictor = Predictor.open(folder)
    if len(predictor.graph.facts(split.value)) == 0:
        raise DataError(f"{run}: its graph has no {split.value} facts; choose another --split")
    chosen = filter_name.value if filter_name else folder.config().training.filter
    report = evaluate_split(predictor.scorer, predictor.graph, split.value, chosen, predictor.temperatures)
    if as_json:
        typer.echo(json.dumps(report, ensure_ascii=False, indent=2))
        return
    tables.print_reports({split.value: report})
    tables.print_details(report, predicates)
