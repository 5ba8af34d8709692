"""Whether a change of the house has left every rank, score and reason as it was: digests of runs, to the last bit.

    python -m benchmarks.same_ranks write FILE   makes the runs and writes their digests
    python -m benchmarks.same_ranks check FILE   makes the runs again and compares

With --real, icews14-rules is trained as well, on the real graph: about five minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch

from foretime.config import Config, read_config
from foretime.data.graph import Graph, read_graph
from foretime.data.synthetic import generate_world
from foretime.evaluation import AnswerIndex, questions_of, rank
from foretime.evidence.module import evidence_of
from foretime.evidence.reasons import ReasonFinder
from foretime.reranker.scorer import Scorer
from foretime.runs.life import train
from foretime.runs.loading import load_scorer
from foretime.training.settings import changed_config

SMALL = {
    "training.epochs": 3,
    "training.valid_every": 1,
    "model.rank": 8,
    "training.batch_size": 300,
    "training.threads": 1,
}
RULES = {"model.name": "rules", "evidence.use": True}
RERANKED = {"reranker.use": True, "reranker.folds": 4, "reranker.trees": 30, "reranker.top": 20}
VARIANTS = {
    "quick": {**RULES, **RERANKED, "training.epochs": 3, "training.valid_every": 3, "training.threads": 1},
    "balanced": {**SMALL, "evidence.use": True, **RERANKED},
    "best": {
        **SMALL,
        "evidence.use": True,
        **RERANKED,
        "reranker.fit": "out-of-fold",
        "reranker.fitted_folds": 2,
        "training.ensemble_size": 2,
    },
    "forecast": {**SMALL, "evidence.use": True, "evidence.past_only": True, **RERANKED},
    "lcge": {**SMALL, "penalties.event_rules": 1.0},
}
INTERVALS = {"intervals": {**SMALL, "evidence.use": True, **RERANKED, "training.boundary_relations": "separate"}}


def digest(*arrays: np.ndarray) -> str:
    """A short digest of the bytes of arrays."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


def digests(scorer: Scorer, graph: Graph) -> dict[str, str]:
    """Digests of the ranks of valid and test, of some scores, and of the reasons of some facts."""
    found = {}
    for split in ("valid", "test"):
        questions = questions_of(graph.facts(split), len(graph.predicates))
        ranks = rank(scorer.score, questions, AnswerIndex.of(graph, "exact"))
        found[split] = digest(ranks.optimistic, ranks.pessimistic)
    some = graph.test.take(slice(0, 40))
    with torch.inference_mode():
        found["scores"] = digest(scorer.score(some).numpy())
    evidence = evidence_of(scorer.model)
    if evidence is not None:
        finder = ReasonFinder(evidence.index, evidence.weights.detach().numpy())
        reasons = [
            reason for row in zip(*(c.tolist() for c in some.columns()), strict=True) for reason in finder.find(*row)
        ]
        values = sorted((r.group, r.body, r.value, r.contribution, r.count, sorted(r.events)[:3]) for r in reasons)
        found["reasons"] = hashlib.sha256(json.dumps(values).encode()).hexdigest()[:16]
    return found


def one(name: str, graph: Graph, config: Config, folder: Path) -> dict[str, str]:
    """Train in a folder and return the digests."""
    run = train(graph, config, folder / name)
    print(name, "trained", file=sys.stderr)
    return digests(load_scorer(run, run.config(), graph), graph)


def interval_rows(world: Path, out: Path) -> Path:
    """A graph of intervals made of a world: each event lasts for some days, some have no end."""
    out.mkdir()
    for split in ("train", "valid", "test"):
        lines = []
        for number, line in enumerate((world / f"{split}.tsv").read_text().splitlines()):
            subject, predicate, object_, time = line.split("\t")
            day = np.datetime64(time)
            end = "" if number % 7 == 0 else str(day + number % 40)
            lines.append("\t".join((subject, predicate, object_, time, end)))
        (out / f"{split}.tsv").write_text("\n".join(lines) + "\n")
    return out


def make(real: bool) -> dict[str, dict[str, str]]:
    """Make every run in a folder that is thrown away, and return their digests."""
    found = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        generate_world(events=4_000, seed=3).write(folder / "world")
        graph = read_graph(folder / "world")
        for name, settings in VARIANTS.items():
            found[name] = one(name, graph, changed_config(Config(), settings), folder)
        spans = read_graph(interval_rows(folder / "world", folder / "spans"))
        for name, settings in INTERVALS.items():
            found[name] = one(name, spans, changed_config(Config(), settings), folder)
        if real:
            config = read_config(Path(__file__).parents[1] / "configs" / "icews14-rules.toml")
            found["icews14-rules"] = one("icews14-rules", read_graph("icews14", config.data), config, folder)
    return found


def main() -> None:
    """Write or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("act", choices=("write", "check"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--real", action="store_true")
    given = parser.parse_args()
    found = make(given.real)
    if given.act == "write":
        given.file.write_text(json.dumps(found, indent=2) + "\n")
        return
    wanted = {name: value for name, value in json.loads(given.file.read_text()).items() if name in found}
    for name in found:
        print(
            name,
            "the same" if found[name] == wanted.get(name) else f"DIFFERENT: {wanted.get(name)} became {found[name]}",
        )
    sys.exit(found != wanted)


if __name__ == "__main__":
    main()
