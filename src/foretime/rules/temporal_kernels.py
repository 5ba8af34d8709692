"""Counting temporal rules: loops over sorted arrays, compiled by numba.

Arrays are those of `EventIndex`. A body is a key: q for one atom, q1 · (2·predicates) + q2 for two. The rules of a body
are `group[key] … group[key+1]`, sorted by `rule_head`. A gap is given by the first and the last step that it allows.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from foretime.rules.static_kernels import find_pair, invert

SINGLE, PAIR, PATH = 0, 1, 2


@njit(cache=True)
def first_at(time, begin, end, step):
    """Return the first position in a sorted run whose time is not before the step."""
    while begin < end:
        middle = (begin + end) >> 1
        if time[middle] < step:
            begin = middle + 1
        else:
            end = middle
    return begin


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


@njit(cache=True)
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


@njit(cache=True, parallel=True)
def count_bodies(
    index, kind, gap, head_gap, reach, group, rule_head, runs, run_subject, steps_runs, head_windows, threads
):
    """Count every body grounding, and those whose head comes.

    The events of one subject at one step are `runs[i] … runs[i+1]` of the events by node; `steps_runs[t] …` lists the
    runs of step t. `head_windows[h, t]` is the number of head events that Eqs. 4 and 20 divide by.

    Returns (threads, …) arrays: `support` and `bodies` (windowed: a start counts once, and only with its whole window on
    the timeline), `sums`, `cover_sums` and `body_steps` (literal: sums over steps of SD_t/body_t and SD_t/head_t, and
    the number of steps with a body).
    """
    (predicates, steps, node, other, pair, time, predicate, _, around_time, _, _) = index
    keys, rules, entities = len(group) - 1, len(rule_head), len(node) - 1
    support = np.zeros((threads, rules), np.int64)
    bodies = np.zeros((threads, keys), np.int64)
    sums = np.zeros((threads, rules))
    cover_sums = np.zeros((threads, rules))
    body_steps = np.zeros((threads, keys), np.int64)
    for thread in prange(threads):
        buffer = np.empty(1024, np.int64)
        lasts = np.empty(gap[1] + 1, np.int64)
        marks = np.full(2 * predicates, -1, np.int64)
        times = np.zeros(2 * predicates, np.int64)
        at_step_bodies = np.zeros(keys, np.int64)
        at_step_support = np.zeros(rules, np.int64)
        touched = np.empty(1024, np.int64)
        stamp = 0
        for t in range(thread, steps, threads):
            touched_count = 0
            whole = t + reach < steps
            for place in range(steps_runs[t], steps_runs[t + 1]):
                subject = run_subject[place]
                buffer, count = bodies_at(index, kind, gap, group, runs[place, 0], runs[place, 1], subject, buffer)
                buffer[:count].sort()
                i = 0
                while i < count:
                    target = buffer[i] // (gap[1] + 1)
                    key, object_ = target // entities, target % entities
                    lags = 0
                    while i < count and buffer[i] // (gap[1] + 1) == target:
                        last = t + buffer[i] % (gap[1] + 1)
                        if lags == 0 or lasts[lags - 1] != last:
                            lasts[lags] = last
                            lags += 1
                        i += 1
                    bodies[thread, key] += whole
                    if at_step_bodies[key] == 0:
                        touched = push(touched, touched_count, key)
                        touched_count += 1
                    at_step_bodies[key] += lags
                    k = find_pair(node, other, subject, object_)
                    if k < 0:
                        continue
                    stamp += 1
                    mark_heads(time, predicate, pair[k], pair[k + 1], lasts[:lags], head_gap, marks, stamp, times)
                    for r in range(group[key], group[key + 1]):
                        if marks[rule_head[r]] == stamp:
                            support[thread, r] += whole
                            at_step_support[r] += times[rule_head[r]]
            for place in range(touched_count):
                key = touched[place]
                body_steps[thread, key] += 1
                for r in range(group[key], group[key + 1]):
                    if at_step_support[r]:
                        sums[thread, r] += at_step_support[r] / at_step_bodies[key]
                        cover_sums[thread, r] += at_step_support[r] / head_windows[rule_head[r], t]
                        at_step_support[r] = 0
                at_step_bodies[key] = 0
    return support, bodies, sums, cover_sums, body_steps


@njit(cache=True)
def find_rule(group, rule_head, key, head):
    """Return the rule with this body and head, −1 if there is none."""
    low, high = group[key], group[key + 1]
    while low < high:
        middle = (low + high) >> 1
        if rule_head[middle] < head:
            low = middle + 1
        else:
            high = middle
    return low if low < group[key + 1] and rule_head[low] == head else -1


@njit(cache=True, parallel=True)
def count_covered_heads(index, kind, gap, head_gap, group, rule_head, wanted_head, threads):
    """Return how many head events of each rule have a body before them, (threads, rules)."""
    (predicates, _, node, other, pair, time, predicate, around, around_time, around_predicate, around_other) = index
    width = 2 * predicates
    covered = np.zeros((threads, len(rule_head)), np.int64)
    for thread in prange(threads):
        seen = np.full(len(rule_head), -1, np.int64)
        for subject in range(thread, len(node) - 1, threads):
            for k in range(node[subject], node[subject + 1]):
                object_ = other[k]
                for event in range(pair[k], pair[k + 1]):
                    head, step = predicate[event], time[event]
                    if not wanted_head[head]:
                        continue
                    if kind == PATH:
                        j, end = (
                            first_at(around_time, around[object_], around[object_ + 1], step - head_gap[1]),
                            around[object_ + 1],
                        )
                    else:
                        j, end = first_at(time, pair[k], pair[k + 1], step - head_gap[1]), pair[k + 1]
                    while j < end:
                        last = around_time[j] if kind == PATH else time[j]
                        if last > step - head_gap[0]:
                            break
                        if kind == SINGLE:
                            r = find_rule(group, rule_head, predicate[j], head)
                            if r >= 0 and seen[r] != event:
                                seen[r] = event
                                covered[thread, r] += 1
                        else:
                            if kind == PATH:
                                second = invert(around_predicate[j], predicates)
                                m = find_pair(node, other, subject, around_other[j])
                            else:
                                second, m = predicate[j], k
                            if m >= 0:
                                i = first_at(time, pair[m], pair[m + 1], last - gap[1])
                                while i < pair[m + 1] and time[i] <= last - gap[0]:
                                    if kind == PATH or gap[1] > 0 or predicate[i] < second:
                                        key = predicate[i] * width + second
                                        if group[key] < group[key + 1]:
                                            r = find_rule(group, rule_head, key, head)
                                            if r >= 0 and seen[r] != event:
                                                seen[r] = event
                                                covered[thread, r] += 1
                                    i += 1
                        j += 1
    return covered
