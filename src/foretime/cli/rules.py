"""`foretime mine` and `foretime rules`: rules of a graph, of a file, of a run, and of other miners."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer

import foretime as ft
from foretime.cli.options import COUNTING, MINING, MOST_COUNT, READING, THRESHOLDS, AsJson, GraphSource, takes
from foretime.cli.output import error_console, note, print_json, say, show

rules_app = typer.Typer(help="Show, check, compare and import temporal rules.", no_args_is_help=True)
TOP = 20
"""Rules that are shown."""

RuleFile = Annotated[Path, typer.Argument(help="A file of rules (.txt, .rules, .jsonl, .parquet).", show_default=False)]
RuleSource = Annotated[Path, typer.Argument(help="A file of rules, or the folder of a run.", show_default=False)]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Where the rules go (.txt, .rules, .jsonl, .parquet).")]


PatternName = Literal["follows", "accompanies", "chain_then", "joint_then", "joint_now", "static"]


@takes(MINING, READING)
def mine(
    graph: GraphSource, out: Out = None, as_json: AsJson = False, *, mining: dict[str, Any], reading: dict[str, Any]
) -> None:
    """Mine the temporal rules of a graph: what follows, or comes with, what.

    Thresholds that are not given are those of the configuration: window 19, support 5, SC and HC 0.1.
    """
    if out is not None:
        ft.rule_format(out)  # mining takes its time: not after it
    with _progress() as progress:
        loaded = ft.load(graph, **reading)
        rules = ft.mine(loaded, progress=progress, **mining)
        if out is not None:
            rules.save(out)
    if as_json:
        print_json({"graph": loaded.name, "patterns": rules.patterns(), "rules": [rule.to_dict() for rule in rules]})
    else:
        _show(rules.take(slice(TOP)))
        say(rules.outline())
    if out is not None:
        note(f"written to {out}")


@rules_app.command("show")
def show_rules(
    source: RuleSource,
    head: Annotated[str | None, typer.Option(help="Part of the name of the head's predicate.")] = None,
    body: Annotated[str | None, typer.Option(help="Part of the name of a predicate in the body.")] = None,
    pattern: Annotated[PatternName | None, typer.Option(help="Only rules of this pattern.")] = None,
    sort: Annotated[
        Literal["confidence", "head_coverage", "support", "file"],
        typer.Option(help="The largest first, or as in the file."),
    ] = "confidence",
    top: Annotated[int, typer.Option("--top", "-n", help="How many; 0 for all.", min=0, max=MOST_COUNT)] = TOP,
    as_json: AsJson = False,
) -> None:
    """Show the rules of a file or of a run; their numbers are their places in the file."""
    rules = ft.read_rules(source)
    fitting = rules.filter(head, body, pattern, sort=None if sort == "file" else sort)
    shown = fitting.take(slice(top or None))
    places = {rule.statement: place for place, rule in enumerate(rules, 1)}
    numbers = [places[rule.statement] for rule in shown]
    if as_json:
        print_json([{"number": number, **rule.to_dict()} for number, rule in zip(numbers, shown, strict=True)])
        return
    _show(shown, numbers)
    say(f"{len(shown):,} of {len(fitting):,} rules that fit, of {len(rules):,} in {source}")


@rules_app.command()
@takes(COUNTING, READING)
def check(
    file: RuleFile,
    graph: GraphSource,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the rules as they are counted.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 if a count differs.")] = False,
    as_json: AsJson = False,
    *,
    counting_options: dict[str, Any],
    reading: dict[str, Any],
) -> None:
    """Count the rules of a file again, hand-written ones too, and compare with what the file says."""
    if out is not None:
        ft.rule_format(out)
    loaded = ft.load(graph, **reading)
    checked = ft.read_rules(file, loaded).check(loaded, **counting_options)
    if out is not None:
        checked.counted.save(out)
    rows = checked.rows()
    if as_json:
        print_json(rows)
    else:
        notes = ["differs" if row["differs"] else "" if row["given"] else "new" for row in rows]
        texts = [(row["rule"], row["given"] or "–", row["counted"] or "–") for row in rows]
        lines = tuple((number, *text, said) for number, (text, said) in enumerate(zip(texts, notes, strict=True), 1))
        show(ft.Table(("", "rule", "given", "counted", "note"), lines))
        say(f"{len(rows):,} rules counted, {sum(row['differs'] for row in rows):,} differ")
    if strict and any(row["differs"] for row in rows):
        raise typer.Exit(1)


@rules_app.command()
@takes(READING)
def example(  # noqa: PLR0913, each is a flag
    file: RuleFile,
    graph: GraphSource,
    rule: Annotated[str, typer.Option(help="The number of a rule in the file, or a rule as text.")] = "1",
    count: Annotated[int, typer.Option("--count", "-n", help="How many examples.", min=1, max=MOST_COUNT)] = 5,
    misses: Annotated[bool, typer.Option("--misses", help="Bodies whose head did not come.")] = False,
    window: Annotated[int, typer.Option(help="How many steps after its body a head may come.", max=10_000)] = 19,
    splits: Annotated[str, typer.Option(metavar="SPLIT,…", help="The splits to look in: train,valid.")] = "train",
    as_json: AsJson = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Show the first events of a graph that a rule is about, by time."""
    loaded = ft.load(graph, **reading)
    rules = ft.read_rules(file, loaded)
    numbered = rule.strip().lstrip("-").isdecimal()
    if numbered and not 1 <= int(rule) <= len(rules):
        raise ft.DataError(f"--rule {rule}: {file} has rules 1 to {len(rules)}")
    among = cast(Any, [name.strip() for name in splits.split(",")])  # what is none is reported
    try:
        found = rules.examples(
            int(rule) - 1 if numbered else rule, loaded, count=count, misses=misses, window=window, splits=among
        )
    except ft.DataError as error:
        raise ft.DataError(f"--rule: {error}") from None
    statement = rules[int(rule) - 1].statement if numbered else rule.strip()
    if as_json:
        shown = [[event._asdict() for event in grounding.events] for grounding in found]
        print_json({"rule": statement, "holds": not misses, "examples": shown})
        return
    say(statement)
    for number, grounding in enumerate(found, 1):
        for place, event in enumerate(grounding.events):
            start = f"{number:>3}." if place == 0 else "    "
            say(f"{start} {event.role}  {event.time}  {event.subject} | {event.predicate} | {event.object}")
        if misses:
            say("     no head in the window")
    if not found:
        say("no such example" if misses else "no example: the rule never holds on these splits")


