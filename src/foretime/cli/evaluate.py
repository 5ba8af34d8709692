"""`foretime evaluate`."""

from __future__ import annotations

from typing import Annotated

import typer

import foretime as ft
from foretime.cli.options import AsJson, Filter, RunPath, SplitName
from foretime.cli.output import print_json, say, show


def evaluate(
    run: RunPath,
    split: Annotated[SplitName, typer.Option(help="Which facts to rank.")] = "test",
    filter_name: Filter = None,
    predicates: Annotated[int, typer.Option(help="How many of the most frequent predicates to list.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Rank the facts of a split with the best weights of a run."""
    found = ft.open_run(run).evaluate(split, filter=filter_name)
    if as_json:
        print_json(found.to_dict())
        return
    show(ft.metrics_table({split: found}))
    print_protocol(found)
    for table in (found.table(), found.by_predicate.head(predicates), found.by_distance):
        if len(table):
            show(table)
    if found.optimistic_mrr != found.pessimistic_mrr:
        say(f"ties: MRR is {found.pessimistic_mrr:.4f} if they are lost, {found.optimistic_mrr:.4f} if won")


def print_protocol(evaluation: ft.Evaluation) -> None:
    """Say how the figures of an evaluation were made."""
    say(f"ranked among all entities, both directions, other known answers filtered out ({evaluation.filter})")
    ece = "; ECE: the expected calibration error of objects" if evaluation.calibration_error else ""
    say(f"95 %: the interval of the MRR{ece}")
