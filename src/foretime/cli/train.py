"""`foretime train`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from foretime.cli import train_options as flags
from foretime.cli.reading_options import Columns, Delimiter, Granularity, Header, Irregular, Names, reading_settings
from foretime.errors import ConfigError

if TYPE_CHECKING:
    from foretime.config import Config
    from foretime.runs.folder import RunFolder


def train(  # noqa: PLR0913, each is a flag
    graph: flags.Graph = None,
    out: flags.Out = None,
    config: flags.ConfigFile = None,
    model: flags.ModelName = None,
    rank: flags.Rank = None,
    epochs: flags.Epochs = None,
    batch_size: flags.BatchSize = None,
    learning_rate: flags.LearningRate = None,
    seed: flags.Seed = None,
    evidence: flags.Evidence = None,
    past_only: flags.PastOnly = False,
    reranker: flags.Reranker = None,
    settings: flags.Settings = None,
    columns: Columns = None,
    header: Header = None,
    delimiter: Delimiter = None,
    granularity: Granularity = None,
    irregular: Irregular = False,
    names: Names = None,
    resume: flags.Resume = None,
    test: flags.Test = True,
    jobs: flags.Jobs = 1,
    tensorboard: flags.TensorBoard = False,
) -> None:
    """Train a model on a graph, or go on with an interrupted training, or with a finished one to more epochs."""
    if past_only and evidence is False:
        raise ConfigError("--past-only is about evidence; leave out --no-evidence")
    changes: dict[str, Any] = {
        "model.name": model,
        "model.rank": rank,
        "training.epochs": epochs,
        "training.batch_size": batch_size,
        "training.learning_rate": learning_rate,
        "training.seed": seed,
        "evidence.use": True if past_only else evidence,
        "evidence.past_only": True if past_only else None,
        "reranker.use": reranker,
    }
    given = {key: value for key, value in changes.items() if value is not None}
    given |= reading_settings(columns, header, delimiter, granularity, irregular, names)
    if resume is not None:
        other = graph is not None or out is not None or config is not None or bool(settings)
        folder = _reopen(resume, epochs, other or bool(set(given) - {"training.epochs"}))
    else:
        folder = _create(_configure(graph, config, given, settings or []), out)
    _finish(folder, test, tensorboard, jobs)


def _reopen(folder: Path, epochs: int | None, with_other_settings: bool) -> Path:
    """Return the folder of a run that is to go on, to as many epochs as that if they are given."""
    if with_other_settings:
        raise ConfigError(
            "--resume goes on with the run as it was configured; leave out the other settings, all but --epochs"
        )
    if epochs is not None:
        from foretime.runs.life import continue_run

        continue_run(folder, epochs)
    return folder


def _configure(graph: str | None, config: Path | None, given: dict[str, Any], settings: list[str]) -> Config:
    from foretime.config import Config, parse_settings, read_config
    from foretime.training.settings import changed_config

    base = read_config(config) if config is not None else Config()
    changes = given | parse_settings(settings) | ({"data.path": graph} if graph else {})
    final = changed_config(base, changes)
    if not final.data.path:
        raise ConfigError("name a graph: foretime train FOLDER_OR_FILE, or data.path in the configuration")
    return final


def _create(config: Config, out: Path | None) -> Path:
    """Return the folder of a new run, its graph read."""
    from foretime.cli.progress import TerminalProgress
    from foretime.cli.tables import error_console
    from foretime.data.graph import read_graph
    from foretime.data.summary import describe
    from foretime.runs.folder import RunFolder
    from foretime.runs.life import create_run
    from foretime.training.precision import precision_warning
    from foretime.training.settings import complete_config

    complete_config(config)  # a wrong setting should not wait for the graph to be read
    folder = out or default_folder(config)
    RunFolder.check_free(folder)
    graph = read_graph(config.data.path, config.data)
    error_console.print(
        f"{graph.name}: {len(graph.train):,} training facts, {len(graph.entities):,} entities, "
        f"{len(graph.predicates):,} predicates, {len(graph.timeline):,} time steps",
        markup=False,
        soft_wrap=True,
    )
    for warning in filter(None, [*describe(graph).warnings(), precision_warning(config.training)]):
        error_console.print(f"warning: {warning}", markup=False, soft_wrap=True)
    create_run(graph, config, folder, TerminalProgress())
    error_console.print(f"training {config.model.name} in {folder}", markup=False, soft_wrap=True)
    return folder


def default_folder(config: Config) -> Path:
    """Return the first free folder runs/DATA-MODEL, runs/DATA-MODEL-2, …"""
    name = Path(config.data.path).resolve().name.split(".")[0] or "graph"
    base = Path("runs") / f"{name}-{config.model.name}"
    folder, number = base, 1
    while folder.exists():
        number += 1
        folder = base.with_name(f"{base.name}-{number}")
    return folder


def _finish(folder: Path, with_test: bool, tensorboard: bool, jobs: int) -> None:
    """Train to the end and print what was reached and what to do next."""
    from foretime.cli.progress import TerminalProgress
    from foretime.cli.tables import error_console
    from foretime.runs.folder import RunFolder
    from foretime.runs.life import resume
    from foretime.training.callbacks import Callbacks, TensorBoard

    RunFolder.open(folder)  # TensorBoard would make a folder that is not there
    callbacks = [TerminalProgress(), *([TensorBoard(folder)] if tensorboard else [])]
    run = resume(folder, Callbacks(callbacks), with_test, jobs)
    print_outcome(run)
    asking = f"ask it: foretime predict {folder} --subject … --predicate … --time …"
    error_console.print(asking, markup=False, soft_wrap=True)


def print_outcome(run: RunFolder) -> None:
    """Print the report of a finished run."""
    from foretime.cli.tables import console, print_reports

    report = run.report()
    print_reports({split: report[split] for split in ("valid", "test") if split in report})
    console.print(
        f"{report['model']} on {report['data']}: best epoch {report['best_epoch']} of {report['epochs']}, "
        f"{report['training_seconds']:.0f} s, {report['parameters']:,} parameters; {report['test_note']}",
        markup=False,
        soft_wrap=True,
    )
