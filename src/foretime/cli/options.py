"""Flags that several commands share, as groups that a command takes whole, and the choices of flags."""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_type_hints

import typer

import foretime as ft

LARGEST_SEED, MOST_EPOCHS, MOST_COUNT = 2**32 - 1, 1_000_000, 1_000_000_000
MOST_THREADS, MOST_SECONDS, MOST_JOBS = 256, 1e9, 100
"""What numbers may be at the most: as in a configuration, but here before anything heavy is loaded."""
SplitName = Literal["train", "valid", "test"]
FilterName = Literal["exact", "valid-at", "points"]
TargetName = Literal[
    "subject", "predicate", "object", "time", "predicate and object", "predicate and subject", "subject and object"
]
GraphSource = Annotated[
    str, typer.Argument(help="A folder of splits, a file of events, a database, or a run.", show_default=False)
]
RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.", show_default=False)]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ray://HOST:PORT|HOST:PORT|auto|local",
        help="Work on the nodes of a Ray cluster, which share the folder (docs/cluster.md).",
    ),
]
Device = Annotated[
    str | None,
    typer.Option(
        "--device", metavar="auto|cpu|cuda|cuda:N|mps", help="Where the model computes; default: as the run says."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print everything as JSON.")]
Known = Annotated[Literal["mark", "hide"], typer.Option("--already-known", help="Mark known answers, or hide them.")]
Filter = Annotated[
    FilterName | None, typer.Option("--filter", help="Which known answers do not count; default: that of the run.")
]


class FlagGroup(NamedTuple):
    """Flags that belong together: a command takes the values that were given as one dict, called `name`."""

    name: str
    flags: Mapping[str, Any]
    values: Callable[[dict[str, Any]], dict[str, Any]] = dict


def takes(*groups: FlagGroup) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that gives a command the flags of some groups, each group before the flag `as_json`."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(command, include_extras=True)
        own = [
            parameter.replace(annotation=hints[name])
            for name, parameter in inspect.signature(command).parameters.items()
            if name not in {group.name for group in groups}
        ]
        shared = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            for group in groups
            for name, annotation in group.flags.items()
        ]
        order = [*(p for p in own if p.name != "as_json"), *shared, *(p for p in own if p.name == "as_json")]

        @wraps(command)
        def wrapper(**given: Any) -> None:
            for group in groups:
                found = {name: given.pop(name) for name in group.flags}
                given[group.name] = group.values({name: value for name, value in found.items() if value is not None})
            command(**given)

        signature = inspect.Signature([p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in order])
        wrapper.__signature__ = signature  # type: ignore[attr-defined]
        wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in order}
        return wrapper

    return decorate


_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " "}


def _reading(given: dict[str, Any]) -> dict[str, Any]:
    """Return the keywords of `foretime.load` that the flags give."""
    if "columns" in given:
        given["columns"] = parse_columns(given["columns"])
    if "delimiter" in given:
        given["delimiter"] = _DELIMITERS.get(given["delimiter"], given["delimiter"])
    if given.pop("irregular", False):
        given["regular"] = False
    return given


def parse_columns(text: str) -> dict[str, str | int]:
    """Return `subject=Actor,predicate=2,…` as a dict."""
    columns: dict[str, str | int] = {}
    for part in text.split(","):
        role, equals, column = part.partition("=")
        if not equals or not role.strip() or not column.strip():
            raise ft.ConfigError(f"--columns: {part!r} is not NAME=COLUMN; write subject=1,predicate=2,object=3,time=4")
        columns[role.strip()] = int(column) if column.strip().isdecimal() else column
    return columns


