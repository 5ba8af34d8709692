"""`foretime train`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import foretime as ft
from foretime.cli.evaluate import print_protocol
from foretime.cli.options import LARGEST_SEED, MOST_EPOCHS, MOST_JOBS, READING, Cluster, parse_settings, takes
from foretime.cli.output import note, say, show


@takes(READING)
def train(  # noqa: PLR0913, each is a flag
    graph: Annotated[
        str | None, typer.Argument(help="A folder of splits, a file, or a database; default: the configuration's.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The folder of the new run.")] = None,
    preset: Annotated[
        Literal["quick", "balanced", "best", "forecast"] | None,
        typer.Option(
            help="quick: rules and a re-ranker, minutes; balanced: LCGE, rules and a re-ranker; best: an ensemble of "
            "those, its re-ranker fitted out of fold; forecast: what comes next, from the past alone.",
            show_default="balanced",
        ),
    ] = None,
    forecast: Annotated[bool, typer.Option("--forecast", help="The preset forecast: what comes next.")] = False,
    config: Annotated[Path | None, typer.Option("--config", "-c", help="A configuration in TOML.")] = None,
    model: Annotated[
        str | None,
        typer.Option(help="A model alone, without a preset: lcge, tntcomplex, …; any other word lists them all."),
    ] = None,
    rank: Annotated[int | None, typer.Option(help="The size of the embeddings.", max=10_000)] = None,
    epochs: Annotated[
        int | None, typer.Option(help="Passes over the training events at most.", max=MOST_EPOCHS)
    ] = None,
    batch_size: Annotated[int | None, typer.Option(help="Questions in a step.", max=10_000_000)] = None,
    learning_rate: Annotated[float | None, typer.Option(help="The step size of the optimiser.", max=1e30)] = None,
    seed: Annotated[
        int | None, typer.Option(help="Of the initial weights and the order of questions.", max=LARGEST_SEED)
    ] = None,
    evidence: Annotated[
        bool | None,
        typer.Option("--evidence/--no-evidence", help="Score by grounded rules too, which explain answers."),
    ] = None,
    past_only: Annotated[
        bool, typer.Option("--past-only", help="Evidence only of events before the time asked about: forecasting.")
    ] = False,
    reranker: Annotated[
        bool | None, typer.Option("--reranker/--no-reranker", help="Re-rank the best candidates by boosted trees.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Any other setting: section.key=value; may be repeated.")
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Resume the run in this folder; with --epochs, continue to as many as that.")
    ] = None,
    warm_start: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN",
            help="Begin with the weights and settings of this run; without a graph, on its own graph with its updates.",
        ),
    ] = None,
    test: Annotated[bool, typer.Option(help="Rank test at the end, once; not while you are still choosing.")] = True,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=1, help="Trainings in parallel, where a run has several.", max=MOST_JOBS)
    ] = 1,
    cluster: Cluster = None,
    device: Annotated[
        str | None,
        typer.Option(
            metavar="auto|cpu|cuda|cuda:N|mps",
            help="Where the model is trained; default: CUDA, else MPS, else the CPU.",
        ),
    ] = None,
    tensorboard: Annotated[bool, typer.Option(help="Write TensorBoard scalars into the run folder.")] = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Train on a graph, resume an interrupted training, or continue a finished one to more epochs."""
    if forecast and preset not in (None, "forecast"):
        raise ft.ConfigError(f"--forecast is the preset forecast; leave out --preset {preset}")
    preset = "forecast" if forecast else preset
    if past_only and evidence is False:
        raise ft.ConfigError("--past-only is about evidence; leave out --no-evidence")
    named = {
        "model.rank": rank,
        "training.epochs": epochs,
        "training.batch_size": batch_size,
        "training.learning_rate": learning_rate,
        "training.seed": seed,
        "evidence.use": True if past_only else evidence,
        "evidence.past_only": True if past_only else None,
        "reranker.use": reranker,
        **{f"data.{key}": value for key, value in reading.items()},
    }
    given = {key: value for key, value in named.items() if value is not None} | parse_settings(settings or [])
    from foretime.cli.progress import TerminalProgress

    if resume is not None:
        other = graph is not None or any(value is not None for value in (out, config, model, preset, warm_start))
        if other or set(given) - {"training.epochs"}:
            raise ft.ConfigError(
                "--resume continues the run as it was configured; leave out the other settings, all but --epochs and "
                "--device"
            )
        run = ft.resume(
            resume, epochs=epochs, callback=TerminalProgress(), jobs=jobs, cluster=cluster, device=device, test=test,
            tensorboard=tensorboard,
        )  # fmt: skip
    else:
        run = ft.train(
            graph, preset=preset, model=model, config=config, settings=given, folder=out, warm_start=warm_start,
            callback=TerminalProgress(), jobs=jobs, cluster=cluster, device=device, test=test, tensorboard=tensorboard,
        )  # fmt: skip
    print_outcome(run)
    note(f"ask it: foretime predict {run.path} --subject … --predicate … --time …")


def print_outcome(run: ft.Run) -> None:
    """Print the figures of a finished run, and how they were made."""
    show(run.metrics)
    for evaluation in list(run.evaluations.values())[:1]:
        print_protocol(evaluation)
    say(run.summary)
