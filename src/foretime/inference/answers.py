"""Questions and answers as values: a fact with one slot left open, and its ranked candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, overload

from foretime.data.restrictions import OneOrMore, Restriction, Where
from foretime.errors import QuestionError
from foretime.evaluation.slots import SLOTS, Slot
from foretime.tables import Table, Tabular

if TYPE_CHECKING:
    from foretime.inference.explanation.explanation import Explanation
    from foretime.inference.explanation.reasons import ShownReason
    from foretime.inference.predictor import Predictor

AlreadyKnown = Literal["mark", "hide"]
"""Whether answers that train or valid have are marked or left out."""
Time = str | int | date
"""A time as a question gives it; a year or a date is as good as its text."""
TIMES = ("time", "start", "end")
NO_TIME = "none"
"""What stands in place of a time where a question is asked without one; a time that is left out is asked for."""
GIVEN = (*SLOTS[:3], *TIMES)
"""What a question may give of a fact."""
WHERE = "where"
TWO_SLOTS: dict[tuple[Slot, ...], tuple[Slot, Slot]] = {
    ("predicate", "object"): ("predicate", "object"),
    ("subject", "predicate"): ("predicate", "subject"),
    ("subject", "object"): ("subject", "object"),
}
"""The two slots that may be open at once, and in which order they are answered."""
AND = " and "
"""What stands between two slots where both are the answer."""
Target = Literal[Slot, "predicate and object", "predicate and subject", "subject and object"]
"""The slot that is the answer, or both."""
TARGETS: tuple[str, ...] = (*SLOTS, *map(AND.join, TWO_SLOTS.values()))


@dataclass(frozen=True)
class Question:
    """A fact with one slot left open, or with two: what and to whom, who and what, or who and whom.

    In a graph of intervals `start` and `end` may stand in place of `time`. The time `none` asks what holds at all,
    whenever: a time that is left out is what is asked for. `type` and `where`
    restrict the answers to entities of a type, or with values of other attributes; a question keeps both in `where`.

    >>> Question(subject="state 0", predicate="visits", time="2020-05-05").target
    'object'
    >>> print(Question(predicate="visits", object="state 0", time="2020-05-05", type="city"))
    (?, visits, state 0, 2020-05-05) with type city
    """

    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    time: Time | None = None
    start: Time | None = None
    end: Time | None = None
    where: Restriction | Where | None = None
    type: InitVar[OneOrMore | None] = None

    def __post_init__(self, type: OneOrMore | None) -> None:
        if not isinstance(self.where, Restriction) or type:
            given = str(self.where) if isinstance(self.where, Restriction) else self.where
            object.__setattr__(self, WHERE, Restriction.of(type, given))

    @property
    def restriction(self) -> Restriction:
        """Which entities may be answers."""
        return self.where if isinstance(self.where, Restriction) else Restriction()

    @property
    def open_slots(self) -> list[Slot]:
        """The slots that are left open; an answerable question has one."""
        timed = any(getattr(self, name) is not None for name in TIMES)
        return [name for name in SLOTS if (not timed if name == "time" else getattr(self, name) is None)]

    @property
    def targets(self) -> tuple[Slot, ...]:
        """The one or two slots that are asked for, in the order in which they are answered."""
        missing = tuple(self.open_slots)
        if not missing:
            raise QuestionError("nothing is left open; leave out the slot that you ask for")
        if len(missing) == 1:
            return missing
        if missing not in TWO_SLOTS:
            pairs = "; ".join(f"{first} and {second}" for first, second in TWO_SLOTS)
            raise QuestionError(
                f"{', '.join(missing[:-1])} and {missing[-1]} are left open; give all of {', '.join(SLOTS)} but one, "
                f"or but two of these: {pairs}"
            )
        return TWO_SLOTS[missing]

    @property
    def target(self) -> Slot:
        """The one slot that is left open; a question with none, or with several, raises `QuestionError`."""
        targets = self.targets
        if len(targets) > 1:
            raise QuestionError(
                f"{targets[0]} and {targets[1]} are left open; this needs a question with one open slot, so give one"
            )
        return targets[0]

    @property
    def is_timeless(self) -> bool:
        """Whether it is asked without a time."""
        return self.time == NO_TIME

    @property
    def target_is_named(self) -> bool:
        """Whether what is asked for has a name, and is no time."""
        return self.open_slots != ["time"]

    def to_dict(self) -> dict[str, str]:
        """Return the slots that are given, and the restriction if there is one, as text."""
        given = {name: str(value) for name in GIVEN if (value := getattr(self, name)) is not None}
        return given | ({WHERE: str(self.restriction)} if self.restriction else {})

    def __str__(self) -> str:
        slots = {name: getattr(self, name) for name in GIVEN} | dict.fromkeys(self.targets, "?")
        return fact_text(slots | ({WHERE: str(self.restriction)} if self.restriction else {}))


def fact_text(slots: Mapping[str, object]) -> str:
    """Return a fact in brackets, without the slots that it does not have: `(state 0, visits, ?, 2020-05-05)`.

    A restriction of its answers stands behind it.
    """
    fact = f"({', '.join(str(value) for name, value in slots.items() if value is not None and name != WHERE)})"
    return fact if WHERE not in slots else f"{fact} with {Restriction.of(None, str(slots[WHERE])).words}"


@dataclass(frozen=True)
class Answer:
    """A candidate for the open slot of a question.

    `probability` is the calibrated probability that it is the true answer among those not known yet; an answer that
    train or valid have has none. `already_known` names the split that has it. `terms` add up to `score`: those of the
    model, and in a run with a re-ranker `reranker`, by how much that has changed their sum. Where two slots are open,
    `names` has both, and the terms are the log-probability of the first and of the second given the first.
    """

    rank: int
    name: str
    score: float
    probability: float | None
    already_known: str | None
    terms: dict[str, float]
    names: dict[Slot, str] = field(default_factory=dict)
    source: tuple[Predictor, Question] | None = field(default=None, repr=False, compare=False)
    """Who has given the answer to which question; not part of its value."""

    @property
    def filled(self) -> tuple[str, ...]:
        """What stands in each open slot, in the order in which they are answered."""
        return tuple(self.names.values()) or (self.name,)

    def explain(self, top: int = 5) -> Explanation:
        """Return why the answer has its score, with the rules of the first `top` reasons counted.

        Raises `QuestionError` if the answer was not given by a run.

        >>> answers = run.predict(subject="state 0", predicate="visits", time="2020-05-05")
        >>> answers[0].explain().rank
        1
        """
        predictor, question = self._asked()
        return predictor.explainer.explain_answer(question, self, top)

    def reasons(self, count: int = 3) -> list[ShownReason]:
        """Return the first reasons of the answer, with rules that are not counted: less than `explain`, and quicker."""
        predictor, question = self._asked()
        return predictor.explainer.reasons(question, self)[:count]

    def _asked(self) -> tuple[Predictor, Question]:
        if self.source is None:
            raise QuestionError("this answer does not come from a run; explain one of those that run.predict returns")
        return self.source

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain values for JSON."""
        shown = {name: value for name, value in vars(self).items() if name != "source" and (name != "names" or value)}
        return {**shown, "terms": dict(self.terms)}


