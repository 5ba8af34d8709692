"""Answers: a question with one piece left open goes in as labels, ranked labelled candidates come out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast, get_args

import numpy as np
import torch
from torch import Tensor

from foretime.combining.scoring import Judge
from foretime.data.dataset import Dataset
from foretime.data.facts import UNKNOWN, Facts, empty_facts
from foretime.data.sources import SPLITS
from foretime.errors import QuestionError, RunError
from foretime.evaluation.pieces import PIECES, KnownPieces, Piece, score_pieces, score_terms, turn
from foretime.evaluation.ranking import batches
from foretime.models import evidence_of
from foretime.training import RunFolder
from foretime.training.conclusion import load_judge, temperatures_in

Known = Literal["mark", "hide"]


@dataclass(frozen=True)
class Question:
    """A fact with one piece left open. In a graph of intervals `start` and `end` may stand in place of `time`."""

    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    time: str | None = None
    start: str | None = None
    end: str | None = None

    def open_piece(self) -> Piece:
        """Return the piece that is left open."""
        timed = self.time is not None or self.start is not None or self.end is not None
        given = {"subject": self.subject, "predicate": self.predicate, "object": self.object}
        missing = [name for name, value in given.items() if value is None] + ([] if timed else ["time"])
        if not missing:
            raise QuestionError("nothing is left open; leave out the piece that you ask for")
        if len(missing) > 1:
            raise QuestionError(
                f"{', '.join(missing[:-1])} and {missing[-1]} are left open; give all of {', '.join(PIECES)} but one"
            )
        return cast(Piece, missing[0])


@dataclass(frozen=True)
class Answer:
    """A candidate for the open piece of a question.

    `confidence` is the calibrated probability that it is the true answer among those not known yet; an answer that
    train or valid know has none. `known` names the split that has it. `terms` add up to `score`: those of the model,
    and in a run with two stages `combiner`, by how much the second stage has changed their sum.
    """

    rank: int
    name: str
    score: float
    confidence: float | None
    known: str | None
    terms: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain values for JSON."""
        return {**vars(self), "terms": dict(self.terms)}


class _Scored(NamedTuple):
    """All candidates of some facts, (facts, candidates) each."""

    scores: Tensor
    still_open: Tensor
    """The scores, −∞ for what train or valid know."""
    confidence: Tensor
    splits: dict[str, Tensor]
    """Which candidates each split knows."""


