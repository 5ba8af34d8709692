"""The command line: one module for each verb, each a thin layer over the library."""

from __future__ import annotations

import sys
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

import foretime as ft
from foretime.cli.backtest import backtest
from foretime.cli.bench import bench_app
from foretime.cli.compare import compare
from foretime.cli.data import data_app
from foretime.cli.demo import demo
from foretime.cli.evaluate import evaluate
from foretime.cli.explain import explain
from foretime.cli.forecast import forecast
from foretime.cli.predict import predict
from foretime.cli.rules import mine, rules_app
from foretime.cli.runs import runs_app
from foretime.cli.serve import serve
from foretime.cli.train import train
from foretime.cli.tune import tune
from foretime.cli.update import update
from foretime.cli.upgrade import upgrade

_TOO_LARGE = "can't allocate memory"
_TROUBLE: dict[type[Exception], str] = {
    MemoryError: "there is not enough memory; take a smaller graph, smaller settings, or a machine with more",
    RecursionError: "something that was given is nested too deeply; look at the files of JSON and TOML",
    UnicodeError: "a text that was given is not valid UTF-8; save it as UTF-8",
}
STOPPED = 130
"""The exit code of what Ctrl-C has stopped, as shells have it."""


class _Commands(TyperGroup):
    """Hands Ctrl-C on to `main`: each version of Typer makes something else of it."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            # whoever was stopped has noted how to go on
            raise ft.Interrupted("; ".join(["stopped", *getattr(stop, "__notes__", [])])) from None


app = typer.Typer(
    name="foretime",
    cls=_Commands,
    help="Complete and forecast a temporal knowledge graph, and see why.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    add_completion=False,
)
COMMANDS = (
    train, tune, evaluate, backtest, compare, predict, explain, forecast, update, serve, demo, mine, upgrade,
)  # fmt: skip
for command in COMMANDS:
    app.command()(command)
for name, group in {"data": data_app, "rules": rules_app, "runs": runs_app, "bench": bench_app}.items():
    app.add_typer(group, name=name)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"foretime {ft.__version__}")
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
    except ft.Interrupted as stopped:
        typer.echo(stopped, err=True)
        sys.exit(STOPPED)
    except ft.ForetimeError as error:
        _fail(str(error))
    except BrokenPipeError:
        # the reader of our output, such as head, has seen enough
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        # a full disk, a folder that may not be written
        place = f"{error.filename}: " if error.filename else ""
        _fail(f"{place}{error.strerror or error}")
    except (MemoryError, RecursionError, UnicodeError) as error:
        text = next(text for kind, text in _TROUBLE.items() if isinstance(error, kind))
        _fail(f"{text} ({error or type(error).__name__})")
    except RuntimeError as error:
        # torch has no error of its own for a tensor that does not fit
        if _TOO_LARGE not in str(error):
            raise
        _fail(_TROUBLE[MemoryError])


def _fail(text: str) -> NoReturn:
    typer.echo(f"error: {text}", err=True)
    sys.exit(2)
