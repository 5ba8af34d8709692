"""`foretime demo`: the main job on the built-in world, from nothing to an answered question."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

EVENTS = 20_000
SETTINGS = {
    "model.name": "lcge",
    "model.rank": 50,
    "evidence.use": True,
    "evidence.epochs": 4,
    "reranker.use": True,
    "training.epochs": 12,
    "training.valid_every": 4,
    "training.batch_size": 500,
}


def demo(
    folder: Annotated[Path, typer.Argument(help="Where the world and the run go.")] = Path("demo"),
    events: Annotated[int | None, typer.Option(help="How many events the world has.", show_default="20000")] = None,
    seed: Annotated[int | None, typer.Option(help="Of the world and of the training.", show_default="0")] = None,
) -> None:
    """Generate a world, train LCGE and rules on it, answer a question and say why. Once more: shows it again."""
    from foretime.cli.progress import TerminalProgress
    from foretime.cli.tables import error_console
    from foretime.cli.train import print_outcome
    from foretime.config import Config, override
    from foretime.data.graph import read_graph
    from foretime.data.synthetic import generate_world
    from foretime.runs.folder import RunFolder
    from foretime.runs.life import create_run, resume

    world, run = folder / "world", folder / "run"
    if (run / "config.toml").exists():
        _check_same(run, events, seed)
        what = "is shown again" if (run / "report.json").exists() else "goes on where it stopped"
        error_console.print(f"the run in {run} {what}; name another folder for a new one", markup=False)
    else:
        events, seed = EVENTS if events is None else events, seed or 0
        config = override(Config(), {**SETTINGS, "training.seed": seed, "data.path": str(world)})
        error_console.print(f"1. a world of {events:,} events in {world}", markup=False)
        generate_world(events=events, seed=seed).write(world)
        error_console.print(f"2. LCGE and grounded rules are trained on it in {run}", markup=False)
        create_run(read_graph(world, config.data), config, run)
    finished = resume(run, TerminalProgress()) if not (run / "report.json").exists() else RunFolder.open(run)
    error_console.print("3. what it reached, by a ranking against all entities")
    print_outcome(finished)
    _ask(run)


def _check_same(run: Path, events: int | None, seed: int | None) -> None:
    """Raise `RunError` if a flag says something else than what the run was made with."""
    from foretime.errors import RunError
    from foretime.runs.folder import RunFolder

    folder = RunFolder.open(run)
    facts, seed_used = len(folder.graph().facts()), folder.config().training.seed
    if events not in (None, facts) or seed not in (None, seed_used):
        raise RunError(
            f"{run} was made with --events {facts} --seed {seed_used}; leave the flags out to see it again, "
            "or name another folder for a new one"
        )


def _ask(run: Path) -> None:
    """Answer the question of a test fact whose answer the model sees only here, say why, and say what to try next."""
    from foretime.cli.tables import error_console, print_answers
    from foretime.inference.explainer import Explainer

    explainer = Explainer.open(run)
    predictor = explainer.predictor
    graph = predictor.graph
    subject, predicate, time = (
        graph.entities.name(int(graph.test.subject[0])),
        graph.predicates.name(int(graph.test.predicate[0])),
        graph.timeline.label(int(graph.test.start[0])),
    )
    truth = graph.entities.name(int(graph.test.object[0]))
    error_console.print(f"4. a question from test; the true answer is {truth}", markup=False, soft_wrap=True)
    answers = predictor.complete(subject=subject, predicate=predicate, time=time, top=5)
    print_answers(f"({subject}, {predicate}, ?, {time})", answers)
    error_console.print("5. why the first of them", markup=False)
    why = explainer.explain(subject=subject, predicate=predicate, object=answers[0].name, time=time, top=2)
    typer.echo(why.to_text(2))
    competitor = truth if answers[0].name != truth else answers[1].name
    error_console.print("try next:")
    for command in (
        ("predict", run, "--subject", subject, "--predicate", predicate, "--time", time, "--why", "2"),
        ("explain", run, "--subject", subject, "--predicate", predicate, "--time", time, "--against", competitor),
        ("predict", run, "--subject", subject, "--object", truth, "--time", time),
        ("predict", run, "--subject", subject, "--predicate", predicate, "--object", truth),
        ("evaluate", run, "--split", "test"),
        ("data", "describe", run.parent / "world"),
        ("train", "YOUR_EVENTS.tsv", "--out", "runs/mine"),
    ):
        line = shlex.join(str(part) for part in ("foretime", *command))
        error_console.print(f"  {line}", markup=False, soft_wrap=True)
