"""What counting alone reaches on valid: a model without time has no excuse to stay below it.

    python -m benchmarks.counting icews14 wikidata12k

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
from foretime.data.facts import Facts, Ids
from foretime.data.graph import Graph, read_graph
from foretime.evaluation import AnswerIndex, Metrics, questions_of, rank
from foretime.files import write_json

RESULTS = Path(__file__).parent / "results"


class Counts:
    """How often train has each object with a subject and a predicate, with the subject, and with the predicate."""

    def __init__(self, graph: Graph) -> None:
        self.predicates, self.entities = 2 * len(graph.predicates), len(graph.entities)
        train = graph.train.with_inverses(len(graph.predicates))
        self.tables = [self._table(rows, train.object) for rows in self._rows(train)]
        _, most_of_pair, most_under_predicate = (table.max() for table in self.tables)
        # whole numbers in double precision: what comes later never outweighs what comes first
        self.weights = ((most_of_pair + 1) * (most_under_predicate + 1), most_under_predicate + 1, 1.0)

    def score(self, questions: Facts) -> Tensor:
        """Return the scores of all entities, (questions, entities)."""
        each = zip(self.weights, self.tables, self._rows(questions), strict=True)
        return torch.from_numpy(sum(weight * table[rows].toarray() for weight, table, rows in each))

    def _rows(self, facts: Facts) -> tuple[Ids, Ids, Ids]:
        return facts.subject * self.predicates + facts.predicate, facts.subject, facts.predicate

    def _table(self, rows: Ids, objects: Ids) -> csr_matrix:
        shape = (self.entities * self.predicates, self.entities)
        return csr_matrix((np.ones(len(rows), dtype=np.float64), (rows, objects)), shape=shape)


def main() -> None:
    """Rank valid of each data set by counts, print and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="+", help="names or folders of data sets")
    for graph in parser.parse_args().graphs:
        graph = read_graph(graph, DataConfig(path=graph))
        counts, predicates = Counts(graph), len(graph.predicates)
        ranks = rank(counts.score, questions_of(graph.valid, predicates), AnswerIndex.of(graph, "exact")).realistic
        found = Metrics.of(ranks)
        write_json(RESULTS / f"counting_{graph.name}.json", found.to_dict())
        print(f"{graph.name}: {found.questions:,} questions, MRR {found.mrr:.4f}")


if __name__ == "__main__":
    main()
