"""The evaluation of a scorer on a split: metrics with an interval, by direction, entities, distance and predicate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from foretime.data.facts import Facts
from foretime.data.graph import Graph
from foretime.evaluation.filters import AnswerIndex, FilterName, facts_of_questions, questions_of
from foretime.evaluation.groups import PairHistory, by_direction, by_entities, by_horizon, by_kind, by_predicate
from foretime.evaluation.metrics import Metrics, table_of
from foretime.evaluation.protocols import FORECASTS, PROTOCOLS, EvaluationProtocol
from foretime.evaluation.ranks import Ranks, ScoreFunction, questions_at_once, rank
from foretime.evaluation.reliability_plot import check_plot_file, plot_reliability
from foretime.evaluation.resampling import bootstrap, sum_by_fact
from foretime.evaluation.slot_reports import SlotEvaluation
from foretime.tables import Table, Tabular

GROUPS = {
    "all": "all questions",
    "objects": "objects asked for",
    "subjects": "subjects asked for",
    "seen": "entities seen in train",
    "unseen": "an entity unseen in train",
}
RELIABILITY = ("questions", "ece", "ece_by_chance", "brier", "log_loss")
_NONE = Metrics.of(np.empty(0))


@dataclass(frozen=True, repr=False)
class Evaluation(Tabular):
    """The metrics of one split under one filter, of all questions and by group.

    It is shown, and `to_frame()` gives it, with one row for each group; `evaluation.by_predicate` and
    `evaluation.by_distance` are tables too, and `evaluation.all["hits@10"]` is one number.
    """

    split: str
    filter: str
    all: Metrics
    mrr_interval: tuple[float, float]
    """The 95 % bootstrap interval of the MRR over facts."""
    optimistic_mrr: float
    """The MRR if every tie were won."""
    pessimistic_mrr: float
    objects: Metrics = _NONE
    subjects: Metrics = _NONE
    seen: Metrics = _NONE
    unseen: Metrics = _NONE
    protocol: str = ""
    """What the questions could see: `completion`, `single-step` or `multi-step`; empty where a report does not say."""
    kinds: Mapping[str, Metrics] = field(default_factory=dict)
    """By how far in time the nearest training event of subject and answer is; in forecasts, the last event seen."""
    horizons: Mapping[str, Metrics] = field(default_factory=dict)
    """By how many steps after the last evidence the question is, under `multi-step`."""
    predicates: Mapping[str, Metrics] = field(default_factory=dict)
    """The most frequent first."""
    calibration_error: Mapping[str, float] = field(default_factory=dict)
    """The expected calibration error of each slot, where it was measured."""
    slots: Mapping[str, SlotEvaluation] = field(default_factory=dict)
    """Each slot beside counting, and how far its probabilities can be believed."""
    base_model: Evaluation | None = None
    """The same without the re-ranker, where there is one."""

    @classmethod
    def of(
        cls,
        ranks: Ranks,
        questions: Facts,
        graph: Graph,
        split: str,
        filter_name: FilterName,
        protocol: EvaluationProtocol | None = None,
    ) -> Evaluation:
        """Return the evaluation of ranks; `questions` are those that `questions_of` makes of the split.

        Without a protocol it is one of completion.
        """
        asked = protocol or EvaluationProtocol("completion", PairHistory(graph))
        values, fact = ranks.realistic, facts_of_questions(graph.facts(split), filter_name)
        low, high = bootstrap(*sum_by_fact(values, fact, ["mrr"]))[0].tolist() if len(fact) else (0.0, 0.0)

        def metrics(groups: Mapping[str, Any]) -> dict[str, Any]:
            return {name: Metrics.of(values[rows]) for name, rows in groups.items()}

        return cls(
            split=split,
            filter=filter_name,
            all=Metrics.of(values),
            mrr_interval=(low, high),
            optimistic_mrr=Metrics.of(ranks.optimistic).mrr,
            pessimistic_mrr=Metrics.of(ranks.pessimistic).mrr,
            protocol=asked.name,
            kinds=metrics(by_kind(questions, asked.history)),
            horizons={} if asked.last_step is None else metrics(by_horizon(questions, asked.last_step)),
            predicates=metrics(by_predicate(questions, graph)),
            **metrics(by_direction(questions, graph)),
            **metrics(by_entities(questions, graph)),
        )

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Evaluation:
        """Return the evaluation of a split in `report.json`; a group that is missing there has no questions."""
        found: dict[str, Any] = {name: Metrics.from_dict(values[name]) for name in GROUPS if name in values}
        for name in ("kinds", "horizons", "predicates"):
            found[name] = {key: Metrics.from_dict(one) for key, one in values.get(name, {}).items()}
        for name in ("optimistic_mrr", "pessimistic_mrr"):
            found[name] = values.get(name, found["all"].mrr)
        low, high = values["mrr_interval"]
        shared = {"split": values["split"], "filter": values["filter"], "protocol": values.get("protocol", "")}
        base = cls.from_dict(shared | values["base_model"]) if values.get("base_model") else None
        errors = dict(values.get("calibration_error", {}))
        slots = {name: SlotEvaluation.from_dict(one) for name, one in values.get("slots", {}).items()}
        ends: dict[str, Any] = {"mrr_interval": (low, high), "calibration_error": errors}
        return cls(**shared, **found, **ends, slots=slots, base_model=base)

    def to_dict(self) -> dict[str, Any]:
        """Return the evaluation as plain values for JSON, as a split has it in `report.json`."""
        found: dict[str, Any] = {"split": self.split, "filter": self.filter, "protocol": self.protocol}
        found |= {name: getattr(self, name).to_dict() for name in GROUPS}
        found |= {name: getattr(self, name) for name in ("mrr_interval", "optimistic_mrr", "pessimistic_mrr")}
        for name in ("kinds", "horizons", "predicates"):
            found[name] = {key: metrics.to_dict() for key, metrics in getattr(self, name).items()}
        if self.calibration_error:
            found["calibration_error"] = dict(self.calibration_error)
        if self.slots:
            found["slots"] = {name: one.to_dict() for name, one in self.slots.items()}
        return found | ({"base_model": self.base_model.to_dict()} if self.base_model else {})

    @property
    def is_forecast(self) -> bool:
        """Whether the questions could see nothing but the past."""
        return self.protocol in FORECASTS

    @property
    def protocol_meaning(self) -> str:
        """What the protocol lets a question see, in a sentence."""
        return PROTOCOLS.get(self.protocol, "")

    def table(self) -> Table:
        """Return one row for each group of questions that is not empty: all, by direction, by entities."""
        return self._table("group", {about: getattr(self, name) for name, about in GROUPS.items()})

    @property
    def by_predicate(self) -> Table:
        """One row for each predicate, the most frequent first."""
        return self._table("predicate", self.predicates)

    @property
    def by_distance(self) -> Table:
        """One row for each distance in time of the nearest training event of subject and answer.

        In forecasts it is the last event that the question could see.
        """
        return self._table("last event seen" if self.is_forecast else "nearest event in train", self.kinds)

    @property
    def by_horizon(self) -> Table:
        """One row for each distance in time from the last evidence; empty unless the protocol is `multi-step`."""
        return self._table("after the last evidence", self.horizons)

    @property
    def by_slot(self) -> Table:
        """Two rows for each slot: how the run answers it, and how counting does."""
        rows = [
            {"slot": slot, "by": by, **figures.row()}
            for slot, found in self.slots.items()
            for by, figures in (("run", found.model), ("counting", found.counting))
            if figures is not None
        ]
        return table_of(rows, f"{self.split}, by slot")

    @property
    def calibration(self) -> Table:
        """The reliability of each slot, of all its questions and by their kind as they are asked."""
        rows = [
            {"slot": slot, "kind": kind, **{name: getattr(one, name) for name in RELIABILITY}}
            for slot, found in self.slots.items()
            if found.reliability is not None
            for kind, one in {"all": found.reliability, **found.reliability.kinds}.items()
        ]
        return table_of(rows, f"{self.split}, probabilities")

    @staticmethod
    def check_plot_file(file: Path | str) -> None:
        """Raise an error if no plot can be written to a file: its ending is another, or matplotlib is not installed."""
        check_plot_file(Path(file))

    def plot_reliability(self, file: Path | str) -> None:
        """Draw how often best answers are right against their probability, for each slot, into an .svg or .png file.

        Raises `ForetimeError` if matplotlib is not installed or the evaluation has no slots.
        """
        plot_reliability({slot: one.reliability for slot, one in self.slots.items() if one.reliability}, Path(file))

    def _table(self, head: str, groups: Mapping[str, Metrics]) -> Table:
        rows = [{head: name, **metrics.to_dict()} for name, metrics in groups.items() if metrics.questions]
        return table_of(rows, f"{self.split}, filter {self.filter}")


def evaluate(
    scorer: ScoreFunction,
    graph: Graph,
    split: str = "test",
    filter_name: FilterName = "exact",
    batch_size: int | None = None,
    protocol: EvaluationProtocol | None = None,
) -> Evaluation:
    """Return the evaluation of a scorer on a split of the graph, by the one protocol that every figure here follows.

    Without a `batch_size` as many questions are scored together as `questions_at_once` says.
    """
    questions = questions_of(graph.facts(split), len(graph.predicates), filter_name)
    ranks = rank(
        scorer, questions, AnswerIndex.of(graph, filter_name), batch_size or questions_at_once(len(graph.entities))
    )
    return Evaluation.of(ranks, questions, graph, split, filter_name, protocol)


def evaluations_in(report: Mapping[str, Any]) -> dict[str, Evaluation]:
    """Return the evaluation of each split that a `report.json` has."""
    return {name: Evaluation.from_dict(report[name]) for name in ("valid", "test") if report.get(name)}


def metrics_table(evaluations: Mapping[str, Evaluation]) -> Table:
    """Return one row for each evaluation, and one for its base model where there is a re-ranker.

    `ece` is the expected calibration error of objects.
    """
    rows = []
    for name, whole in evaluations.items():
        models = {"re-ranked": whole, "base model": whole.base_model} if whole.base_model else {None: whole}
        for model, found in models.items():
            questions, mrr, *others = found.all.to_dict().items()
            cells = [questions, mrr, ("mrr_interval", found.mrr_interval), *others]
            rows.append({"split": name, "model": model, **dict(cells), "ece": found.calibration_error.get("object")})
    return table_of(rows)
