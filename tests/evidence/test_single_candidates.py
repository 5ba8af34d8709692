"""A walk about one candidate gives it what the walk through all candidates gives it, to the last bit."""

import numpy as np
import pytest
import torch
from evidence_graphs import (
    ALL_PATHS,
    DENSE,
    ENTITIES,
    all_questions,
    asked,
    crowd,
    few,
    graphs,
    index_on,
    path_rules,
    reaches,
)
from evidence_oracle import Fact, Question
from hypothesis import given

from foretime.evidence.families import FAMILY_NAMES, Reach
from foretime.evidence.index import EvidenceIndex
from foretime.evidence.module import EvidenceComponent
from foretime.models import Queries


def assert_same_bits(whole: EvidenceIndex, questions: list[Question]) -> None:
    weights = np.random.default_rng(1).normal(size=whole.weights).astype(np.float32)
    x, p, t = (np.repeat(column, ENTITIES) for column in asked(questions))
    everyone = np.tile(np.arange(ENTITIES), len(questions))
    for family, index in {**whole.by_family(), "all": whole}.items():
        alone = index.score_one(weights, x, p, everyone, t).reshape(-1, ENTITIES)
        wrong = np.argwhere(alone != index.score(weights, *asked(questions)))
        assert not len(wrong), (family, [(questions[row], int(y)) for row, y in wrong[:5]])


@few
@given(graph=graphs(), reach=reaches, paths=path_rules)
def test_any_candidate_alone_is_scored_as_among_all(
    graph: tuple[tuple[int, ...], list[Fact]], reach: Reach, paths: list[tuple[int, int, int]]
) -> None:
    timeline, facts = graph
    assert_same_bits(index_on(facts, timeline, reach, paths), all_questions(timeline)[::3])


@pytest.mark.parametrize("past_only", [False, True])
def test_crowded_graphs_too(past_only: bool) -> None:
    reach = Reach(past_only, 30, 30, 7, 200, *[True] * len(FAMILY_NAMES))
    index = index_on(crowd(90, DENSE, seed=3), DENSE, reach, ALL_PATHS)
    assert_same_bits(index, all_questions(DENSE))
    model = EvidenceComponent(index)  # which looks few candidates up one by one
    torch.nn.init.normal_(model.weights, generator=torch.Generator().manual_seed(0))
    queries = Queries(*(torch.from_numpy(column) for column in asked(all_questions(DENSE)[::7])))
    objects = torch.randint(ENTITIES, (len(queries.subject), 2), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        few_, all_ = model.score_terms(queries, objects)[0].scores, model.score_terms(queries)[0].scores
    assert torch.equal(few_, all_.gather(1, objects))
