"""Ways to fit the models of predicate and time, fitted on train and compared on valid; test is not looked at.

    python -m benchmarks.slot_choices RUN [--facts 8000] [--asked 2000] [--threads 1]
                                      [--out benchmarks/results/slot_choices.json]

kept               what foretime does, but for the number of facts
long steps         no largest step of a tree, and a learning rate of 0.07
fewer features     no normalised probability of the predicate, no close neighbours, no events of others named alike
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from foretime.config import Config, override
from foretime.data.facts import Facts
from foretime.data.graph import Graph
from foretime.evaluation.calibration import Calibration
from foretime.evaluation.groups import PairHistory
from foretime.evaluation.metrics import Metrics
from foretime.evaluation.slot_questions import kinds_for
from foretime.evaluation.slot_reports import rank_slot
from foretime.evaluation.slots import Slot
from foretime.evidence.index import build_index
from foretime.files import write_json
from foretime.reranker.features.names import name_words
from foretime.reranker.slots.extractors import EXTRACTORS, SlotExtractor
from foretime.reranker.slots.fitting import examples_of
from foretime.reranker.slots.model import SlotModel
from foretime.reranker.slots.tables import FOLDS, TableFitter
from foretime.reranker.slots.trees import BOOSTING, SlotExamples, fit_trees
from foretime.runs.folder import RunFolder

LONG_STEPS: Mapping[str, float] = {"learning_rate": 0.07, "min_sum_hessian_in_leaf": 1.0}
NEW = ("log_probability", "subject_close", "object_close", "subject_same_alike", "object_same_alike", "alike")
SLOTS: tuple[Slot, ...] = ("predicate", "time")


class Way(NamedTuple):
    """How trees are fitted, and how the names of the features begin that are left out."""

    boosting: Mapping[str, float] = BOOSTING
    without: tuple[str, ...] = ()


WAYS: dict[Slot, dict[str, Way]] = {
    "predicate": {"kept": Way(), "long steps": Way(LONG_STEPS)},
    "time": {"kept": Way(), "long steps": Way(LONG_STEPS), "fewer features": Way(without=NEW)},
}


def main() -> None:
    """Fit, print and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("--facts", type=int, default=8_000)
    parser.add_argument("--asked", type=int, default=2_000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    folder = RunFolder.open(asked.run)
    graph, config = folder.graph(), override(folder.config(), {"training.threads": asked.threads})
    draw = np.random.default_rng(0)
    some = graph.valid.take(draw.permutation(len(graph.valid))[: asked.asked])
    found: dict[str, Any] = {"data": graph.name, "facts": asked.facts, "asked": len(some)}
    extractors, fold = _extractors(graph, config)
    for slot in SLOTS:
        *without, whole = extractors[slot]
        chosen = draw.permutation(len(graph.train))[: asked.facts]
        examples = examples_of(slot, without, graph, chosen, fold)
        for name, way in WAYS[slot].items():
            model = _fit(whole, examples, way, config)
            found.setdefault(slot, {})[name] = figures(model, graph, slot, some)
            print(f"{slot}, {name}: {found[slot][name]}", flush=True)
    if asked.out:
        write_json(asked.out, found)


def _extractors(graph: Graph, config: Config) -> tuple[dict[Slot, list[SlotExtractor]], np.ndarray]:
    """Return the extractors of each slot without each fold, and with all, and the fold of each training fact."""
    words, index = name_words(graph.entities, graph.train, len(graph.predicates)), build_index(graph, config.evidence)
    fold = np.random.default_rng([0, FOLDS]).permutation(len(graph.train)) % FOLDS
    softmaxes = TableFitter(graph, index, words, 0).fit_predicates(fold)
    return {slot: [EXTRACTORS[slot](index, words, one) for one in softmaxes] for slot in SLOTS}, fold


def _fit(extractor: SlotExtractor, examples: SlotExamples, way: Way, config: Config) -> SlotModel:
    kept = [place for place, name in enumerate(extractor.names) if not name.startswith(way.without or "-")]
    names = tuple(extractor.names[place] for place in kept)
    fewer = examples._replace(features=[piece[:, kept] for piece in examples.features])
    trees = fit_trees(names, fewer, config.reranker, config.training.seed, config.training.threads, way.boosting)
    return SlotModel(replace(extractor, fitted_on=names), trees)


def figures(model: SlotModel, graph: Graph, slot: Slot, facts: Facts) -> dict[str, float]:
    """Return how well a model ranks the true answers of facts, and −ln of the probability that its softmax gives them."""
    plain = Calibration.of_temperature(1.0, len(kinds_for(slot)))
    ranked = rank_slot(lambda _, batch: model.score(batch), graph, slot, facts, plain, PairHistory(graph))
    metrics = Metrics.of(ranked.ranks.realistic)
    means = {name: round(float(metrics[name]), 4) for name in ("mrr", "hits@1", "hits@10")}
    return {**means, "log loss": round(float(ranked.believed.log_loss.mean()), 4)}


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
