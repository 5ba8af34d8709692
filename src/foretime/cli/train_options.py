"""The flags of `foretime train`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Graph = Annotated[
    str | None, typer.Argument(help="A folder of splits or a file of events; default: the configuration's.")
]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="The folder of the new run.")]
ConfigFile = Annotated[Path | None, typer.Option("--config", "-c", help="A configuration in TOML.")]
ModelName = Annotated[
    str | None,
    typer.Option(help="Its name, such as tntcomplex or rules; any other word lists them all.", show_default="lcge"),
]
Rank = Annotated[int | None, typer.Option(help="The size of the embeddings.")]
Epochs = Annotated[int | None, typer.Option(help="Passes over the training events at the most.")]
BatchSize = Annotated[int | None, typer.Option(help="Questions in a step.")]
LearningRate = Annotated[float | None, typer.Option(help="The step size of the optimiser.")]
Seed = Annotated[int | None, typer.Option(help="Of the initial weights and the order of questions.")]
Evidence = Annotated[
    bool | None,
    typer.Option(
        "--evidence/--no-evidence", help="Score by grounded rules too, which explain answers.", show_default=False
    ),
]
PastOnly = Annotated[
    bool, typer.Option("--past-only", help="Evidence of events before the time asked about only: forecasting.")
]
Reranker = Annotated[
    bool | None,
    typer.Option("--reranker/--no-reranker", help="Re-order the best by a second stage.", show_default=False),
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="Any other setting: section.key=value, again and again.")
]
Resume = Annotated[
    Path | None, typer.Option(help="Go on with the run in this folder; with --epochs, to as many as that.")
]
Test = Annotated[bool, typer.Option(help="Rank test at the end, once; not while you are still choosing.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, help="Trainings side by side, where a run has several.")]
TensorBoard = Annotated[bool, typer.Option(help="Write TensorBoard scalars into the run folder.")]
