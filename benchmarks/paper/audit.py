"""An audit of one printed figure: the same scores, counted by the paper's formula and as its released code counts.

    python -m benchmarks.paper.audit RUN --write results/audit.json --page docs/audit.md

Eq. 15 ranks candidates by E1 + λ E2. The released code counts a competitor only if it beats the true answer by E1 *and*
by E2. Any second score makes such a count smaller, random numbers too, and no list has that quality: of two candidates
either may beat the other on one score alone, so that several are "first" at once; how many is counted too.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchmarks.paper.audit_page import around_marks, audit_table, put_between_marks
from benchmarks.paper.published import published
from foretime.config import LARGEST_SEED, Config
from foretime.data.facts import Facts
from foretime.errors import ConfigError, ForetimeError, RunError
from foretime.evaluation import AnswerIndex, Metrics, Ranks, questions_of
from foretime.evaluation.ranks import batches, check_numbers
from foretime.files import write_json
from foretime.models import Model
from foretime.reranker.features.extractor import score_each_term
from foretime.runs.finish import is_finished
from foretime.runs.folder import RunFolder
from foretime.runs.loading import load_model

FIRSTS_AT_MOST = 2_000
"""Questions on which candidates in the first place are counted: their mean needs no more."""
COUNTS = {
    "sum": "E1 + λE2, the paper's Eq. 15",
    "event": "E1 alone",
    "both": "E1 and E2, as the released code counts",
    "random": "E1 and random numbers, counted alike",
}


@dataclass(frozen=True)
class Count:
    """What one way of counting gives: metrics, and how many candidates of a question it puts first, on average."""

    about: str
    metrics: Metrics
    firsts: float

    def to_dict(self) -> dict[str, Any]:
        """Return the count as plain values for JSON."""
        return {"about": self.about, **self.metrics.to_dict(), "firsts": self.firsts}


@dataclass(frozen=True)
class Audit:
    """One trained run, counted in four ways."""

    run: str
    data: str
    split: str
    filter: str
    questions: int
    commonsense_weight: float
    seed: int
    counts: dict[str, Count]
    printed: dict[str, float] | None
    """What the paper prints for LCGE on this graph; None for another graph of the same name."""

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as plain values for JSON."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return values | {"counts": {name: count.to_dict() for name, count in self.counts.items()}}


def audit(run: RunFolder | Path | str, split: str = "test", seed: int = 0, batch_size: int = 256) -> Audit:
    """Return the audit of a trained LCGE run; the seed draws the random numbers."""
    if not 0 <= seed <= LARGEST_SEED:
        raise ConfigError(f"seed {seed}: should be a whole number from 0 to {LARGEST_SEED}")
    folder = RunFolder.open(run.path if isinstance(run, RunFolder) else run)
    config, graph = folder.config(), folder.graph()
    weight = config.model.options.get("commonsense_weight", 0.0)
    _check_two_scores(folder, config)
    if not is_finished(folder, graph, with_test=False):
        raise RunError(f"{folder.path}: the run is not finished; resume it with foretime train --resume {folder.path}")
    filter_name = config.training.filter
    questions = questions_of(graph.facts(split), len(graph.predicates), filter_name)
    if len(questions) == 0:
        raise RunError(f"{folder.path}: its graph has no {split} facts; audit a run that has some")
    model = load_model(folder, config, graph)
    counted = _count_all(model, questions, AnswerIndex.of(graph, filter_name), seed, batch_size)
    return Audit(
        run=folder.path.name,
        data=graph.name,
        split=split,
        filter=filter_name,
        questions=len(questions),
        commonsense_weight=weight,
        seed=seed,
        counts=counted,
        printed=published().printed(graph.name, graph.fingerprint(), "LCGE"),
    )


def _check_two_scores(run: RunFolder, config: Config) -> None:
    """Raise `RunError` unless the score of a run is E1 + λ E2 and nothing else."""
    faults = {
        f"its model is {config.model.name}": config.model.name != "lcge",
        "its commonsense_weight is 0": not config.model.options.get("commonsense_weight"),
        "it has evidence": config.evidence.use,
        "it has a re-ranker": config.reranker.use,
    }
    found = next((fault for fault, is_so in faults.items() if is_so), None)
    if found:
        raise RunError(f"{run.path}: {found}; an audit needs a run of LCGE that scores by E1 + λ E2 alone")


@torch.inference_mode()
def _count_all(model: Model, questions: Facts, known: AnswerIndex, seed: int, batch_size: int) -> dict[str, Count]:
    generator = torch.Generator().manual_seed(seed)
    step = max(1, len(questions) // FIRSTS_AT_MOST)
    above = {name: np.empty(len(questions)) for name in COUNTS}
    level = {name: np.empty(len(questions)) for name in COUNTS}
    firsts: dict[str, list[NDArray[np.int64]]] = {name: [] for name in COUNTS}
    for rows, batch in batches(questions, batch_size):
        terms = score_each_term(model, batch)
        event, commonsense = terms["event"], terms["commonsense"]
        noise = torch.rand(event.shape, generator=generator)
        sampled = np.flatnonzero(np.arange(rows.start, rows.start + len(batch)) % step == 0)
        scores = {
            "sum": [event + commonsense],
            "event": [event],
            "both": [event, commonsense],
            "random": [event, noise],
        }
        for name, own in scores.items():
            above[name][rows], level[name][rows] = count_competitors(own, batch, known)
            firsts[name].append(
                count_firsts([part[torch.from_numpy(sampled)] for part in own], batch.take(sampled), known)
            )
    return {name: _summary(name, Ranks(1 + above[name], 1 + level[name]), firsts[name]) for name in COUNTS}


def count_competitors(
    scores: list[Tensor], questions: Facts, known: AnswerIndex
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many fair competitors beat the true answer by every one of the scores, and how many are not below it.

    With one score these are the competitors before and not behind the answer: an ordinary ranking.
    """
    answer = torch.from_numpy(questions.object)[:, None]
    above = torch.ones(scores[0].shape, dtype=torch.bool)
    level = above.clone()
    for own in scores:
        check_numbers(own)
        of_answer = own.gather(1, answer)  # (questions, 1)
        above &= own > of_answer
        level &= own >= of_answer
    competitors = known.filtered(questions)
    for marks in (above, level):
        marks[torch.from_numpy(competitors.question), torch.from_numpy(competitors.answer)] = False
    level.scatter_(1, answer, value=False)
    return above.sum(1).numpy(), level.sum(1).numpy()


