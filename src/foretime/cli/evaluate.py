"""`foretime evaluate`."""

from __future__ import annotations

from typing import Annotated

import typer

import foretime as ft
from foretime.cli.options import AsJson, Filter, RunPath, SplitName
from foretime.cli.output import print_json, say, show


def evaluate(
    run: RunPath,
    split: Annotated[SplitName, typer.Option(help="Which facts to rank.")] = SplitName.test,
    filter_name: Filter = None,
    predicates: Annotated[int, typer.Option(help="How many of the most frequent predicates to list.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Rank the facts of a split with the best weights of a run."""
    found = ft.open_run(run).evaluate(split.value, filter=filter_name and filter_name.value)
    if as_json:
        print_json(found.to_dict())
        return
    show(found.table())
    show(found.by_group(predicates))
    show(found.by_distance())
    for line in found.notes:
        say(line)
