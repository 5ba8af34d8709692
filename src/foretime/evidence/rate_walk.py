"""The walks of the families whose events fade with time: how often and how lately, before the time asked about."""

from __future__ import annotations

from foretime.evidence.families import GROUPS
from foretime.evidence.lookups import (
    compiled,
    count_bucket,
    find,
    lower_bound,
    offset_bucket,
    places_of,
    rate_bucket,
)
from foretime.evidence.rates import DAYS, MONTH, SEASON, WEEK, faded, rate_followed, rates_between, rates_of
from foretime.evidence.sink import accumulate

_SAME_WEEK, _SAME_SEASON = GROUPS["same_week"].first, GROUPS["same_season"].first
_SAME_LAST, _SAME_TOTAL = GROUPS["same_last"].first, GROUPS["same_total"].first
_DAYS, _MONTH = GROUPS["contact_days"].first, GROUPS["contact_month"].first
_TOTAL, _RULES = GROUPS["contact_total"].first, GROUPS["contact_rules"].first
_LATELY: tuple[int, int] = (WEEK, SEASON)
_MET: tuple[int, int] = (DAYS, MONTH)
_WEEK, _SEASON = GROUPS["popularity_week"].first, GROUPS["popularity_season"].first


@compiled
def walk_recurrence(events, scratch, sink, x, p, t, only):
    """Accumulate how often and how lately the subject has had each object under this predicate."""
    learn, own, table, scores, rows, hits = sink
    others, first_met, pair, predicates = events.other, events.first_met, events.pair, events.group_predicate
    group, times, twins, sums, intervals = events.group, events.time, events.twin, events.fading, events.intervals
    found = scratch.rates
    first, last = places_of(others, events.node[x], events.node[x + 1], only)
    for k in range(first, last):
        if first_met[k] >= t:
            continue
        g = find(predicates, pair[k], pair[k + 1], p)
        if g < 0:
            continue
        y = others[k]
        found[:] = 0.0
        count, step = rates_of(times, twins, sums, group[g], group[g + 1], intervals, t, _LATELY, found)
        if count == 0:
            continue
        week, season, far = found[WEEK], found[SEASON], step - t
        accumulate(learn, own, table, scores, rows, hits, y, _SAME_LAST + offset_bucket(far), -1, far, g)
        accumulate(learn, own, table, scores, rows, hits, y, _SAME_TOTAL + count_bucket(count), -1, count, g)
        accumulate(learn, own, table, scores, rows, hits, y, _SAME_WEEK + rate_bucket(week), -1, week, g)
        accumulate(learn, own, table, scores, rows, hits, y, _SAME_SEASON + rate_bucket(season), -1, season, g)


@compiled
def walk_contact(events, rules, scratch, sink, x, p, t, only):
    """Accumulate how often and how lately the two met at all, and in events that this predicate usually follows."""
    learn, own, table, scores, rows, hits = sink
    others, first_met, found, confidence = events.other, events.first_met, scratch.rates, scratch.confidence
    for r in range(rules.pair[p], rules.pair[p + 1]):
        confidence[rules.pair_body[r]] = rules.pair_confidence[r]
    first, last = places_of(others, events.node[x], events.node[x + 1], only)
    for k in range(first, last):
        if first_met[k] >= t:
            continue
        found[:] = 0.0
        total, _ = rates_between(events, k, x, p, t, _MET, found)
        if total == 0:
            continue
        y, days, month, ruled = others[k], found[DAYS], found[MONTH], 0.0
        if only >= 0 or rate_bucket(month) > 0:  # a part of what is in the lowest bucket is there too
            ruled = rate_followed(events, k, x, p, t, confidence)
        accumulate(learn, own, table, scores, rows, hits, y, _TOTAL + count_bucket(total), -1, total, k)
        accumulate(learn, own, table, scores, rows, hits, y, _DAYS + rate_bucket(days), -1, days, k)
        accumulate(learn, own, table, scores, rows, hits, y, _MONTH + rate_bucket(month), -1, month, k)
        accumulate(learn, own, table, scores, rows, hits, y, _RULES + rate_bucket(ruled), -1, ruled, k)
    for r in range(rules.pair[p], rules.pair[p + 1]):
        confidence[rules.pair_body[r]] = 0.0


@compiled
def walk_popularity(events, scratch, sink, x, p, t, only):
    """Accumulate how often and how lately others have had each object under this predicate."""
    learn, own, table, scores, rows, hits = sink
    objects, lists, times, sums = events.object, events.by_object, events.by_object_time, events.by_object_fading
    with_subject, own_rates = scratch.with_subject, scratch.own_rates
    begin, end = places_of(objects, events.objects[p], events.objects[p + 1], only)
    _note_own(events, scratch, x, p, t, only)
    for j in range(begin, end):
        y, low = objects[j], lists[j]
        place = lower_bound(times, low, lists[j + 1], t)
        if y == x or place - low <= with_subject[y]:
            continue
        week = max(faded(sums, WEEK, times, low, place, t) - own_rates[0, y], 0.0)
        season = max(faded(sums, SEASON, times, low, place, t) - own_rates[1, y], 0.0)
        accumulate(learn, own, table, scores, rows, hits, y, _WEEK + rate_bucket(week), -1, week, j)
        accumulate(learn, own, table, scores, rows, hits, y, _SEASON + rate_bucket(season), -1, season, j)
    first, last = places_of(events.other, events.node[x], events.node[x + 1], only)
    for k in range(first, last):
        with_subject[events.other[k]] = 0
        own_rates[:, events.other[k]] = 0.0


@compiled
def _note_own(events, scratch, x, p, t, only):
    """Note how many events of the predicate the subject has with each object before t, and their rates."""
    others, pair, predicates, group = events.other, events.pair, events.group_predicate, events.group
    times, sums, first_met = events.time, events.fading, events.first_met
    first, last = places_of(others, events.node[x], events.node[x + 1], only)
    for k in range(first, last):
        if first_met[k] >= t:
            continue
        g = find(predicates, pair[k], pair[k + 1], p)
        if g >= 0:
            y, low = others[k], group[g]
            place = lower_bound(times, low, group[g + 1], t)
            scratch.with_subject[y] = place - low
            scratch.own_rates[0, y] = faded(sums, WEEK, times, low, place, t)
            scratch.own_rates[1, y] = faded(sums, SEASON, times, low, place, t)
