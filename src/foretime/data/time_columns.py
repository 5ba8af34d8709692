"""The times of all tables: read, checked row by row, and counted in one unit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from foretime.config import DataConfig
from foretime.data.columns import EVENT, HOW, INTERVAL
from foretime.data.date_forms import Misreadings, read_dates, two_digit_years
from foretime.data.facts import Ids
from foretime.data.formats.table import ABSENT, RawTable, share_values
from foretime.data.granularity import are_few, choose_unit, without_midnights
from foretime.data.problems import Problems, TableProblems
from foretime.data.times import ACCEPTED, INTEGER, NO_TICK, VAGUE, Moments, is_coarser, ticks_of

_IF_A_HEADER = (
    "; if this row names the columns, say --header, and which is which with "
    "--columns subject=…,predicate=…,object=…,time=…"
)


def _other_layout(role: str) -> str:
    """Return what to do about a column that was taken for times and has none."""
    column = (INTERVAL if role in INTERVAL else EVENT).index(role) + 1
    return (
        f"anything else in column {column}; the table seems to have another layout: {HOW}; "
        f"if it has not, write times as {ACCEPTED}"
    )


def _numbered(columns: list[Ids], absent: int) -> Ids:
    """Return one column of codes after the other, with another number for a cell without a value."""
    codes = columns[0] if len(columns) == 1 else np.concatenate(columns)
    return np.where(codes == ABSENT, absent, codes) if len(codes) and codes.min() == ABSENT else codes


@dataclass(frozen=True)
class TimeColumns:
    """The different times of all tables, and for each row the number of its start and of its end.

    Where all facts are events at one time, both are the same array.
    """

    tables: list[RawTable]
    texts: list[str]
    moments: Moments
    start: Ids
    end: Ids

    @classmethod
    def parse(cls, tables: list[RawTable], config: DataConfig, problems: Problems) -> TimeColumns:
        """Return the times of the tables, read as the configuration says."""
        starts = [table.columns[table.start] for table in tables]
        ends = [table.columns[table.end] for table in tables]
        are_events = all(start is end for start, end in zip(starts, ends, strict=True))
        values, codes = share_values(starts if are_events else starts + ends)
        texts = [*values, ""]  # a cell without a value has the code -1, and so the last text
        start = _numbered(codes[: len(starts)], len(values))
        end = start if are_events else _numbered(codes[len(starts) :], len(values))
        moments, notes = read_dates(texts, config.date_format, config.granularity)
        problems.doubts += two_digit_years(texts, moments) if config.date_format == "auto" else []
        moments, coarsened = without_midnights(moments, config.granularity)
        problems.notes += notes + coarsened
        return cls(tables, texts, moments, start, end)

    def check(self, found: list[TableProblems]) -> None:
        """Report rows with a text that is no time."""
        wrong, unknown = self.moments.precision == "", self.moments.precision == "unknown"
        if not wrong.any():
            return
        reasons = Misreadings([text for text, is_wrong in zip(self.texts, wrong, strict=True) if is_wrong])
        for table, problems, start, end in self._by_table(found):
            for role, codes in {table.start: start, table.end: end}.items():
                rows = np.flatnonzero(wrong[codes])
                another = table.guessed and bool((wrong | unknown)[codes].all()) and not reasons.any_date
                if another and len(rows) > 1 and not are_few(len(rows), len(codes) - len(rows)):
                    # one word about the column says more than one about each row, and no row can be right
                    text = f"the {role} {self.texts[codes[rows[0]]]!r} is not a time, nor is {_other_layout(role)}"
                    problems.add(rows[:1], f"another layout: {role}", text)
                    problems.bad[:] = True
                    continue
                self._report_wrong(problems, role, codes, reasons, table.headless)

    def _report_wrong(
        self, problems: TableProblems, role: str, codes: Ids, reasons: Misreadings, headless: bool
    ) -> None:
        wrong = np.flatnonzero(self.moments.precision == "")
        by_kind: dict[str, list[int]] = {}
        for code in wrong.tolist():
            by_kind.setdefault(reasons.reason(self.texts[code])[0], []).append(code)

        def words(row: int) -> str:
            text = self.texts[codes[row]]
            kind, reason = reasons.reason(text)
            header = _IF_A_HEADER if headless and row == 0 and kind == "no time" else ""
            return f"the {role} {text!r} {reason}{header}"

        for kind, some in by_kind.items():
            problems.add(np.flatnonzero(np.isin(codes, some)), f"{kind}: {role}", words)

    def choose_unit(self, granularity: str, found: list[TableProblems], problems: Problems) -> str:
        """Return the unit of the timeline, and report rows that cannot be counted in it."""
        good = ~np.concatenate([own.bad for own in found])
        counts = self._counts(good)
        choice = choose_unit(self.moments, counts, granularity, partial(self.first_place, good))
        problems.doubts += choice.doubts
        if granularity == "auto" and counts.any():
            fits = ~choice.misfits & (ticks_of(self.moments, choice.unit) != NO_TICK)
            example = self.texts[int(np.argmax(np.where(fits, counts, 0)))]
            step = "integer" if choice.unit == INTEGER else choice.unit
            problems.notes.append(f"times such as {example!r}; one step is one {step}")
        if choice.misfits.any():
            kind = "a date among integers" if choice.unit == INTEGER else "an integer among dates"
            for table, own, start, end in self._by_table(found):
                for role, codes in {table.start: start, table.end: end}.items():
                    rows = np.flatnonzero(choice.misfits[codes])
                    own.add(rows, f"{kind}: {role}", partial(self._misfit, role, codes, kind))
        return choice.unit

    def _misfit(self, role: str, codes: Ids, kind: str, row: int) -> str:
        return f"the {role} {self.texts[codes[row]]!r} is {kind}; write all times in one way, or say --date-format"

    def _counts(self, good: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return how often each time occurs in good rows, at one end or at both; one that is not known does not."""
        counts = np.bincount(self.start if good.all() else self.start[good], minlength=len(self.texts))
        if self.end is not self.start:
            counts += np.bincount(self.end[good & (self.start != self.end)], minlength=len(self.texts))
        counts[np.isin(self.moments.precision, ("", "unknown"))] = 0
        return counts

    def ticks(self, unit: str | None) -> Ids:
        """Return the tick of each time; without a unit, whether it is known at all: 0 or `NO_TICK`."""
        if unit is None:
            return np.where(np.isin(self.moments.precision, ("", "unknown")), NO_TICK, 0)
        return ticks_of(self.moments, unit)

    def check_known(self, ticks: Ids, unit: str | None, found: list[TableProblems], timeless: bool) -> None:
        """Report facts without any known time: the one place where that makes a row a bad one.

        Unless they may be `timeless`, as facts of a decade or a century may be too: no step is so long. But a time for
        which there is a unit is no reason to forget all of it.
        """
        unknown = (ticks == NO_TICK) & (self.moments.precision != "")
        for table, problems, start, end in self._by_table(found):
            rows = np.flatnonzero(unknown[start] if start is end else unknown[start] & unknown[end])
            coarse = np.isin(self.moments.precision, ("", "unknown", *(VAGUE if timeless else ())), invert=True)
            vague = (coarse[start] | coarse[end])[rows]
            which = "the time is not known; give it"
            if table.start != table.end:
                which = "neither start nor end is known; give one"
            if not timeless:
                problems.add(rows[~vague], "no known time", f"{which}, or remove the row")
            problems.add(rows[vague], "no time to the step", self._vague_words(table, start, end, unit or ""))

    def _vague_words(self, table: RawTable, start: Ids, end: Ids, unit: str) -> Callable[[int], str]:
        def words(row: int) -> str:
            codes = {table.start: start[row], table.end: end[row]}
            role, code = next((role, code) for role, code in codes.items() if is_coarser(self._precision(code), unit))
            precision = self._precision(code)
            remedy = "give a year" if precision in VAGUE else f"use --granularity {precision}, or a coarser unit"
            what = f"the {role} {self.texts[code]!r} is precise to the {precision} only, and a step is one {unit}"
            return f"{what}; {remedy}, or remove the row"

        return words

    def _precision(self, code: int) -> str:
        """Return the precision of a time among dates, where an integer is a year."""
        precision = str(self.moments.precision[code])
        return "year" if precision == INTEGER else precision

    def _by_table(self, found: list[TableProblems]) -> Iterator[tuple[RawTable, TableProblems, Ids, Ids]]:
        offset = 0
        for table, problems in zip(self.tables, found, strict=True):
            rows = slice(offset, offset + len(table))
            start = self.start[rows]
            yield table, problems, start, start if self.end is self.start else self.end[rows]
            offset += len(table)

    def first_place(self, good: NDArray[np.bool_], number: int) -> str:
        """Return where a time stands first in a good row, and its text."""
        row = int(np.flatnonzero(((self.start == number) | (self.end == number)) & good)[0])
        for table in self.tables:
            if row < len(table):
                return f"{table.locate([row])[0]}: {self.texts[number]!r}"
            row -= len(table)
        raise LookupError(number)
