"""Rankings as text, from which anybody can compute the figures again without this project.

A question takes two lines. The first is `s r ? t`, or `? r o t` where the subject is asked for, all in ids; in a graph
of intervals it ends with start and end, -1 where one is not known. The second is `o1 score1 o2 score2 …`, best first.
Nothing is filtered. Scores are written so that each is read back as the same number, and equal ones as equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import torch
from torch import Tensor

from foretime.data.facts import UNKNOWN, Facts
from foretime.data.graph import Graph
from foretime.data.splitting import SPLITS
from foretime.devices import fetch
from foretime.errors import ForetimeError
from foretime.evaluation.ranks import ScoreFunction, batches, check_numbers, questions_at_once

SINGLE_DIGITS = 9
"""So many significant digits tell any two single-precision numbers apart."""
FACTS_ENDING = ".facts.tsv"
"""What is added to the name of a rankings file to make that of its facts."""


def write_rankings(
    file: Path, scorer: ScoreFunction, questions: Facts, graph: Graph, candidates: int | None = None
) -> None:
    """Write the rankings of questions, and beside them the facts of the graph by id and by name.

    Each ranking goes down to the true answer and all that tie with it, which is enough for every rank. With
    `candidates` it has so many and what ties with the last of them; 0 for all entities.
    """
    try:
        with file.open("w", encoding="utf-8", newline="\n") as stream:
            for _, batch in batches(questions, questions_at_once(len(graph.entities))):
                _write_batch(stream, scorer, batch, graph, candidates)
        write_facts(file.with_name(file.name + FACTS_ENDING), graph)
    except OSError as error:
        raise ForetimeError(f"{file}: cannot be written: {error}; name another file") from None


def write_facts(file: Path, graph: Graph) -> None:
    """Write the facts that rankings are filtered by: split, ids, and the same in names."""
    times = ("start", "end") if graph.has_intervals else ("time",)
    heads = ("subject", "predicate", "object", *times)
    with file.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write("\t".join(("split", *(f"{head}_id" for head in heads), *heads)) + "\n")
        for split in SPLITS:
            ids = zip(*(column.tolist() for column in graph.facts(split).columns()), strict=True)
            for numbers, names in zip(ids, graph.rows(split), strict=True):
                stream.write("\t".join((split, *map(str, numbers[: len(heads)]), *names)) + "\n")


@torch.inference_mode()
def _write_batch(stream: TextIO, scorer: ScoreFunction, batch: Facts, graph: Graph, candidates: int | None) -> None:
    scores = fetch(scorer(batch))
    check_numbers(scores)
    answers = torch.from_numpy(batch.object)
    for question, own, answer in zip(_questions(batch, graph), scores, answers, strict=True):
        stream.write(f"{question}\n{_ranking(own, float(own[answer]), candidates)}\n")


def _ranking(scores: Tensor, of_answer: float, candidates: int | None) -> str:
    """Return the candidates and their scores, the best first and those of equal score by id."""
    lowest = of_answer
    if candidates is not None:
        size = min(candidates or len(scores), len(scores))
        lowest = float(scores.topk(size).values[-1])
    chosen = torch.nonzero(scores >= lowest)[:, 0]
    chosen = chosen[torch.argsort(scores[chosen], descending=True, stable=True)]
    pairs = zip(chosen.tolist(), scores[chosen].tolist(), strict=True)
    return " ".join(f"{entity} {score:.{SINGLE_DIGITS}g}" for entity, score in pairs)


def _questions(batch: Facts, graph: Graph) -> Iterator[str]:
    predicates = len(graph.predicates)
    columns = (batch.subject, batch.predicate, batch.start, batch.end)
    for subject, predicate, start, end in zip(*(column.tolist() for column in columns), strict=True):
        known = start if start != UNKNOWN else end
        time = f"{start} {end}" if graph.has_intervals else str(known)
        asked = f"{subject} {predicate} ?" if predicate < predicates else f"? {predicate - predicates} {subject}"
        yield f"{asked} {time}"