@dataclass(frozen=True, repr=False)
class Answers(Tabular, Sequence[Answer]):
    """The ranked answers to a question, best first: a sequence of `Answer` that prints as a table.

    >>> answers = run.predict(subject="state 0", predicate="visits", time="2020-05-05", top=3)
    >>> answers.target, len(answers), answers[0].rank
    ('object', 3, 1)
    >>> list(answers.to_frame().columns)[:2]
    ['rank', 'name']
    """

    question: Question
    answers: tuple[Answer, ...]
    other_probability: float = 0.0
    """That the true answer is one that is not listed."""
    note: str | None = field(default=None, compare=False)
    """What a reader should know of them, such as that a name has no embedding, or was taken for another."""
    taken: Mapping[str, str] = field(default_factory=dict)
    """What was given for the slots whose names were taken for others; `question` has these others."""
    allowed_probability: float | None = None
    """Where the question restricts its answers: that the true one is among those that it allows."""

    @property
    def target(self) -> str:
        """The slot of the question that is answered, or both."""
        return AND.join(self.question.targets)

    def __len__(self) -> int:
        return len(self.answers)

    @overload
    def __getitem__(self, place: int) -> Answer: ...
    @overload
    def __getitem__(self, place: slice) -> Answers: ...
    def __getitem__(self, place: int | slice) -> Answer | Answers:
        if not isinstance(place, slice):
            return self.answers[place]
        kept = self.answers[place]
        others = self.other_probability + _listed(self.answers) - _listed(kept)
        return replace(self, answers=kept, other_probability=others)

    def table(self, terms: bool = True) -> Table:
        """Return the answers as a table, with the terms of their scores if these have several and they are wanted."""
        names = dict.fromkeys(name for answer in self.answers for name in answer.terms)
        formats = {"probability": ".1%", **dict.fromkeys(("score", *names), ".3f")}
        records = [
            {
                **{name: getattr(answer, name) for name in ("rank", "name", "probability", "score")},
                **(answer.terms if terms and len(names) > 1 else {}),
                "already_known": answer.already_known,
            }
            for answer in self.answers
        ]
        return Table.of(records, str(self.question), formats)

    def to_dict(self) -> dict[str, Any]:
        """Return the question and its answers as plain values for JSON."""
        answers = [answer.to_dict() for answer in self.answers]
        found = {"question": self.question.to_dict(), "slot": self.target, "answers": answers}
        more = {"note": self.note, "taken": dict(self.taken), "allowed_probability": self.allowed_probability}
        said = {name: value for name, value in more.items() if value not in (None, {})}
        return {**found, "other_probability": self.other_probability, **said}


def _listed(answers: Sequence[Answer]) -> float:
    return sum(answer.probability or 0.0 for answer in answers)
