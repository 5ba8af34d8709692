"""What the command line says about itself, and that saying it costs nothing."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from foretime import __version__
from foretime.cli import app

ROOT = Path(__file__).parents[2]


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        yield (*path, name), command


COMMANDS = dict(commands(typer.main.get_command(app)))
LEAVES = [path for path, command in COMMANDS.items() if not hasattr(command, "commands")]

SCRIPT = """
import sys
from foretime.cli import app
for words in {lines!r}:
    app([*words, "--help"], standalone_mode=False)
print("loaded", sorted({{"torch", "numpy", "pyarrow", "safetensors"}} & set(sys.modules)))
"""


def test_the_help_of_every_command_loads_nothing_heavy():
    lines = [(), *COMMANDS]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(lines=lines)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Usage:") == len(lines)
    assert done.stdout.splitlines()[-1] == "loaded []"


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_and_every_flag_has_help(path: tuple[str, ...]):
    command = COMMANDS[path]
    assert command.help
    assert command.help.strip().split("\n")[0].endswith(".")
    for parameter in command.params:
        if parameter.name != "help":
            assert parameter.help, f"{' '.join(path)} {parameter.name} has no help"


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_every_command_is_documented(path: tuple[str, ...]):
    pages = [*ROOT.glob("README.md"), *ROOT.glob("docs/*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    assert f"foretime {' '.join(path)}" in text, "in neither README.md nor docs/*.md"


def test_the_version_is_printed(foretime):
    assert foretime("--version").out == f"foretime {__version__}\n"


def test_without_a_command_there_is_help(foretime):
    outcome = foretime()
    assert "Usage:" in outcome.out + outcome.err
    assert "train" in outcome.out + outcome.err
