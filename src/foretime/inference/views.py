"""A run seen otherwise: as of an earlier day, or on another graph; the run itself stays as it is."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from foretime.config import Config
from foretime.data.facts import concatenate
from foretime.data.graph import Graph
from foretime.data.growth import happened, until
from foretime.errors import DataError, QuestionError
from foretime.evaluation import Evaluation, FilterName
from foretime.evaluation.slots import Slot
from foretime.inference.answers import AlreadyKnown, Answers, Question, Time
from foretime.inference.evidence_source import EvidenceSource
from foretime.inference.explanation.explanation import Explanation
from foretime.inference.missing import MissingEmbeddings
from foretime.inference.predictor import Predictor
from foretime.inference.questions import answer_file
from foretime.reranker.carrying import carry_scorer, unmatched
from foretime.reranker.other_evidence import EvidenceFilter, looks_up_events
from foretime.runs.evaluation import evaluate_split
from foretime.runs.protocols import ask

By = Literal["happened", "known"]
"""Whether the day on which an event happened counts, or the one on which it was known."""


class RunView:
    """Predicts, explains and evaluates like a run, over other facts.

    `note` says what is different. `unmatched` are the predicates of another graph that the run was not trained on.
    """

    def __init__(self, predictor: Predictor, config: Config, note: str, unmatched: Sequence[str] = ()) -> None:
        self.predictor, self._config, self.note, self.unmatched = predictor, config, note, tuple(unmatched)

    @property
    def graph(self) -> Graph:
        """The graph that is asked about."""
        return self.predictor.graph

    def predict(self, *, top: int = 10, already_known: AlreadyKnown = "mark", **slots: Any) -> Answers:
        """Return the best answers to a question; the parameters are those of `Run.predict`."""
        return self.predictor.predict(top=top, already_known=already_known, **slots)

    def predict_many(
        self, questions: Sequence[Question], *, top: int = 10, already_known: AlreadyKnown = "mark"
    ) -> list[Answers]:
        """Return the answers to many questions, which are scored together."""
        return self.predictor.predict_many(questions, top, already_known)

    def answer_file(
        self, questions: Path | str, out: Path | str, *, top: int = 10, already_known: AlreadyKnown = "mark",
        reasons: int = 0, note: Callable[[str], None] = warnings.warn,
    ) -> int:  # fmt: skip
        """Answer the questions of a file; the parameters are those of `Run.answer_file`."""
        return answer_file(self.predictor, Path(questions), Path(out), top, already_known, reasons, note)

    def explain(self, **question: object) -> Explanation:
        """Return why a fact has its score; the parameters are those of `Run.explain`."""
        return self.predictor.explainer.explain(**question)  # type: ignore[arg-type]

    def evaluate(self, split: str = "test", *, filter: FilterName | None = None) -> Evaluation:
        """Return the evaluation on a split of the graph, under the run's own filter or the given one."""
        if len(self.graph.facts(split)) == 0:
            raise DataError(f"{self.graph.name} has no {split} facts here; choose another split")
        chosen, predictor = filter or self._config.training.filter, self.predictor
        asked = ask(predictor.scorer, self.graph, self._config.evidence, split)
        return evaluate_split(asked, self.graph, split, chosen, predictor.calibrations)

    def __repr__(self) -> str:
        return f"RunView of {self.graph.name}: {self.note}"


def view_as_of(source: EvidenceSource, config: Config, day: Time, by: By) -> RunView:
    """Return a run as of a day: what happened on it or later, or was known only then, is not there."""
    if by not in ("happened", "known"):
        raise QuestionError(f"by is {by!r}; it may be 'happened' or 'known'")
    graph = source.predictor.graph
    tick = graph.timeline.tick(str(day))
    left = until(graph, tick, by == "known")
    facts = concatenate([left.facts(split) for split in source.splits])
    which = "were known" if by == "known" else "had happened"
    note = f"as of {day}: {len(facts):,} of {len(source.facts):,} events {which} before"
    if graph.has_intervals:
        at = _begin(source.splits, left)
        scorer = EvidenceFilter(source.predictor.scorer, left, facts, at).scorer()
    else:
        kept = np.concatenate([happened(graph, split, tick, by == "known") for split in source.splits])
        scorer = source.filter.scorer(None if kept.all() else kept)
    predictor = source.predictor.on(scorer, left)
    predictor.absent = _absent(left)
    return RunView(predictor, config, note)


def _absent(graph: Graph) -> dict[Slot, Tensor]:
    """Return which names of a graph have no fact in it, by slot; nothing if all have."""
    facts = graph.facts()
    entities = np.isin(np.arange(len(graph.entities)), np.append(facts.subject, facts.object), invert=True)
    predicates = np.isin(np.arange(len(graph.predicates)), facts.predicate, invert=True)
    found: dict[Slot, NDArray[np.bool_]] = {"subject": entities, "predicate": predicates, "object": entities}
    return {slot: torch.from_numpy(mask) for slot, mask in found.items() if mask.any()}


def view_on(trained: Predictor, config: Config, graph: Graph) -> RunView:
    """Return a run on another graph: its rules and trees, with the facts of that graph as evidence."""
    if not looks_up_events(trained.scorer):
        raise QuestionError(
            "this run looks up no events, so nothing that it has learned holds on another graph; train with --evidence"
        )
    missing = unmatched(graph, trained.graph.predicates)
    if len(missing) == len(graph.predicates):
        raise QuestionError(
            f"{graph.name} shares no predicate with {trained.graph.name}: predicates are matched by name; rename them"
        )
    facts = concatenate([graph.facts(split) for split in config.evidence.splits])
    scorer = carry_scorer(trained.scorer, graph, share_entities=False)
    predictor = trained.on(EvidenceFilter(scorer, graph, facts, _begin(config.evidence.splits, graph)).scorer(), graph)
    predictor.missing = MissingEmbeddings(trained.graph, shared=False)
    matched = len(graph.predicates) - len(missing)
    note = f"rules and trees of {trained.graph.name}; {matched:,} of {len(graph.predicates):,} predicates match"
    return RunView(predictor, config, note, missing)


def _begin(splits: Sequence[str], graph: Graph) -> int | None:
    """Return where the facts of train begin among those of some splits; nothing if they are not there."""
    if "train" not in splits:
        return None
    return sum(len(graph.facts(split)) for split in splits[: list(splits).index("train")])
