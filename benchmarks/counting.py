"""What counting alone reaches on valid: a model without time has no excuse to stay below it.

    python benchmarks/counting.py icews14 wikidata12k

A candidate o of (s, p, ?, t) is scored by how often train has (s, p, o) at any time; where that is equal, by how often it
has s and o under any predicate; and then by how often it has o under p. Nothing is learned, and time is not looked at.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor

from foretime.config import DataConfig
from foretime.data.dataset import Dataset, read_dataset
from foretime.data.facts import Facts, Ids
from foretime.evaluation import known_answers, questions_of, rank
from foretime.files import write_json

RESULTS = Path(__file__).parent / "results"
ORDER = (1.0, 1e-2, 1e-4)
"""What one event of (s, p, o) counts, one of s and o, and one of p and o."""


class Counts:
    """How often train has each object with a subject and a predicate, with the subject, and with the predicate."""

    def __init__(self, dataset: Dataset) -> None:
        self.predicates, self.entities = 2 * len(dataset.predicates), len(dataset.entities)
        train = dataset.train.with_inverses(len(dataset.predicates))
        self.tables = [self._table(rows, train.object) for rows in self._rows(train)]

    def score(self, questions: Facts) -> Tensor:
        """Return the scores of all entities, (questions, entities)."""
        each = zip(ORDER, self.tables, self._rows(questions), strict=True)
        return torch.from_numpy(sum(weight * table[rows].toarray() for weight, table, rows in each))

    def _rows(self, facts: Facts) -> tuple[Ids, Ids, Ids]:
        return facts.subject * self.predicates + facts.predicate, facts.subject, facts.predicate

    def _table(self, rows: Ids, objects: Ids) -> csr_matrix:
        shape = (self.entities * self.predicates, self.entities)
        return csr_matrix((np.ones(len(rows), dtype=np.float32), (rows, objects)), shape=shape)


def main() -> None:
    """Rank valid of each data set by counts, print and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="+", help="names or folders of data sets")
    for graph in parser.parse_args().graphs:
        dataset = read_dataset(graph, DataConfig(path=graph))
        counts, predicates = Counts(dataset), len(dataset.predicates)
        ranks = rank(counts.score, questions_of(dataset.valid, predicates), known_answers(dataset, "exact")).realistic
        found = {"mrr": float(np.mean(1.0 / ranks)), "questions": len(ranks)}
        found |= {f"hits@{k}": float(np.mean(ranks <= k)) for k in (1, 3, 10)}
        write_json(RESULTS / f"counting_{dataset.name}.json", found)
        print(dataset.name, ", ".join(f"{name} {value:.4g}" for name, value in found.items()))


if __name__ == "__main__":
    main()