@rules_app.command()
@takes(MINING, READING)
def diff(
    first: Annotated[Path, typer.Argument(help="A file of rules, a run, or with --mine a graph.", show_default=False)],
    second: Annotated[Path, typer.Argument(help="The other one.", show_default=False)],
    by: Annotated[float, typer.Option(help="Confidences that change by no more are equal.", min=0.0, max=1.0)] = 0.05,
    mine_both: Annotated[bool, typer.Option("--mine", help="Both are graphs: mine the rules of each.")] = False,
    top: Annotated[
        int, typer.Option("--top", "-n", help="How many of each kind; 0 for all.", min=0, max=MOST_COUNT)
    ] = TOP,
    as_json: AsJson = False,
    *,
    mining: dict[str, Any],
    reading: dict[str, Any],
) -> None:
    """Compare two sets of rules: those that only one has, and those whose confidence changed.

    With --mine, the other flags say how both graphs are read and mined, as for `foretime mine`.
    """
    if not mine_both and (unused := [*mining, *(key.replace("regular", "irregular") for key in reading)]):
        flags = ", ".join(f"--{key.replace('_', '-')}" for key in unused)
        raise ft.ConfigError(f"{flags}: how graphs are read and mined; add --mine, or leave it out to compare files")
    if mine_both:
        with _progress() as progress:
            both = [ft.mine(ft.load(path, **reading), progress=progress, **mining) for path in (first, second)]
    else:
        both = [ft.read_rules(path) for path in (first, second)]
    difference = both[0].compare(both[1], by)
    if as_json:
        print_json(difference.to_dict())
    else:
        say(difference.text(str(first), str(second), top or None))


@rules_app.command("import")
@takes(THRESHOLDS, READING)
def import_(
    miner: Annotated[Literal["amie", "anyburl"], typer.Argument(help="Who wrote the file.", show_default=False)],
    file: Annotated[Path, typer.Argument(help="The file of rules that it wrote.", show_default=False)],
    graph: GraphSource,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the temporal rules go.", show_default=False)],
    *,
    thresholds: dict[str, Any],
    reading: dict[str, Any],
) -> None:
    """Read the rules of AMIE or AnyBURL, find how they lie in time, and write those that reach the thresholds."""
    ft.rule_format(out)
    with _progress() as progress:
        loaded = ft.load(graph, **reading)
        rules = ft.import_rules(file, loaded, miner, report=note, progress=progress, **thresholds)
        rules.save(out)
    _show(rules.take(slice(TOP)))
    say(f"{len(rules):,} temporal rules reach the thresholds; written to {out}")


def _show(rules: ft.Rules, numbers: Sequence[int] | None = None) -> None:
    """Print a table of rules with their numbers and measures; what was not counted is left empty."""
    counts = [(rule.statement, rule.measures) for rule in rules]
    rows = tuple(
        (
            number,
            statement,
            measures.confidence if measures.body_count else None,
            measures.head_coverage if measures.head_count else None,
            measures.support if measures.body_count else None,
            measures.body_count or None,
        )
        for number, (statement, measures) in zip(numbers or range(1, len(counts) + 1), counts, strict=True)
    )
    formats = {"SC": ".3f", "HC": ".3f", "support": ",.6g", "body": ",.6g"}
    show(ft.Table(("", "rule", "SC", "HC", "support", "body"), rows, formats=formats))


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    """Show what is being counted; on Ctrl-C note that nothing was written."""
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (TextColumn("counting {task.description}"), BarColumn(bar_width=24))
    try:
        with Progress(*columns, console=error_console, transient=True, disable=not error_console.is_terminal) as bars:
            task = bars.add_task("rules")
            yield lambda what, done, total: bars.update(task, description=what, completed=done, total=total)
    except KeyboardInterrupt as stop:
        stop.add_note("nothing was written")
        raise
