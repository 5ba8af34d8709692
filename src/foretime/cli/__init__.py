"""The command line: one module for each verb, each a thin layer over the library."""

from __future__ import annotations

import sys
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from foretime import __version__
from foretime.cli.bench import bench_app
from foretime.cli.bench_audit import audit
from foretime.cli.compare import compare
from foretime.cli.data import data_app
from foretime.cli.data_sources import get, world
from foretime.cli.demo import demo
from foretime.cli.evaluate import evaluate
from foretime.cli.explain import explain
from foretime.cli.mine import mine
from foretime.cli.predict import predict
from foretime.cli.rules import rules_app
from foretime.cli.rules_on_graphs import check, example, import_
from foretime.cli.serve import serve
from foretime.cli.train import train
from foretime.cli.tune import tune
from foretime.errors import ForetimeError, Interrupted
from foretime.runs.caller import report_fault

STOPPED = 130
"""The exit code of what Ctrl-C has stopped, as shells have it."""


class _Commands(TyperGroup):
    """Hands Ctrl-C on to `main`: each version of Typer makes something else of it."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            # whoever was stopped has noted how to go on
            raise Interrupted("; ".join(["stopped", *getattr(stop, "__notes__", [])])) from None


app = typer.Typer(
    name="foretime",
    cls=_Commands,
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
app.command()(tune)
app.command()(evaluate)
app.command()(compare)
app.command()(predict)
app.command()(explain)
app.command()(serve)
app.command()(demo)
app.command()(mine)
rules_app.command()(check)
rules_app.command()(example)
rules_app.command("import")(import_)
app.add_typer(rules_app, name="rules")
bench_app.command()(audit)
app.add_typer(bench_app, name="bench")


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
    """Run the command line; a user's error is printed without a traceback and exits with 2, Ctrl-C with 130."""
    try:
        app()
    except Interrupted as stopped:
        typer.echo(stopped, err=True)
        sys.exit(STOPPED)
    except ForetimeError as error:
        _fail(str(error))
    except BrokenPipeError:
        # the reader of our output, such as head, has seen enough
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        # a full disk, a folder that may not be written
        place = f"{error.filename}: " if error.filename else ""
        _fail(f"{place}{error.strerror or error}")
    except Exception as error:
        report_fault(f"{type(error).__name__}: {error}")
        raise


def _fail(text: str) -> NoReturn:
    report_fault(text)
    typer.echo(f"error: {text}", err=True)
    sys.exit(2)
