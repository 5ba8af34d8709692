"""What the re-ranker is worth, by what it is fitted on and by which features it has: all on valid.

    python -m benchmarks.reranker_choices runs/icews14-lcge-evidence

The run must have a re-ranker fitted on a fold of train (`reranker.fit` is `fold` or `refit`). Features are extracted
once for the fold and once for valid; then re-rankers are fitted on the fold with some features left out, and on four
fifths of valid to rank the fifth. Two are controls: one has exact counts, and so can recognise a fact of the fold by its
absence from its own counts (`foretime.reranker.quantising`); one cheats: it is given how often a candidate is an object
of the predicate in *all* splits, the facts in question among them. It shows what such a leak would bring, and is used
nowhere. What is in the file of results already is not fitted again, so the command can be interrupted and repeated;
delete the file to begin anew.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.candidate_features import CandidateFeatures, candidate_features
from foretime.data.facts import Facts
from foretime.data.graph import Graph
from foretime.evaluation import AnswerIndex, Metrics
from foretime.evaluation.groups import KINDS, kinds_of
from foretime.files import write_json
from foretime.models import Model
from foretime.reranker.features.extractor import FeatureExtractor, Features
from foretime.reranker.folds import folds_of
from foretime.reranker.trees import fit
from foretime.runs.folder import RunFolder
from foretime.runs.loading import load_base_model, load_model

RESULTS = Path(__file__).parent / "results"
FAMILIES = {
    "embeddings": ("event", "commonsense"),
    "evidence": ("evidence",),
    "pair": ("pair_", "same_", "inverse_"),
    "object": ("object_",),
    "activity": ("active_", "events", "partners"),
    "affinity and paths": ("affinity", "common_partners", "path_"),
    "shared neighbours": ("shared_neighbours",),
    "names": ("name_",),
    "subject and predicate": ("subject_", "predicate"),
}
"""Groups of features by how their names begin."""


def main() -> None:
    """Fit and rank, print, and write a file for each run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--trees", type=int, default=150)
    parser.add_argument("--quick", action="store_true", help="only the whole re-ranker, on fold and on valid")
    arguments = parser.parse_args()
    torch.set_num_threads(2)
    bench = Bench(arguments.run, arguments.trees)
    bench.whole()
    if not arguments.quick:
        bench.families()
        bench.sizes()