def count_firsts(scores: list[Tensor], questions: Facts, known: AnswerIndex) -> NDArray[np.int64]:
    """Return how many fair candidates of each question would have no competitor before them, (questions,).

    In a ranking that is the one at the top. By two scores it is every candidate that nobody beats on both.
    """
    competitors = known.filtered(questions)
    row, column = torch.from_numpy(competitors.question), torch.from_numpy(competitors.answer)
    first, second = scores[0].clone(), scores[-1].clone()
    for own in (first, second):
        own[row, column] = -torch.inf
    order = first.argsort(dim=1, descending=True)
    # from the best by the first score downwards: who is above all before it by the second one is beaten by nobody
    running = second.gather(1, order).cummax(dim=1).values
    if len(scores) == 1:
        return (first == first.amax(1, keepdim=True)).sum(1).numpy()
    higher = torch.diff(running, dim=1) > 0
    return 1 + higher.sum(1).numpy()


def _summary(name: str, ranks: Ranks, firsts: list[NDArray[np.int64]]) -> Count:
    return Count(COUNTS[name], Metrics.of(ranks.realistic), float(np.concatenate(firsts).mean()))


def main(words: list[str] | None = None) -> None:
    """Count, print, and write what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="the folder of a trained LCGE run")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers")
    parser.add_argument("--write", type=Path, help="where the figures go (.json)")
    parser.add_argument("--page", type=Path, help="a Markdown page whose marked place gets the table")
    given = parser.parse_args(words)
    try:
        if given.page:
            around_marks(given.page)  # before ranking, which takes its time
        result = audit(given.run, seed=given.seed).to_dict()
        if given.write:
            given.write.parent.mkdir(parents=True, exist_ok=True)
            write_json(given.write, result)
        if given.page:
            put_between_marks(given.page, result)
    except ForetimeError as error:
        sys.exit(f"error: {error}")
    print(audit_table(result))


if __name__ == "__main__":
    main()
