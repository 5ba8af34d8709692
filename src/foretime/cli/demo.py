"""`foretime demo`: the main job on the built-in world, from nothing to an answered question."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

import foretime as ft
from foretime.cli.options import LARGEST_SEED, MOST_COUNT
from foretime.cli.output import note, show
from foretime.cli.train import print_outcome

EVENTS = 20_000
SETTINGS = {
    "model.rank": 50,
    "evidence.epochs": 4,
    "training.epochs": 12,
    "training.valid_every": 4,
    "training.batch_size": 500,
}


def demo(
    folder: Annotated[Path, typer.Argument(help="Where the world and the run go.")] = Path("demo"),
    events: Annotated[
        int | None, typer.Option(help="How many events the world has.", show_default="20000", max=MOST_COUNT)
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Of the world and of the training.", show_default="0", max=LARGEST_SEED)
    ] = None,
) -> None:
    """Generate a world, train LCGE and rules on it, answer a question and say why. Once more: shows it again."""
    from foretime.cli.progress import TerminalProgress

    world, path = folder / "world", folder / "run"
    if (path / "config.toml").exists():
        _check_same(path, events, seed)
        what = "is shown again" if (path / "report.json").exists() else "resumes where it stopped"
        note(f"the run in {path} {what}; name another folder for a new one")
        run = ft.resume(path, callback=TerminalProgress())
    else:
        events, seed = EVENTS if events is None else events, seed or 0
        note(f"1. a world of {events:,} events in {world}")
        ft.generate_world(events, seed=seed).write(world)
        note(f"2. LCGE, grounded rules and a re-ranker are trained on it in {path}")
        settings = SETTINGS | {"training.seed": seed}
        run = ft.train(world, preset="balanced", settings=settings, folder=path, callback=TerminalProgress())
    note("3. what it reached, by a ranking against all entities")
    print_outcome(run)
    _ask(run)


def _check_same(path: Path, events: int | None, seed: int | None) -> None:
    """Raise `RunError` if a flag says something else than what the run was made with."""
    run = ft.open_run(path)
    facts, seed_used = len(run.graph.facts()), run.config.training.seed
    if events not in (None, facts) or seed not in (None, seed_used):
        raise ft.RunError(
            f"{path} was made with --events {facts} --seed {seed_used}; leave the flags out to see it again, "
            "or name another folder for a new one"
        )


def _ask(run: ft.Run) -> None:
    """Answer the question of a test fact whose answer the model sees only here, say why, and say what to try next."""
    subject, predicate, truth, time = next(run.graph.rows("test"))
    note(f"4. a question from test; the true answer is {truth}")
    answers = run.predict(subject=subject, predicate=predicate, time=time, top=5)
    show(answers.table(terms=False))
    note("5. why the first of them")
    typer.echo(answers[0].explain(top=2).to_text(2))
    other = truth if answers[0].name != truth else answers[1].name
    note("try next:")
    for command in (
        ("predict", run.path, "--subject", subject, "--predicate", predicate, "--time", time, "--why", "2"),
        ("explain", run.path, "--subject", subject, "--predicate", predicate, "--time", time, "--against", other),
        ("predict", run.path, "--subject", subject, "--object", truth, "--time", time),
        ("predict", run.path, "--subject", subject, "--predicate", predicate, "--object", truth),
        ("evaluate", run.path, "--split", "test"),
        ("data", "describe", run.path.parent / "world"),
        ("train", "YOUR_EVENTS.tsv"),
    ):
        note("  " + shlex.join(str(word) for word in ("foretime", *command)))