READING = FlagGroup(
    "reading",
    {
        "query": Annotated[
            str | None, typer.Option(metavar="SELECT", help="What to read from a database: one SELECT.")
        ],
        "table": Annotated[str | None, typer.Option(help="The table of a database to read, instead of --query.")],
        "columns": Annotated[
            str | None,
            typer.Option(
                metavar="SUBJECT=COLUMN,…",
                help="Which column is which, by name or by number from 1: subject=Actor,predicate=Event,object=Target,"
                "time=4; for intervals start=… and end=… instead of time.",
            ),
        ],
        "header": Annotated[
            bool | None,
            typer.Option("--header/--no-header", help="Whether the first row names the columns; detected by default."),
        ],
        "delimiter": Annotated[
            str | None,
            typer.Option(help="What separates columns: a character, or tab; detected from the first row by default."),
        ],
        "date_format": Annotated[
            str | None,
            typer.Option(
                metavar="FORM",
                help="How dates are written where that is not plain: %d/%m/%Y, %Y%m, integer, year, unix or unix-ms.",
            ),
        ],
        "bad_rows": Annotated[
            Literal["stop", "skip"] | None,
            typer.Option(
                help="Stop at rows that cannot be read, or skip them and write them to a file.", show_default="stop"
            ),
        ],
        "granularity": Annotated[
            str | None,
            typer.Option(
                help="A step of time: second, minute, hour, day, week, month, year, step (integers), or bins:N."
            ),
        ],
        "irregular": Annotated[
            bool | None, typer.Option("--irregular", help="Leave out the steps at which nothing happens.")
        ],
        "names": Annotated[
            str | None,
            typer.Option(
                metavar="auto|as-is", help="auto replaces ids by the names in entity2id.txt and relation2id.txt."
            ),
        ],
        "entities": Annotated[
            str | None,
            typer.Option(
                metavar="FILE",
                help="A file of entities and their attributes, with a column name; default: entities.tsv beside the "
                "data; none: no file.",
            ),
        ],
        "valid_from": Annotated[
            str | None,
            typer.Option(metavar="TIME", help="Split anew by time: train before this time, valid from it on."),
        ],
        "test_from": Annotated[
            str | None, typer.Option(metavar="TIME", help="With --valid-from: test from this time on.")
        ],
    },
    _reading,
)

LAYOUT = FlagGroup(
    "layout",
    {
        name: READING.flags[name]
        for name in ("query", "table", "columns", "header", "delimiter", "names", "date_format", "bad_rows")
    },
    _reading,
)
AS_OF = FlagGroup(
    "as_of",
    {
        "as_of": Annotated[
            str | None,
            typer.Option(metavar="DAY", help="Answer as of a day: what happened on it or later is no evidence."),
        ],
        "by": Annotated[
            Literal["happened", "known"] | None,
            typer.Option(help="With --as-of: the day on which an event happened counts, or the one it was known on."),
        ],
    },
)


def as_of_view(run: ft.Run, as_of: dict[str, Any], evidence: dict[str, Any]) -> ft.Run | ft.RunView:
    """Return the run, or the run as of the day that the flags name."""
    if not as_of:
        return run
    if "as_of" not in as_of:
        raise ft.QuestionError("--by says what --as-of goes by; give --as-of DAY too")
    if evidence:
        raise ft.QuestionError("--as-of and --without, --with or --past-only change the evidence; give one of them")
    return run.as_of(as_of["as_of"], by=as_of.get("by", "happened"))


def _mining(given: dict[str, Any]) -> dict[str, Any]:
    """Return the keywords of `foretime.mine` that the flags give."""
    if "splits" in given:
        given["splits"] = [name.strip() for name in given["splits"].split(",")]
    return given