class Predictor:
    """Answers questions on labels with the best weights of a run."""

    def __init__(self, judge: Judge, dataset: Dataset, temperatures: dict[str, float]) -> None:
        self.judge = judge
        self.model = judge.model
        self.dataset = dataset
        self.temperatures = temperatures
        self._known: dict[tuple[str, Piece], KnownPieces] = {}

    @classmethod
    def open(cls, run: RunFolder | Path | str) -> Predictor:
        """Return the predictor of a run folder. A run without a report answers with uncalibrated confidence."""
        folder = run if isinstance(run, RunFolder) else RunFolder.open(run)
        config, dataset = folder.config(), folder.dataset()
        return cls(load_judge(folder, config, dataset), dataset, _temperatures(folder))

    def complete(self, *, top: int = 10, known: Known = "mark", **pieces: str | None) -> list[Answer]:
        """Return the best answers to one question, best first.

        `pieces` are those of `Question`: all of subject, predicate, object and time but one.
        """
        return self.complete_many([Question(**pieces)], top, known)[0]

    @torch.inference_mode()
    def complete_many(self, questions: Sequence[Question], top: int = 10, known: Known = "mark") -> list[list[Answer]]:
        """Return the best answers to each question; questions of one kind are scored together."""
        if top < 1:
            raise QuestionError(f"top is {top}; ask for at least 1 answer")
        if known not in get_args(Known):
            raise QuestionError(f"known is {known!r}; it may be 'mark' or 'hide'")
        kinds = [question.open_piece() for question in questions]
        answers: list[list[Answer]] = [[] for _ in questions]
        for piece in PIECES:
            rows = [row for row, kind in enumerate(kinds) if kind == piece]
            facts = self._facts([questions[row] for row in rows], piece)
            for part, batch in batches(facts, 256):
                for row, found in zip(rows[part], self._answer(piece, batch, top, known), strict=True):
                    answers[row] = found
        return answers

    def check(self, question: Question) -> None:
        """Raise `QuestionError` if the question cannot be answered: an unknown name, a time out of range."""
        self._facts([question], question.open_piece())

    @property
    def forecasts(self) -> bool:
        """Whether times after the last one can be asked about: the evidence of the run needs only what was before."""
        evidence = evidence_of(self.model)
        return evidence is not None and evidence.past_only

    def step(self, time: object) -> int:
        """Return the step of a time that a question gives; beyond the timeline if the run forecasts."""
        return self.dataset.timeline.step(str(time), beyond=self.forecasts)  # a number or a date is as good as its text

    def _facts(self, questions: list[Question], piece: Piece) -> Facts:
        """Return the questions as ids, 0 in the open column."""
        if not questions:
            return empty_facts()
        entities, predicates = self.dataset.entities, self.dataset.predicates
        rows = [
            (
                0 if piece == "subject" else entities.id(cast(str, question.subject)),
                0 if piece == "predicate" else predicates.id(cast(str, question.predicate)),
                0 if piece == "object" else entities.id(cast(str, question.object)),
                *((0, 0) if piece == "time" else self._steps(question)),
            )
            for question in questions
        ]
        return Facts(*(np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)))

    def _steps(self, question: Question) -> tuple[int, int]:
        if question.time is not None:
            if question.start is not None or question.end is not None:
                raise QuestionError("give either a time, or a start and an end, not both")
            return self.step(question.time), self.step(question.time)
        return (
            UNKNOWN if question.start is None else self.step(question.start),
            UNKNOWN if question.end is None else self.step(question.end),
        )

    @torch.inference_mode()
    def place(self, question: Question, name: str) -> Answer:
        """Return the answer of a name, wherever it stands among all, as `complete` has it with a large `top`."""
        piece = question.open_piece()
        candidate, facts = self._candidate(piece, name), self._facts([question], piece)
        found = self._score(piece, facts)
        own, columns = found.scores[0, candidate], torch.tensor([[candidate]])
        if own == -torch.inf:
            raise QuestionError(f"{name!r} is not among the answers")
        better, equal = found.scores[0] > own, found.scores[0, :candidate] == own  # ties stand in the order of ids
        terms = self._all_terms(piece, facts, columns, found.scores)
        rank = 1 + int(better.sum()) + int(equal.sum())
        return self._one_answer(piece, (0, candidate), rank, found, {key: float(term) for key, term in terms.items()})

    def _candidate(self, piece: Piece, name: str) -> int:
        """Return the id of a name, or the step of a time, that stands for an open piece."""
        if piece == "time":
            return self.dataset.timeline.step(name)
        return (self.dataset.predicates if piece == "predicate" else self.dataset.entities).id(name)

    def _score(self, piece: Piece, facts: Facts) -> _Scored:
        scores = score_pieces(self.model, self.dataset, piece, facts, self.judge.score)  # (facts, candidates)
        splits = {split: self._known_mask(split, piece, facts, scores) for split in SPLITS}
        still_open = scores.masked_fill(splits["train"] | splits["valid"], -torch.inf)
        return _Scored(scores, still_open, torch.softmax(still_open / self.temperatures[piece], dim=1), splits)

    def _answer(self, piece: Piece, facts: Facts, top: int, known: Known) -> list[list[Answer]]:
        found = self._score(piece, facts)
        shown = found.still_open if known == "hide" else found.scores
        # ties stand in the order of ids, so that the first answers are the same however many are asked for
        ordered = shown.sort(dim=1, descending=True, stable=True)
        best, columns = ordered.values[:, :top], ordered.indices[:, :top]
        terms = self._all_terms(piece, facts, columns, found.scores)
        return [
            [
                self._one_answer(
                    piece, (row, int(column)), place + 1, found,
                    {name: float(values[row, place]) for name, values in terms.items()},
                )
                for place, column in enumerate(columns[row])
                if best[row, place] > -torch.inf
            ]
            for row in range(len(facts))
        ]  # fmt: skip

    def _one_answer(
        self, piece: Piece, at: tuple[int, int], rank: int, found: _Scored, terms: dict[str, float]
    ) -> Answer:
        known = next((split for split in SPLITS if bool(found.splits[split][at])), None)
        return Answer(
            rank=rank,
            name=self._label(piece, at[1]),
            score=float(found.scores[at]),
            confidence=None if known in ("train", "valid") else float(found.confidence[at]),
            known=known,
            terms=terms,
        )

    def _all_terms(self, piece: Piece, facts: Facts, columns: Tensor, scores: Tensor) -> dict[str, Tensor]:
        """Return the terms that add up to the scores of the chosen candidates, (facts, chosen)."""
        terms = self._terms(piece, facts, columns)
        if self.judge.stages is not None and piece in ("subject", "object"):
            terms["combiner"] = scores.gather(1, columns) - torch.stack(list(terms.values())).sum(0)
        return terms

    def _known_mask(self, split: str, piece: Piece, facts: Facts, scores: Tensor) -> Tensor:
        """Return which candidates the facts of a split know already, (facts, candidates)."""
        if (split, piece) not in self._known:
            self._known[split, piece] = KnownPieces(self.dataset, piece, self.dataset.split(split))
        mask = torch.zeros(scores.shape, dtype=torch.bool)
        row, column = self._known[split, piece].find(facts)
        mask[torch.from_numpy(row), torch.from_numpy(column)] = True
        return mask

    def _terms(self, piece: Piece, facts: Facts, columns: Tensor) -> dict[str, Tensor]:
        """Return each weighted term of the score of the chosen candidates, (facts, chosen)."""
        filled = facts.take(np.repeat(np.arange(len(facts)), columns.shape[1]))
        chosen = columns.reshape(-1).numpy()
        columns_filled = ("start", "end") if piece == "time" else (piece,)
        filled = replace(filled, **dict.fromkeys(columns_filled, chosen))
        if piece == "subject":
            filled = turn(filled, self.dataset)
        return {
            term.name: term.weight * term.scores[:, 0].view(columns.shape) for term in score_terms(self.model, filled)
        }

    def _label(self, piece: Piece, candidate: int) -> str:
        if piece == "predicate":
            return self.dataset.predicates.name(candidate)
        if piece == "time":
            return self.dataset.timeline.label(candidate)
        return self.dataset.entities.name(candidate)


def _temperatures(run: RunFolder) -> dict[str, float]:
    """Return the temperature of each piece by the report of a run; 1 for all without one."""
    if not run.report_file.exists():
        return dict.fromkeys(PIECES, 1.0)
    found = temperatures_in(run.report())
    if found is None:
        raise RunError(f"{run.report_file}: has no temperatures; make it anew with foretime train --resume {run.path}")
    return found
