"""A forecast as a value: the most likely events of the coming steps, each with its probability and its reasons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, overload

from foretime.inference.answers import fact_text
from foretime.inference.explanation.phrases import isolated
from foretime.tables import Table, Tabular

if TYPE_CHECKING:
    from foretime.inference.explanation.explanation import Explanation
    from foretime.inference.predictor import Predictor


@dataclass(frozen=True)
class ForecastEvent:
    """An event that may come.

    `probability` is that of at least one such event in the window, `time` the step at which it is most likely, and
    `new` whether it has never happened before.
    """

    rank: int
    subject: str
    predicate: str
    object: str
    probability: float
    time: str
    new: bool
    source: Callable[[], Predictor] = field(repr=False, compare=False)
    """Who explains it: the run as of the start."""

    def explain(self, top: int = 5) -> Explanation:
        """Return why the object is expected at the most likely time, as the run explains its answers.

        Its probability is that of the object, given that the subject has such an event then, and so its first sentence
        begins.
        """
        slots = {"subject": self.subject, "predicate": self.predicate, "object": self.object, "time": self.time}
        found = self.source().explainer.explain(**slots, slot="object", top=top)  # type: ignore[arg-type]
        first, *others = found.sentences
        subject, predicate, object_ = (isolated(name) for name in (self.subject, self.predicate, self.object))
        given = f'If {subject} has "{predicate}" with anyone then, {object_}: '
        return replace(found, sentences=(f"{given}{first[:1].lower()}{first[1:]}", *others))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {name: value for name, value in vars(self).items() if name != "source"}

    def __str__(self) -> str:
        return fact_text({"subject": self.subject, "predicate": self.predicate, "object": self.object})


@dataclass(frozen=True, repr=False)
class Forecast(Tabular, Sequence[ForecastEvent]):
    """The most likely events of a window, best first: a sequence of `ForecastEvent` that prints as a table."""

    start: str
    end: str
    """The first and the last step of the window."""
    steps: int
    known_until: str
    """The last event that was looked at."""
    events: tuple[ForecastEvent, ...]
    note: str | None = field(default=None, compare=False)
    """Which names were taken for others, and as of when it was asked if it begins long after the last event."""

    def __len__(self) -> int:
        return len(self.events)

    @overload
    def __getitem__(self, place: int) -> ForecastEvent: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[ForecastEvent, ...]: ...
    def __getitem__(self, place: int | slice) -> ForecastEvent | tuple[ForecastEvent, ...]:
        return self.events[place]

    def table(self) -> Table:
        """Return the events as a table."""
        window = self.start if self.steps == 1 else f"{self.start} to {self.end}"
        title = f"{window}, as of {self.known_until}"
        return Table.of(
            [event.to_dict() | {"new": "new" if event.new else None} for event in self.events],
            title, {"probability": ".1%"}, {"time": "most likely"},
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return the window and its events as plain values for JSON."""
        hidden = ("events", *(() if self.note else ("note",)))
        shown = {name: value for name, value in vars(self).items() if name not in hidden}
        return {**shown, "events": [event.to_dict() for event in self.events]}
