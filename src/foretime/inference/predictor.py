"""Answers: a question with one slot left open goes in as labels, ranked labelled candidates come out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np
import torch
from torch import Tensor

from foretime.data.facts import UNKNOWN, Facts, empty_facts
from foretime.data.graph import Graph
from foretime.data.growth import UPDATE, GrownGraph
from foretime.data.vocabulary import Vocabulary
from foretime.devices import fetch
from foretime.errors import QuestionError, RunError, told_as
from foretime.evaluation.groups import PairHistory
from foretime.evaluation.ranks import batches, questions_at_once
from foretime.evaluation.slot_questions import kinds_asked
from foretime.evaluation.slots import SLOTS, Slot, SlotIndex, inverted, score_terms
from foretime.evidence.module import EvidenceComponent, WithEvidence, evidence_of
from foretime.inference.answers import AlreadyKnown, Answer, Answers, Question, Time
from foretime.inference.missing import MissingEmbeddings
from foretime.inference.restricting import restricted
from foretime.inference.timeless import answer_timeless, place_timeless
from foretime.inference.two_slots import answer_two, place_two
from foretime.inference.understanding import Understanding
from foretime.models import Model
from foretime.reranker.scorer import Scorer
from foretime.runs.evaluation import Calibrations, softmax_at
from foretime.runs.finish import calibrations_in
from foretime.runs.folder import RunFolder
from foretime.runs.loading import load_scorer
from foretime.runs.protocols import pair_history

if TYPE_CHECKING:
    from foretime.inference.explainer import Explainer


KNOWN = ("train", "valid", UPDATE)
"""The splits whose answers are already known; those of test are what a run is measured by."""


class Scored(NamedTuple):
    """All candidates of some facts, (facts, candidates) each."""

    scores: Tensor
    still_open: Tensor
    """The scores, −∞ for what train or valid have."""
    probability: Tensor
    splits: dict[str, Tensor]
    """Which candidates each split has."""
    known: Tensor
    """Which candidates train, valid or an update have."""
    within: Tensor | None = None
    """How likely an answer is that each question allows, (facts,); None where all entities are."""


class Predictor:
    """Answers questions on labels with the best weights of a run."""

    def __init__(self, scorer: Scorer, graph: Graph, calibrations: Calibrations) -> None:
        self.scorer = scorer
        self.model = scorer.model
        self.graph = graph
        self.calibrations = calibrations
        self.missing: MissingEmbeddings | None = None
        self.understanding = Understanding(graph)
        self.absent: dict[Slot, Tensor] = {}
        """Names that are no candidates, (candidates,): as of a day, those that came later."""
        self._known: dict[tuple[str, Slot], SlotIndex] = {}
        self._added: dict[tuple[str, Slot], SlotIndex] = {}

    @classmethod
    def open(cls, run: RunFolder | Path | str, graph: Graph | None = None) -> Predictor:
        """Return the predictor of a run folder, whose graph may be there already.

        A run without a report answers with a probability that is not calibrated.
        """
        folder = run if isinstance(run, RunFolder) else RunFolder.open(run)
        with told_as(RunError, folder.path):
            graph = graph or folder.graph()
            return cls(load_scorer(folder, folder.config(), graph), graph, _calibrations(folder))

    @cached_property
    def _history(self) -> PairHistory:
        """What tells the kinds of questions."""
        return pair_history(self.model, self.graph)

    def on(self, scorer: Scorer, graph: Graph) -> Predictor:
        """Return a predictor with the same calibration by another scorer, on a graph with the same names."""
        other = Predictor(scorer, graph, self.calibrations)
        other.missing = self.missing
        return other

    def grown(self, scorer: Scorer, graph: GrownGraph) -> Predictor:
        """Return a predictor by another scorer, on a graph that has grown from this one: its facts stay indexed."""
        other = self.on(scorer, graph)
        other._history = self._history.grown(graph, graph.update)
        other.missing = MissingEmbeddings(self.graph) if has_embeddings(self.model) else None
        if graph.has_intervals == self.graph.has_intervals:
            other._known = self._known  # shared: whoever indexes a split of the training first does it for all
        return other

    @cached_property
    def explainer(self) -> Explainer:
        """The explainer of these answers."""
        from foretime.inference.explainer import Explainer  # it explains what is predicted here

        return Explainer(self)

    def predict(self, *, top: int = 10, already_known: AlreadyKnown = "mark", **slots: Any) -> Answers:
        """Return the best answers to one question, best first.

        `slots` are those of `Question`: all of subject, predicate, object and time but one, or but two; `type` and
        `where` restrict the answers.
        """
        return self.predict_many([Question(**slots)], top, already_known)[0]

    @torch.inference_mode()
    def predict_many(
        self, questions: Sequence[Question], top: int = 10, already_known: AlreadyKnown = "mark"
    ) -> list[Answers]:
        """Return the best answers to each question; questions for the same slot are scored together.

        A name that is not there but for one that differs only in its spelling, or as an alias, is taken for that one.
        """
        if top < 1:
            raise QuestionError(f"top is {top}; ask for at least 1 answer")
        if already_known not in get_args(AlreadyKnown):
            raise QuestionError(f"already_known is {already_known!r}; it may be 'mark' or 'hide'")
        targets = [question.targets for question in questions]
        understood = [self.understanding.read(question) for question in questions]
        questions = [one.question for one in understood]
        answers = [Answers(question, ()) for question in questions]
        timeless = {row for row, question in enumerate(questions) if question.is_timeless}
        for row in sorted(timeless):
            answers[row] = answer_timeless(self, questions[row], top, already_known)
        for row, both in enumerate(targets):
            if len(both) > 1 and row not in timeless:
                answers[row] = answer_two(self, questions[row], top, already_known)
        for slot in SLOTS:
            rows = [row for row, target in enumerate(targets) if target == (slot,) and row not in timeless]
            facts = self.facts_of([questions[row] for row in rows], slot)
            for part, batch in batches(facts, questions_at_once(len(self.graph.entities))):
                asked = [questions[row] for row in rows[part]]
                for row, found in zip(rows[part], self._answer(slot, asked, batch, top, already_known), strict=True):
                    answers[row] = found
        pairs = zip(answers, understood, strict=True)
        return [self.understanding.noted(self._noted(one), asked.taken) for one, asked in pairs]

    def check(self, question: Question) -> None:
        """Raise `QuestionError` if the question cannot be answered: an unknown name or type, a time out of range."""
        understood = self.understanding.read(question).question
        self.facts_of([understood], question.targets)
        self.understanding.allowed(understood)

    @property
    def forecasts(self) -> bool:
        """Whether times after the last one can be asked about: the evidence of the run needs only what was before."""
        evidence = evidence_of(self.model)
        return evidence is not None and evidence.past_only

    def step(self, time: Time) -> int:
        """Return the step of a time that a question gives; beyond the timeline if the run forecasts."""
        return self.graph.timeline.step(str(time), beyond=self.forecasts)

    def as_of(self, question: Question) -> Facts | None:
        """Return a question as ids at the times as of which it is looked at; nothing if these are its own.

        Only a question that lies far behind all events is looked at from elsewhere, and never one for a time.
        """
        index = self.scorer.index
        if index is None or question.is_timeless or "time" in question.targets:
            return None
        own = self.facts_of([question], question.targets)
        moved = index.facts_as_of(own)
        return None if np.array_equal(moved.known_ends(), own.known_ends()) else moved

    def facts_of(self, questions: list[Question], slot: Slot | tuple[Slot, ...] | None = None) -> Facts:
        """Return the questions as ids, 0 in the columns of the open slots; whole facts if none is open.

        Their names are those of the graph.
        """
        open_ = (slot,) if isinstance(slot, str) else slot or ()
        if not questions:
            return empty_facts()

        def ids(question: Question) -> Iterator[int]:
            for name in SLOTS[:3]:
                yield 0 if name in open_ else self._names(name).id(getattr(question, name))
            yield from (0, 0) if "time" in open_ else self._steps(question)

        rows = map(ids, questions)
        return Facts(*(np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)))

    def _steps(self, question: Question) -> tuple[int, int]:
        if question.time is not None and (question.start is not None or question.end is not None):
            raise QuestionError("give either a time, or a start and an end, not both")
        if question.is_timeless:
            return UNKNOWN, UNKNOWN
        ends = (question.start, question.end) if question.time is None else (question.time, question.time)
        start, end = (UNKNOWN if end is None else self.step(end) for end in ends)
        return start, end

    @torch.inference_mode()
    def place(self, question: Question, *names: str) -> Answer:
        """Return the answer of a name, wherever it stands among all, as `predict` has it with a large `top`.

        Where two slots are open, there are two names, in the order of `Question.targets`.
        """
        if question.is_timeless:
            return place_timeless(self, question, *names)
        if len(question.targets) > 1:
            return place_two(self, question, names)
        slot, (name,) = question.target, names
        candidate = self.graph.timeline.step(name) if slot == "time" else self.understanding.finder(slot).id(name)
        facts = self.facts_of([question], slot)
        found = restricted(self._score(slot, facts), self.understanding.allowed_rows([question]))
        own, columns = found.scores[0, candidate], torch.tensor([[candidate]])
        if own == -torch.inf:
            raise QuestionError(f"{name!r} is not among the answers{self._why_not(question)}")
        better, equal = found.scores[0] > own, found.scores[0, :candidate] == own  # ties stand in the order of ids
        terms = {key: float(term) for key, term in self._terms(slot, facts, columns, found.scores).items()}
        return self._one_answer(question, (0, candidate), 1 + int(better.sum()) + int(equal.sum()), found, terms)

    def _why_not(self, question: Question) -> str:
        """Return why an answer may be none."""
        return f", which have {question.restriction.words}; ask without that" if question.restriction else ""

    def _names(self, slot: Slot) -> Vocabulary:
        return self.graph.predicates if slot == "predicate" else self.graph.entities

    def _score(self, slot: Slot, facts: Facts) -> Scored:
        scores = fetch(self.scorer.score_slot(slot, facts))  # (facts, candidates)
        if slot in self.absent:
            scores = scores.masked_fill(self.absent[slot], -torch.inf)
        splits = {split: self._known_mask(split, slot, facts, scores) for split in self.graph.splits}
        known = torch.stack([mask for split, mask in splits.items() if split in KNOWN]).any(0)
        still_open = scores.masked_fill(known, -torch.inf)
        kind = kinds_asked(self._history, slot, facts, still_open)
        return Scored(scores, still_open, self.calibrations[slot].probabilities(still_open, kind), splits, known)

    def _answer(
        self, slot: Slot, questions: list[Question], facts: Facts, top: int, already_known: AlreadyKnown
    ) -> list[Answers]:
        found = restricted(self._score(slot, facts), self.understanding.allowed_rows(questions))
        shown = found.still_open if already_known == "hide" else found.scores
        # ties stand in the order of ids, so that the first answers are the same however many are asked for
        ordered = shown.sort(dim=1, descending=True, stable=True)
        best, columns = ordered.values[:, :top], ordered.indices[:, :top]
        terms = self._terms(slot, facts, columns, found.scores)

        def answer(row: int, place: int) -> Answer:
            own = {name: float(values[row, place]) for name, values in terms.items()}
            return self._one_answer(questions[row], (row, int(columns[row, place])), place + 1, found, own)

        shares = found.probability.gather(1, columns).sum(1)
        others = (found.probability.sum(1) - shares).clamp(min=0.0).tolist()
        within = [None] * len(questions) if found.within is None else found.within.tolist()
        listings = (
            tuple(answer(row, place) for place in shown.nonzero()[:, 0].tolist())
            for row, shown in enumerate(best > -torch.inf)
        )
        return [
            Answers(question, listed, other, allowed_probability=inside if question.restriction else None)
            for question, listed, other, inside in zip(questions, listings, others, within, strict=True)
        ]

    def _noted(self, answers: Answers) -> Answers:
        """Return answers with what a reader should know of them."""
        names = [name for one in answers for name in (one.names.values() or (one.name,))]
        notes = filter(None, [answers.note, self.note(answers.question, names)])
        return replace(answers, note="; ".join(notes) or None)

    def note(self, question: Question, names: Sequence[str]) -> str | None:
        """Return the names among the answers to a question without an embedding, and as of when it was asked."""
        notes = [] if self.missing is None else [self.missing.note(question, names)]
        if self.as_of(question) is not None:
            ends = self.facts_of([question], question.targets).known_ends()
            notes += list(dict.fromkeys(self.note_of_gap(int(end[0])) for end in ends))
        return "; ".join(filter(None, notes)) or None

    def note_of_gap(self, step: int) -> str | None:
        """Return as of when a question at a step is asked; nothing if it is asked at its own time."""
        index, label = self.scorer.index, self.graph.timeline.label
        seen = step if index is None else int(index.as_of(np.array([step]))[0])
        if index is None or index.max_gap is None or seen == step:
            return None
        return f"the last event before {label(step)} is of {label(seen - index.max_gap)}: asked as of {label(seen)}"

    def _one_answer(
        self, question: Question, at: tuple[int, int], rank: int, found: Scored, terms: dict[str, float]
    ) -> Answer:
        slot, candidate = question.target, at[1]
        known = next((split for split, mask in found.splits.items() if bool(mask[at])), None)
        return Answer(
            rank=rank,
            name=self.graph.timeline.label(candidate) if slot == "time" else self._names(slot).name(candidate),
            score=float(found.scores[at]),
            probability=None if known in KNOWN else float(found.probability[at]),
            already_known=known,
            terms=terms,
            source=(self, question),
        )

    def _known_mask(self, split: str, slot: Slot, facts: Facts, scores: Tensor) -> Tensor:
        """Return which candidates the facts of a split have already, (facts, candidates)."""
        indexed = self._added if split == UPDATE else self._known
        if (split, slot) not in indexed:
            indexed[split, slot] = SlotIndex(self.graph, slot, self.graph.facts(split))
        mask = torch.zeros(scores.shape, dtype=torch.bool)
        row, column = indexed[split, slot].find(facts)
        mask[torch.from_numpy(row), torch.from_numpy(column)] = True
        return mask

    def _terms(self, slot: Slot, facts: Facts, columns: Tensor, scores: Tensor) -> dict[str, Tensor]:
        """Return the terms that add up to the scores of the chosen candidates, (facts, chosen)."""
        open_columns = ("start", "end") if slot == "time" else (slot,)
        filled = facts.take(np.repeat(np.arange(len(facts)), columns.shape[1]))
        filled = replace(filled, **dict.fromkeys(open_columns, columns.reshape(-1).numpy()))
        model = self.scorer.for_slot(slot).model
        found = score_terms(model, inverted(filled, self.graph) if slot == "subject" else filled)
        terms = {term.name: fetch(term.weight * term.scores[:, 0]).view(columns.shape) for term in found}
        if self.scorer.is_reranked(slot):
            terms["reranker"] = scores.gather(1, columns) - torch.stack(list(terms.values())).sum(0)
        return terms


def has_embeddings(model: Model) -> bool:
    """Return whether a model has more to its score than evidence."""
    base = model.base if isinstance(model, WithEvidence) else model
    return not isinstance(base, EvidenceComponent) and any(True for _ in base.parameters())


def _calibrations(run: RunFolder) -> Calibrations:
    """Return the calibration of each slot by the report of a run; the softmax of the scores without one."""
    if not run.report_file.exists():
        return {slot: softmax_at(slot) for slot in SLOTS}
    found = calibrations_in(run.report())
    if found is None:
        raise RunError(f"{run.report_file}: has no calibration; make it anew with foretime train --resume {run.path}")
    return found