class Bench:
    """The features of a run, and what has been found with them."""

    def __init__(self, path: Path, trees: int) -> None:
        run = RunFolder.open(path)
        config, self.graph = run.config(), run.graph()
        self.config = config.reranker.model_copy(update={"trees": trees})
        self.model = load_model(run, config, self.graph)
        self.extractor = FeatureExtractor.of(self.graph, self.model, config.evidence)
        self.part = folds_of(self.graph, config)
        self.apart = (
            self.model
            if config.reranker.fit == "fold"
            else load_base_model(run.fold(0), config, self.graph, run.rules(self.graph))
        )
        self.fold, self.valid = self._fold_and_valid(self.extractor)
        self.known = AnswerIndex.of(self.graph, config.training.filter)
        head = {"run": path.name, "trees": trees, "top": config.reranker.top}
        self.file = RESULTS / f"reranker_{path.name}.json"
        before: dict[str, Any] = json.loads(self.file.read_text(encoding="utf-8")) if self.file.exists() else {}
        self.found = before if head.items() <= before.items() else head

    def _fold_and_valid(self, extractor: FeatureExtractor) -> tuple[CandidateFeatures, CandidateFeatures]:
        train = self.graph.train
        left_out, seen = train.take(self.part == 0), train.take(self.part != 0)
        fold = self._described(self.apart, extractor, left_out, seen)
        return fold, self._described(self.model, extractor, self.graph.valid, train)

    def _described(self, model: Model, extractor: FeatureExtractor, facts: Facts, seen: Facts) -> CandidateFeatures:
        predicates = len(self.graph.predicates)
        known = AnswerIndex(seen.with_inverses(predicates))
        return candidate_features(model, extractor, facts.with_inverses(predicates), known, self.config.top)

    def whole(self) -> None:
        """The base model, the re-ranker of the fold, that of four fifths of valid, and the controls."""
        score = self.valid.column("score")
        leaked = self.valid.with_column("leak", counts_of_all_splits(self.graph, self.valid))
        self._note("base model", lambda: score)
        self._note("fitted on a fold of train", lambda: self._fitted(self.fold, self.valid))
        exact = "control: fitted on a fold of train, exact counts"
        self._note(exact, lambda: self._fitted(*self._fold_and_valid(replace(self.extractor, exact=True))))
        self._note("fitted on valid (five folds)", lambda: self._crossed(self.valid))
        leak = "control: fitted on valid (five folds), counts of all splits leaked in"
        self._note(leak, lambda: self._crossed(leaked))

    def families(self) -> None:
        """Each family of features left out, and the scores alone."""
        for family, starts in FAMILIES.items():
            without = [n for n in self.fold.names if not n.startswith(starts)]
            if without == self.fold.names:  # a graph of events has no shared neighbours
                continue
            self._note(f"without {family}", partial(self._fitted, self.fold, self.valid, without))
        scores = [n for n in self.fold.names if n.startswith(("score", "log_p", "position", "event ", "evid", "comm"))]
        self._note("scores of the base model only", lambda: self._fitted(self.fold, self.valid, scores))

    def sizes(self) -> None:
        """A quarter and a half of the fold, fewer trees and more leaves."""
        for share in (0.25, 0.5):
            self._note(f"{share:.0%} of the fold", partial(self._fitted, self.fold.first(share), self.valid))
        for change in ({"trees": 100}, {"trees": 400}, {"leaves": 63}, {"learning_rate": 0.05, "trees": 400}):
            kept, self.config = self.config, self.config.model_copy(update=change)
            self._note(", ".join(f"{k} {v}" for k, v in change.items()), lambda: self._fitted(self.fold, self.valid))
            self.config = kept

    def _fitted(
        self, fold: CandidateFeatures, asked: CandidateFeatures, names: list[str] | None = None
    ) -> NDArray[np.float64]:
        names = names or fold.names
        return fit([fold.examples(names)], self.config, 0, 2).trees.score(asked.columns(names))

    def _crossed(self, asked: CandidateFeatures) -> NDArray[np.float64]:
        scores = np.empty(len(asked.question))
        part = np.random.default_rng(0).permutation(asked.questions) % 5
        for number in range(5):
            inside = part[asked.question] == number
            reranker = fit([asked.of_questions(part != number).examples(asked.names)], self.config, 0, 2)
            scores[inside] = reranker.trees.score(asked.values[inside])
        return scores

    def _note(self, name: str, score: Callable[[], NDArray[np.float64] | Features]) -> None:
        """Rank by the scores and keep the figures, unless an earlier call has them."""
        if name in self.found:
            return
        began = time.monotonic()
        ranks = self.valid.ranks(np.asarray(score(), dtype=np.float64), self.known)
        kind = kinds_of(self.valid.facts, self.graph)
        kinds = {label: round(Metrics.of(ranks[kind == k]).mrr, 4) for k, label in enumerate(KINDS)}
        self.found[name] = {"valid_mrr": round(Metrics.of(ranks).mrr, 4), "kinds": kinds}
        write_json(self.file, self.found)  # after each: all of them take long
        print(f"{name:60} {self.found[name]['valid_mrr']:.4f}  ({time.monotonic() - began:.0f} s)", flush=True)


def counts_of_all_splits(graph: Graph, asked: CandidateFeatures) -> Features:
    """Return how often each candidate is an object of the question's predicate in train, valid and test together."""
    facts = graph.facts().with_inverses(len(graph.predicates))
    keys, count = np.unique(facts.predicate * len(graph.entities) + facts.object, return_counts=True)
    wanted = asked.predicate[asked.question] * len(graph.entities) + asked.object
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, count[place], 0).astype(np.float32)


if __name__ == "__main__":
    main()