_COUNTING = {
    "window": Annotated[int | None, typer.Option(help="How many steps after its body a head may come.", max=10_000)],
    "counting": Annotated[
        Literal["windowed", "literal"] | None, typer.Option(help="Each body once, or the paper's equations as printed.")
    ],
    "splits": Annotated[str | None, typer.Option(metavar="SPLIT,…", help="The splits to count on: train,valid.")],
}
_THRESHOLDS = {
    "support": Annotated[int | None, typer.Option(help="The least number of bodies whose head came.", max=MOST_COUNT)],
    "confidence": Annotated[float | None, typer.Option(help="The least standard confidence (SC).", max=1.0)],
    "head_coverage": Annotated[float | None, typer.Option(help="The least head coverage (HC).", max=1.0)],
}
_STATIC = {
    "best_pattern_only": Annotated[
        bool | None, typer.Option("--best-pattern-only", help="Only the most confident pattern of a body and head.")
    ],
    "static_support": Annotated[int | None, typer.Option(help="The least support without time.", max=MOST_COUNT)],
    "static_head_coverage": Annotated[
        float | None, typer.Option(help="The least head coverage without time.", max=1.0)
    ],
    "static_confidence": Annotated[float | None, typer.Option(help="The least confidence without time.", max=1.0)],
    "static_pca_confidence": Annotated[
        float | None, typer.Option(help="The least PCA confidence without time.", max=1.0)
    ],
}
COUNTING = FlagGroup("counting_options", _COUNTING, _mining)
THRESHOLDS = FlagGroup("thresholds", _COUNTING | _THRESHOLDS, _mining)
MINING = FlagGroup("mining", _COUNTING | _THRESHOLDS | _STATIC, _mining)

QUESTION = FlagGroup(
    "question",
    {
        "subject": Annotated[str | None, typer.Option("--subject", "-s", help="Who acts.")],
        "predicate": Annotated[str | None, typer.Option("--predicate", "-p", help="What happens.")],
        "object": Annotated[str | None, typer.Option("--object", "-o", help="To whom.")],
        "time": Annotated[str | None, typer.Option("--time", "-t", help="When.")],
        "start": Annotated[str | None, typer.Option(help="When it began, in a graph of intervals.")],
        "end": Annotated[str | None, typer.Option(help="When it ended, in a graph of intervals.")],
    },
)


def _restriction(given: dict[str, Any]) -> dict[str, Any]:
    """Return the keywords of `Run.predict` that restrict its answers."""
    found = {"type": given["type"]} if given.get("type") else {}
    return found | ({"where": ";".join(given["where"])} if given.get("where") else {})


RESTRICTION = FlagGroup(
    "restriction",
    {
        "type": Annotated[
            list[str] | None,
            typer.Option(metavar="TYPE", help="Only entities of this type are answers; repeated: of any of them."),
        ],
        "where": Annotated[
            list[str] | None,
            typer.Option(
                metavar="ATTRIBUTE=VALUE", help="Only entities with this value of an attribute are; may be repeated."
            ),
        ],
    },
    _restriction,
)
WHAT_IF = FlagGroup(
    "evidence",
    {
        "without": Annotated[
            list[str] | None,
            typer.Option(
                metavar="EVENT|RULE|PREDICATE",
                help='What if it were not there: "subject | predicate | object | time", a rule as `rules show` prints '
                "it, or a predicate; may be repeated.",
            ),
        ],
        "with_": Annotated[
            list[str] | None,
            typer.Option("--with", metavar="EVENT", help="What if this had happened; may be repeated."),
        ],
        "past_only": Annotated[
            bool | None, typer.Option("--past-only", help="Only events before the time asked about are evidence.")
        ],
    },
    lambda given: {name: value for name, value in given.items() if value},
)


def parse_settings(settings: Iterable[str]) -> dict[str, Any]:
    """Return `section.key=value` texts as a dict; values are read as TOML, and as plain text where that fails."""
    parsed: dict[str, Any] = {}
    for text in settings:
        key, equals, value = text.partition("=")
        if not equals:
            raise ft.ConfigError(f"{text!r} is not a setting; write section.key=value, as in training.epochs=20")
        try:
            parsed[key.strip()] = tomllib.loads(f"value = {value}")["value"]
        except (ValueError, RecursionError):  # also a number of too many digits
            parsed[key.strip()] = value.strip()
    return parsed
