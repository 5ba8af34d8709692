"""The loss of questions under the softmax of the evidence alone, and its gradient, from one walk for each question.

A candidate without any evidence scores exactly 0: the softmax needs those that a walk has touched, and the number of
the others. So a question costs what it touches, however many entities there are, and nothing is held for each entity
and question.
"""

from __future__ import annotations

import numpy as np

from foretime.evidence.background_walk import add_hits, find_hits, make_found, make_hits
from foretime.evidence.families import FEATURES
from foretime.evidence.lookups import compiled, making_arrays
from foretime.evidence.sink import Sink, make_scratch
from foretime.evidence.threads import in_runs
from foretime.evidence.walk import walk

ROOM = 1 << 12
"""Room for what a walk touches at first; more is made where it is not enough."""


@making_arrays
def _walk_whole(events, rules, reach, scratch, weights, scores, hits, x, p, t):
    """Walk once, in more room if it is needed; return the hits, of which the first row has the number."""
    while True:
        hits[0, 0] = 0
        sink = Sink(False, scratch.own, weights, scores, None, hits)
        walk(events, rules, reach, scratch, sink, x, p, t, np.int64(-1))
        if hits[0, 0] < len(hits):
            return hits
        scores[:] = 0.0  # who was touched is not known of all
        hits = np.empty((2 * hits[0, 0], 3), dtype=np.int32)


@compiled
def _mark_touched(candidates, mark, round_, touched):
    """Add those of the candidates that have not been touched in this round to `touched`, behind their number."""
    for y in candidates:
        if mark[y + 1] != round_:
            mark[y + 1] = round_
            touched[0] += 1
            touched[touched[0]] = y


@compiled
def _softmax(scores, touched, answers, share):
    """Turn the scores of those touched into the gradient of `share` times the loss of the answers; return that loss."""
    others = len(scores) - touched[0]
    largest = 0.0 if others else -np.inf
    for k in range(1, touched[0] + 1):
        largest = max(largest, scores[touched[k]])
    loss, total = 0.0, others * np.exp(-largest)
    for y in answers:
        loss += largest - scores[y]
    for k in range(1, touched[0] + 1):
        weight = np.exp(scores[touched[k]] - largest)
        scores[touched[k]] = weight
        total += weight
    factor = share * len(answers) / total
    for k in range(1, touched[0] + 1):
        scores[touched[k]] *= factor
    for y in answers:
        scores[y] -= share
    return share * (loss + len(answers) * np.log(total))


@compiled
def _learn(hits, own, table, scores, first):
    """Add the gradient of the candidates to the weights of their features; `first` is where the predicate's begin."""
    own[:] = 0.0
    for h in range(1, hits[0, 0] + 1):
        gradient = scores[hits[h, 0]]
        own[hits[h, 1]] += gradient
        if hits[h, 2] >= 0:
            table[hits[h, 2]] += gradient
    for f in range(FEATURES):
        table[f] += own[f]
        table[first + f] += own[f]


@in_runs
def softmax_all(
    events, rules, reach, background, weights, tables, losses, subject, predicate, time, answers, begin, order, cuts,
    runs, run,
):  # fmt: skip
    """Add to `losses` the loss of each run, a mean over all answers, and to the tables, (runs, weights), its gradient.

    Question i has the answers from `begin[i]` to `begin[i + 1]`. With facts without a time, `background` is their
    lists, their rules, and where their weights begin. Questions come in runs as those of `walk_all` do.
    """
    entities = len(events.node) - 1
    scratch, scores, hits = make_scratch(events), np.zeros(entities, dtype=np.float32), np.empty((ROOM, 3), np.int32)
    touched, table, share = np.zeros(entities + 1, dtype=np.int32), tables[run], 1.0 / len(answers)
    if background is not None:
        lists, own_rules, place_of_background = background
        found, more = make_found(entities), make_hits(lists)
    for place in range(cuts[run], cuts[run + 1]):
        i = order[place]
        x, p, t = subject[i], predicate[i], time[i]
        hits = _walk_whole(events, rules, reach, scratch, weights, scores, hits, x, p, t)
        scratch.mark[0] += 1
        touched[0] = 0
        _mark_touched(hits[1 : hits[0, 0] + 1, 0], scratch.mark, scratch.mark[0], touched)
        if background is not None:
            size = find_hits(lists, own_rules, events, rules, reach, x, p, t, found, more)
            add_hits(more, size, False, weights, place_of_background, 2 * events.predicates, p, scores)
            _mark_touched(more.candidate[:size], scratch.mark, scratch.mark[0], touched)
        own_answers = answers[begin[i] : begin[i + 1]]
        losses[run] += _softmax(scores, touched, own_answers, share)
        _learn(hits, scratch.own, table, scores, FEATURES * (1 + p))
        if background is not None:
            add_hits(more, size, True, table, place_of_background, 2 * events.predicates, p, scores)
        for k in range(1, touched[0] + 1):
            scores[touched[k]] = 0.0
        for y in own_answers:
            scores[y] = 0.0
