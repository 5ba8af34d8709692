"""Counting temporal rules: loops over sorted arrays, compiled by numba.

Arrays are those of `EventIndex`. A body is a key: q for one atom, q1 · (2·predicates) + q2 for two. The rules of a body
are `group[key] … group[key+1]`, sorted by `rule_head`. A gap is given by the first and the last step that it allows.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from foretime.kernels import UNCOUNTED
from foretime.rules.static_kernels import find_pair, find_sorted, first_at, invert

SINGLE, PAIR, PATH = 0, 1, 2


@njit(cache=True)
def push(buffer, count, value):
    """Return the buffer with one more value, grown if it was full."""
    if count == len(buffer):
        grown = np.empty(2 * count, np.int64)
        grown[:count] = buffer
        buffer = grown
    buffer[count] = value
    return buffer


@njit(cache=True)
def bodies_at(index, kind, gap, group, begin, end, subject, buffer):
    """Return the bodies that start with one subject's events `begin … end` of one step, as a buffer and its length.

    Each is ((key · entities + object) · (gap's last step + 1)) + steps from the first atom to the last.
    """
    (predicates, _, node, other, pair, time, predicate, around, around_time, around_predicate, around_other) = index
    width, entities, low, high = 2 * predicates, len(node) - 1, gap[0], gap[1]
    count, step = 0, around_time[begin]
    for event in range(begin, end):
        first, middle = around_predicate[event], around_other[event]
        if kind == SINGLE:
            if group[first] < group[first + 1]:
                buffer = push(buffer, count, first * entities + middle)
                count += 1
        elif kind == PAIR:
            k = find_pair(node, other, subject, middle)
            j = first_at(time, pair[k], pair[k + 1], step + low)
            while j < pair[k + 1] and time[j] <= step + high:
                key = first * width + predicate[j]
                # two atoms at one step have no order: the smaller predicate is the first
                if (high > 0 or first < predicate[j]) and group[key] < group[key + 1]:
                    buffer = push(buffer, count, (key * entities + middle) * (high + 1) + time[j] - step)
                    count += 1
                j += 1
        else:
            j = first_at(around_time, around[middle], around[middle + 1], step + low)
            while j < around[middle + 1] and around_time[j] <= step + high:
                key = first * width + around_predicate[j]
                if group[key] < group[key + 1]:
                    value = (key * entities + around_other[j]) * (high + 1) + around_time[j] - step
                    buffer = push(buffer, count, value)
                    count += 1
                j += 1
    return buffer, count


@njit(cache=True, **UNCOUNTED)
def mark_heads(pair_time, pair_predicate, begin, end, lasts, head_gap, marks, stamp, times):
    """Mark the predicates of a pair's events that lie a head's gap after one of the last steps; count them by lag.

    `marks[h]` becomes the stamp if h occurs at all, and `times[h]` the number of (last step, event) pairs.
    """
    i = first_at(pair_time, begin, end, lasts[0] + head_gap[0])
    while i < end and pair_time[i] <= lasts[-1] + head_gap[1]:
        hits = 0
        for last in lasts:
            if last + head_gap[0] <= pair_time[i] <= last + head_gap[1]:
                hits += 1
        if hits:
            head = pair_predicate[i]
            times[head] = times[head] + hits if marks[head] == stamp else hits
            marks[head] = stamp
        i += 1


@njit(cache=True, **UNCOUNTED)
def next_body(buffer, begin, count, lags, step, lasts):
    """Return where the bodies after one (key, object) begin, its number, and how many last steps it has.

    `lags` is the number of steps that a gap may take; the last steps go into `lasts`, each once, sorted.
    """
    target, found, i = buffer[begin] // lags, 0, begin
    while i < count and buffer[i] // lags == target:
        last = step + buffer[i] % lags
        if found == 0 or lasts[found - 1] != last:
            lasts[found] = last
            found += 1
        i += 1
    return i, target, found


@njit(cache=True, **UNCOUNTED)
def close_step(step, keys, group, rule_head, head_windows, step_bodies, step_support, sums, cover_sums, body_steps):
    """Add the shares of one step to the sums of the literal counting, and clear the counts of the step."""
    for key in keys:
        body_steps[key] += 1
        for r in range(group[key], group[key + 1]):
            if step_support[r]:
                sums[r] += step_support[r] / step_bodies[key]
                cover_sums[r] += step_support[r] / head_windows[rule_head[r], step]
                step_support[r] = 0
        step_bodies[key] = 0


@njit(cache=True, parallel=True)
def count_bodies(
    index, kind, gap, head_gap, reach, group, rule_head, runs, run_subject, runs_of_step, head_windows, threads
):
    """Count every body grounding, and those whose head comes.

    The events of one subject at one step are `runs[i, 0] … runs[i, 1]` of the events by node, and step t has the runs
    `runs_of_step[t] … runs_of_step[t+1]`. `head_windows[h, t]` are the head events that Eqs. 4 and 20 divide by.

    Returns (threads, …) arrays: `support` and `bodies` (windowed: a start counts once, and only with its whole window
    on the timeline), `sums`, `cover_sums` and `body_steps` (literal: sums over steps of SD/bodies and SD/heads, and the
    number of steps with a body).
    """
    (predicates, steps, node, other, pair, time, predicate, _, _, _, _) = index
    keys, rules, entities, lags = len(group) - 1, len(rule_head), len(node) - 1, gap[1] + 1
    support, bodies = np.zeros((threads, rules), np.int64), np.zeros((threads, keys), np.int64)
    sums, cover_sums = np.zeros((threads, rules)), np.zeros((threads, rules))
    body_steps = np.zeros((threads, keys), np.int64)
    for thread in prange(threads):
        buffer, touched = np.empty(1024, np.int64), np.empty(1024, np.int64)
        lasts, stamp = np.empty(lags, np.int64), 0
        marks, times = np.full(2 * predicates, -1, np.int64), np.zeros(2 * predicates, np.int64)
        step_bodies, step_support = np.zeros(keys, np.int64), np.zeros(rules, np.int64)
        for t in range(thread, steps, threads):
            touched_count, whole = 0, t + reach < steps
            for run in range(runs_of_step[t], runs_of_step[t + 1]):
                subject = run_subject[run]
                buffer, count = bodies_at(index, kind, gap, group, runs[run, 0], runs[run, 1], subject, buffer)
                buffer[:count].sort()
                i = 0
                while i < count:
                    i, target, found = next_body(buffer, i, count, lags, t, lasts)
                    key = target // entities
                    bodies[thread, key] += whole
                    if step_bodies[key] == 0:
                        touched = push(touched, touched_count, key)
                        touched_count += 1
                    step_bodies[key] += found
                    k = find_pair(node, other, subject, target % entities)
                    if k < 0:
                        continue
                    stamp += 1
                    mark_heads(time, predicate, pair[k], pair[k + 1], lasts[:found], head_gap, marks, stamp, times)
                    for r in range(group[key], group[key + 1]):
                        if marks[rule_head[r]] == stamp:
                            support[thread, r] += whole
                            step_support[r] += times[rule_head[r]]
            close_step(
                t, touched[:touched_count], group, rule_head, head_windows, step_bodies, step_support,
                sums[thread], cover_sums[thread], body_steps[thread],
            )  # fmt: skip
    return support, bodies, sums, cover_sums, body_steps


@njit(cache=True, **UNCOUNTED)
def cover(group, rule_head, key, head, event, seen, covered):
    """Count a head event for the rule with this body and head, if there is one, once for each event."""
    r = find_sorted(rule_head, group[key], group[key + 1], head)
    if r >= 0 and seen[r] != event:
        seen[r] = event
        covered[r] += 1


@njit(cache=True, **UNCOUNTED)
def cover_on_pair(index, kind, gap, head_gap, group, rule_head, k, event, seen, covered):
    """Count a head event for the rules whose body lies before it on the head's own pair k."""
    (predicates, _, _, _, pair, time, predicate, _, _, _, _) = index
    head, step = predicate[event], time[event]
    j = first_at(time, pair[k], pair[k + 1], step - head_gap[1])
    while j < pair[k + 1] and time[j] <= step - head_gap[0]:
        if kind == SINGLE:
            cover(group, rule_head, predicate[j], head, event, seen, covered)
        else:
            i = first_at(time, pair[k], pair[k + 1], time[j] - gap[1])
            while i < pair[k + 1] and time[i] <= time[j] - gap[0]:
                if gap[1] > 0 or predicate[i] < predicate[j]:
                    key = predicate[i] * 2 * predicates + predicate[j]
                    cover(group, rule_head, key, head, event, seen, covered)
                i += 1
        j += 1


@njit(cache=True, **UNCOUNTED)
def cover_by_path(index, gap, head_gap, group, rule_head, subject, object_, event, seen, covered):
    """Count a head event for the rules whose body is a path that ends at its object before it."""
    (predicates, _, node, other, pair, time, predicate, around, around_time, around_predicate, around_other) = index
    head, step = predicate[event], time[event]
    j = first_at(around_time, around[object_], around[object_ + 1], step - head_gap[1])
    while j < around[object_ + 1] and around_time[j] <= step - head_gap[0]:
        last, second = around_time[j], invert(around_predicate[j], predicates)
        m = find_pair(node, other, subject, around_other[j])
        if m >= 0:
            i = first_at(time, pair[m], pair[m + 1], last - gap[1])
            while i < pair[m + 1] and time[i] <= last - gap[0]:
                key = predicate[i] * 2 * predicates + second
                if group[key] < group[key + 1]:
                    cover(group, rule_head, key, head, event, seen, covered)
                i += 1
        j += 1


@njit(cache=True, parallel=True)
def count_covered_heads(index, kind, gap, head_gap, group, rule_head, wanted_head, threads):
    """Return how many head events of each rule have a body before them, (threads, rules)."""
    (_, _, node, other, pair, _, predicate, _, _, _, _) = index
    covered = np.zeros((threads, len(rule_head)), np.int64)
    for thread in prange(threads):
        seen = np.full(len(rule_head), -1, np.int64)
        for x in range(thread, len(node) - 1, threads):
            for k in range(node[x], node[x + 1]):
                for event in range(pair[k], pair[k + 1]):
                    if not wanted_head[predicate[event]]:
                        continue
                    if kind == PATH:
                        cover_by_path(index, gap, head_gap, group, rule_head, x, other[k], event, seen, covered[thread])
                    else:
                        cover_on_pair(index, kind, gap, head_gap, group, rule_head, k, event, seen, covered[thread])
    return covered
