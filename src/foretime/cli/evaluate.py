"""`foretime evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.progress import Progress

import foretime as ft
from foretime.cli.options import LARGEST_SEED, MOST_COUNT, AsJson, Device, Filter, RunPath, SplitName
from foretime.cli.output import error_console, note, print_json, say, show


def evaluate(  # noqa: PLR0913, each is a flag
    run: RunPath,
    split: Annotated[SplitName, typer.Option(help="Which facts to rank.")] = "test",
    filter_name: Filter = None,
    protocol: Annotated[
        Literal["completion", "single-step", "multi-step"] | None,
        typer.Option(
            help="What a forecast may see: every event before its time (single-step), or those of earlier splits "
            "(multi-step); default: that of the run.",
            show_default=False,
        ),
    ] = None,
    predicates: Annotated[
        int, typer.Option(help="How many of the most frequent predicates to list.", max=MOST_COUNT)
    ] = 10,
    plot: Annotated[Path | None, typer.Option(help="Where a reliability plot goes (.svg, .png).")] = None,
    rankings: Annotated[
        Path | None, typer.Option(help="Write every ranking to this text file, for other evaluators.")
    ] = None,
    rankings_top: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="With --rankings: so many candidates each, 0 for all; default: down to the true answer and its ties.",
            show_default=False,
            max=MOST_COUNT,
        ),
    ] = None,
    explanations: Annotated[
        bool, typer.Option("--explanations", help="Measure the explanations of answers instead.")
    ] = False,
    questions: Annotated[
        int, typer.Option(help="With --explanations: how many questions.", min=2, max=MOST_COUNT)
    ] = 200,
    seed: Annotated[
        int, typer.Option(help="With --explanations: the seed that draws them.", min=0, max=LARGEST_SEED)
    ] = 0,
    planted: Annotated[
        Path | None, typer.Option(help="With --explanations: the planted_events.jsonl of the run's world.")
    ] = None,
    save: Annotated[
        bool, typer.Option("--save", help="With --explanations: keep it in the run as explanations.json.")
    ] = False,
    device: Device = None,
    as_json: AsJson = False,
) -> None:
    """Rank the facts of a split with the best weights of a run, or measure its explanations."""
    if explanations:
        asked: dict[str, Any] = {"split": split, "questions": questions, "seed": seed, "planted": planted}
        measure_explanations(ft.open_run(run, device=device), asked, save, as_json)
        return
    if plot is not None:
        ft.Evaluation.check_plot_file(plot)  # ranking takes its time: not after it
    opened = ft.open_run(run, device=device)
    found = opened.evaluate(split, filter=filter_name, protocol=protocol)
    if plot is not None:
        found.plot_reliability(plot)
        note(f"reliability plot written to {plot}")
    if rankings is not None:
        opened.write_rankings(rankings, split, filter=filter_name, protocol=protocol, candidates=rankings_top)
        note(f"rankings written to {rankings}, the facts beside them to {rankings}.facts.tsv")
    if as_json:
        print_json(found.to_dict())
        return
    show(ft.metrics_table({split: found}))
    print_protocol(found)
    for table in (found.table(), found.by_predicate.head(predicates), found.by_distance, found.by_horizon):
        if len(table):
            show(table)
    print_slots(found)
    if found.optimistic_mrr != found.pessimistic_mrr:
        say(f"ties: MRR is {found.pessimistic_mrr:.4f} if they are lost, {found.optimistic_mrr:.4f} if won")


def measure_explanations(opened: ft.Run, asked: dict[str, Any], save: bool, as_json: bool) -> None:
    """Print how good the explanations of a run are, and keep it in the run if asked to."""
    with Progress(console=error_console, transient=True) as bar:
        task = bar.add_task("explaining", total=None)

        def tell(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        found = opened.measure_explanations(**asked, progress=tell)
    if save:
        note(f"kept in {found.save(opened.path)}")
    if as_json:
        print_json(found.to_dict())
        return
    show(found.table())
    say("hidden or kept: the events of the k strongest reasons; beside them as many events of the subject,")
    say("at random and nearest in time, and the same of others, which no reason names (all it has, if too few)")
    say("necessity, sufficiency, contrast and size: of questions answered right")


def print_protocol(evaluation: ft.Evaluation) -> None:
    """Say how the figures of an evaluation were made."""
    say(f"ranked among all entities, both directions, other known answers filtered out ({evaluation.filter})")
    if evaluation.is_forecast:
        say(f"{evaluation.protocol}: {evaluation.protocol_meaning}")
    ece = "; ECE: the expected calibration error of objects" if evaluation.calibration_error else ""
    say(f"95 %: the interval of the MRR{ece}")


def print_slots(evaluation: ft.Evaluation) -> None:
    """Print each slot beside counting, and how far its probabilities can be believed."""
    if not evaluation.slots:
        return
    show(evaluation.by_slot)
    say("by slot, beside counting in train; ±k: the best time is off by k steps at most")
    if evaluation.slots["time"].model.overlap:
        say("gIoU, aeIoU: how well the likeliest interval covers the true one, where both of its ends are known")
    show(evaluation.calibration)
    say("kind: the nearest event in train of subject and best answer; where the time is asked for, how many there are")
    say("by chance: what the ECE would be if every probability were exact")
