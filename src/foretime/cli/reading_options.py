"""The flags that say how a graph is read: the same for every command that reads one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from foretime.errors import ConfigError

if TYPE_CHECKING:
    from foretime.config import DataConfig

Columns = Annotated[
    str | None,
    typer.Option(
        metavar="SUBJECT=COLUMN,…",
        help="Which column is which, by name or by number from 1: subject=Actor,predicate=Event,object=Target,time=4; "
        "for intervals start=… and end=… in place of time.",
    ),
]
Header = Annotated[
    bool | None, typer.Option("--header/--no-header", help="Whether the first row names the columns; seen by default.")
]
Delimiter = Annotated[
    str | None, typer.Option(help="What separates columns: a character, or tab; seen from the first row by default.")
]
Granularity = Annotated[
    str | None,
    typer.Option(help="A step of time: second, minute, hour, day, week, month, year, step (integers), or bins:N."),
]
Irregular = Annotated[bool, typer.Option("--irregular", help="Leave out the steps at which nothing happens.")]
Names = Annotated[
    str | None,
    typer.Option(metavar="auto|as-is", help="auto puts the names of entity2id.txt and relation2id.txt for ids."),
]

_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " "}


def parse_columns(text: str) -> dict[str, str | int]:
    """Return `subject=Actor,predicate=2,…` as a dict."""
    columns: dict[str, str | int] = {}
    for part in text.split(","):
        role, equals, column = part.partition("=")
        if not equals or not role.strip() or not column.strip():
            raise ConfigError(f"--columns: {part!r} is not NAME=COLUMN; write subject=1,predicate=2,object=3,time=4")
        columns[role.strip()] = int(column) if column.strip().isdecimal() else column
    return columns


def reading_settings(
    columns: str | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    granularity: str | None = None,
    irregular: bool = False,
    names: str | None = None,
) -> dict[str, Any]:
    """Return the settings of `[data]` that the flags give, by their dotted names; a flag not given sets nothing."""
    given = {
        "data.columns": None if columns is None else parse_columns(columns),
        "data.header": header,
        "data.delimiter": None if delimiter is None else _DELIMITERS.get(delimiter, delimiter),
        "data.granularity": granularity,
        "data.regular": False if irregular else None,
        "data.names": names,
    }
    return {key: value for key, value in given.items() if value is not None}


def data_config(settings: dict[str, Any]) -> DataConfig:
    """Return the `[data]` section with some settings, as `reading_settings` gives them."""
    from foretime.config import DataConfig, check_section

    return check_section(DataConfig, {key.removeprefix("data."): value for key, value in settings.items()}, "")
