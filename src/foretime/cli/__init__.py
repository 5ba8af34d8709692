"""The command line: one module for each verb, each a thin layer over the library."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from foretime import __version__
from foretime.cli.data import data_app
from foretime.cli.data_sources import get, world
from foretime.cli.demo import demo
from foretime.cli.evaluate import evaluate
from foretime.cli.predict import predict
from foretime.cli.train import train
from foretime.errors import ForetimeError

app = typer.Typer(
    name="foretime",
    help="Complete a temporal knowledge graph and see why.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    add_completion=False,
)
data_app.command()(get)
data_app.command()(world)
app.add_typer(data_app, name="data")
app.command()(train)
app.command()(evaluate)
app.command()(predict)
app.command()(demo)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"foretime {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None: ...


def main() -> None:
    """Run the command line; a user's error is printed without a traceback and exits with 2."""
    try:
        app()
    except ForetimeError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        # the reader of our output, such as head, has seen enough
        sys.stderr.close()
        sys.exit(0)
