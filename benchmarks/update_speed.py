"""Measures how long a run takes to let new events in, and how long its first answer after them takes.

    python -m benchmarks.update_speed icews05-15 --out benchmarks/results/update_speed.json

The run is made by hand: embeddings that read the latest events, evidence, trees and models of the slots have random weights, which cost
as much as trained ones. All facts but the last 30,000 are its train. The others come in three updates of 10,000, the
second with new entities, the third with new predicates too. A first answer is compared with the median of others.
Where other work shares the machine, the seconds of the processor say more than those of the clock.
"""

from __future__ import annotations

import foretime  # noqa: F401, first of all: it sets the environment before torch is imported

# isort: split
import argparse
import json
import os
import platform
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from foretime.config import EvidenceConfig, RerankerConfig
from foretime.data.facts import empty_facts
from foretime.data.graph import Graph, read_graph
from foretime.evaluation import AnswerIndex
from foretime.evaluation.slots import SLOTS
from foretime.evidence.index import build_index
from foretime.evidence.module import WithEvidence
from foretime.inference.answers import Question
from foretime.inference.living import LivingState
from foretime.inference.predictor import Predictor
from foretime.models import MODELS
from foretime.reranker.features.extractor import FeatureExtractor, score_each_term, shortlist_of
from foretime.reranker.scorer import RerankedModel, Scorer
from foretime.reranker.slots.extractors import extractors_of
from foretime.reranker.slots.intervals import lengths_of
from foretime.reranker.slots.model import SlotModel, SlotModels
from foretime.reranker.slots.softmax import PredicateSoftmax
from foretime.reranker.slots.traces import first_rows, table_size
from foretime.reranker.trees import Examples, Reranker, fit
from foretime.runs.evaluation import softmax_at

COUNT = 10_000
FAMILIES = ["pair", "object", "active", "affinity"]


def main() -> None:
    """Measure, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    found = measure(read_graph(arguments.data))
    found |= {"threads": arguments.threads, "cores": os.cpu_count(), "machine": platform.machine()}
    found |= {"load": round(os.getloadavg()[0], 1)}
    text = json.dumps(found, indent=2)
    print(text)
    if arguments.out:
        arguments.out.write_text(text + "\n", encoding="utf-8")


def measure(whole: Graph) -> dict[str, Any]:
    """Return the seconds of each update, and how much longer the first answer takes than others."""
    graph, rows = _parted(whole)
    with tempfile.TemporaryDirectory() as folder:
        living = LivingState(graph, ["train"], Path(folder), lambda: made_predictor(graph))
        asked = _questions(graph)
        usual = [_seconds(lambda q=question: living.predictor.predict_many([q])) for question in asked]
        found: dict[str, Any] = {"graph": whole.name, "events": len(graph.train), "new_events": COUNT}
        found["usual_answer_ms"] = _ms(float(np.median(usual[4:])))
        for place, name in enumerate(("old_names", "new_entities", "new_predicates")):
            new = [_renamed(row, place, number) for number, row in enumerate(rows[place * COUNT :][:COUNT])]
            worked = time.process_time()
            taken = _seconds(lambda new=new: living.add(new, {}, None))
            worked = time.process_time() - worked
            first = _seconds(lambda: living.predictor.predict_many(asked[:1]))
            others = [_seconds(lambda q=question: living.predictor.predict_many([q])) for question in asked]
            more = first - float(np.median(others[4:]))
            found[name] = {"update_seconds": round(taken, 2), "processor_seconds": round(worked, 2)}
            found[name]["first_answer_more_ms"] = _ms(more)
        reopened = LivingState(graph, ["train"], Path(folder), lambda: living.trained)
        found["opened_with_three_updates_seconds"] = round(_seconds(lambda: reopened.predictor), 2)
        found["undo_and_answer_seconds"] = round(_seconds(lambda: (living.undo(), living.predictor)), 2)
    return found


def made_predictor(graph: Graph) -> Predictor:
    """Return a predictor with random weights and trees of the usual sizes."""
    torch.manual_seed(0)
    sizes = len(graph.entities), 2 * len(graph.predicates), len(graph.timeline)
    index = build_index(graph, EvidenceConfig(use=True, families=FAMILIES))
    model = WithEvidence(MODELS["recent"](*sizes), index).eval()
    model.evidence.weights.data.normal_(0.0, 0.1)
    extractor = FeatureExtractor.of(graph, model, EvidenceConfig())
    known = AnswerIndex(graph.train.with_inverses(len(graph.predicates)))
    asked = graph.train.take(slice(8))
    with torch.inference_mode():
        terms = score_each_term(model, asked)
        shortlist = shortlist_of(torch.stack(list(terms.values())).sum(0), asked, known, 100)
        _, features = extractor.extract(terms, asked, shortlist)
    reranker = _trees(features.shape[1])
    scorer = Scorer(model, graph, RerankedModel(model, reranker, extractor, known), _slots(graph, extractor))
    return Predictor(scorer, graph, {slot: softmax_at(slot) for slot in SLOTS})


def _slots(graph: Graph, extractor: FeatureExtractor) -> SlotModels:
    events, names, count = extractor.index.events, extractor.names, len(graph.predicates)
    softmax = PredicateSoftmax(torch.randn(table_size(events, names), count) * 0.1)
    first = PredicateSoftmax(torch.randn(2 * first_rows(events, names), count) * 0.1)
    models = {
        slot: SlotModel(make(extractor.index, names, softmax), _trees(len(make.all_names)).trees)
        for slot, make in extractors_of(graph).items()
    }
    return SlotModels(models, softmax, first, lengths_of(graph.train, count))


def _trees(features: int) -> Reranker:
    draw, names = np.random.default_rng(0), [f"feature {number}" for number in range(features)]
    values, right = draw.random((2000, features)).astype(np.float32), (draw.random(2000) < 0.1).astype(np.int8)
    examples = Examples(names, values, right, np.full(100, 20))
    return fit([examples], RerankerConfig(top=100, leaf_candidates=20), seed=0, threads=2)


def _parted(whole: Graph) -> tuple[Graph, list[tuple[str, ...]]]:
    """Return a graph of all facts but the last ones, and those in names."""
    facts = whole.facts()
    order = np.argsort(facts.start, kind="stable")
    graph = replace(whole, train=facts.take(order[: -3 * COUNT]), valid=empty_facts(), test=empty_facts())
    return graph, list(replace(whole, train=facts.take(order[-3 * COUNT :])).rows("train"))


def _renamed(row: tuple[str, ...], place: int, number: int) -> tuple[str, ...]:
    subject, predicate, object_, time_ = row
    if place >= 1 and number % 100 == 0:
        subject = f"{subject} of round {place} {number}"
    if place == 2 and number % 1000 == 0:
        predicate = f"{predicate} {number}"
    return subject, predicate, object_, time_


def _questions(graph: Graph, count: int = 30) -> list[Question]:
    rows = list(
        replace(graph, train=graph.train.take(np.arange(len(graph.train) - count, len(graph.train)))).rows("train")
    )
    return [Question(subject=subject, predicate=predicate, time=time_) for subject, predicate, _, time_ in rows]


def _seconds(work: Any) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def _ms(seconds: float) -> float:
    return round(1000 * seconds, 1)


if __name__ == "__main__":
    main()
