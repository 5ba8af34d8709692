"""An evaluator of rankings files that knows nothing of the project: plain Python over two text files."""

from collections import defaultdict
from math import fsum
from pathlib import Path


def evaluate_rankings(rankings: Path, facts: Path, split: str) -> dict[str, float]:
    """Return MRR and Hits of a split: time-aware filter, both directions, ties by the mean."""
    true = defaultdict(set)
    asked = []
    for line in facts.read_text(encoding="utf-8").splitlines()[1:]:
        name, s, r, o, t = line.split("\t")[:5]
        true[f"{s} {r} ? {t}"].add(o)
        true[f"? {r} {o} {t}"].add(s)
        if name == split:
            asked.append((f"{s} {r} ? {t}", o))
            asked.append((f"? {r} {o} {t}", s))
    lines = rankings.read_text(encoding="utf-8").splitlines()
    rows = defaultdict(list)
    for question, ranking in zip(lines[::2], lines[1::2], strict=True):
        words = ranking.split()
        rows[question].append(dict(zip(words[::2], map(float, words[1::2]), strict=True)))
    ranks = []
    for question, answer in asked:
        scores = next(row for row in rows[question] if answer in row)
        others = [score for entity, score in scores.items() if entity not in true[question]]
        higher = sum(score > scores[answer] for score in others)
        equal = sum(score == scores[answer] for score in others)
        ranks.append(1 + higher + equal / 2)
    found = {f"hits@{k}": sum(rank <= k for rank in ranks) / len(ranks) for k in (1, 3, 10)}
    return {"mrr": fsum(1 / rank for rank in ranks) / len(ranks), **found}
