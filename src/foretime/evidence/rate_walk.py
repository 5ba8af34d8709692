"""The walks of the families whose events fade with time: how often and how lately, before the time asked about."""

from __future__ import annotations

from foretime.evidence.families import GROUPS
from foretime.evidence.lookups import (
    compiled,
    count_bucket,
    find,
    is_watched,
    lower_bound,
    offset_bucket,
    places_of,
    rate_bucket,
)
from foretime.evidence.rates import DAYS, MONTH, SEASON, WEEK, faded, rates_of_group
from foretime.evidence.sink import accumulate

_SAME_WEEK, _SAME_SEASON = GROUPS["same_week"].first, GROUPS["same_season"].first
_SAME_LAST, _SAME_TOTAL = GROUPS["same_last"].first, GROUPS["same_total"].first
_DAYS, _MONTH = GROUPS["contact_days"].first, GROUPS["contact_month"].first
_TOTAL, _RULES = GROUPS["contact_total"].first, GROUPS["contact_rules"].first
_WEEK, _SEASON = GROUPS["popularity_week"].first, GROUPS["popularity_season"].first


@compiled
def walk_recurrence(events, scratch, sink, x, p, t, only):
    """Accumulate how often and how lately the subject has had each object under this predicate."""
    learn, own, table, scores, rows = sink
    found = scratch.rates
    first, last = places_of(events.other, events.node[x], events.node[x + 1], only)
    for k in range(first, last):
        g = find(events.group_predicate, events.pair[k], events.pair[k + 1], p)
        if g < 0:
            continue
        y = events.other[k]
        found[:] = 0.0
        count, step = rates_of_group(events, g, True, t, found)
        if count == 0:
            continue
        week, season, far = found[WEEK], found[SEASON], step - t
        accumulate(learn, own, table, scores, rows, y, _SAME_LAST + offset_bucket(far), -1, far, g)
        accumulate(learn, own, table, scores, rows, y, _SAME_TOTAL + count_bucket(count), -1, count, g)
        accumulate(learn, own, table, scores, rows, y, _SAME_WEEK + rate_bucket(week), -1, week, g)
        accumulate(learn, own, table, scores, rows, y, _SAME_SEASON + rate_bucket(season), -1, season, g)


@compiled
def walk_contact(events, rules, scratch, sink, x, p, t, only):
    """Accumulate how often and how lately the two met at all, and in events that this predicate usually follows."""
    learn, own, table, scores, rows = sink
    found, confidence = scratch.rates, scratch.confidence
    mirror = (p + events.predicates) % (2 * events.predicates)
    for r in range(rules.pair[p], rules.pair[p + 1]):
        confidence[rules.pair_body[r]] = rules.pair_confidence[r]
    first, last = places_of(events.other, events.node[x], events.node[x + 1], only)
    for k in range(first, last):
        y = events.other[k]
        found[:] = 0.0
        total, ruled, month = 0, 0.0, 0.0
        for g in range(events.pair[k], events.pair[k + 1]):
            q = events.group_predicate[g]
            count, _ = rates_of_group(events, g, is_watched(q, p, mirror, y == x), t, found)
            total += count
            ruled += confidence[q] * (found[MONTH] - month)
            month = found[MONTH]
        if total == 0:
            continue
        days = found[DAYS]
        accumulate(learn, own, table, scores, rows, y, _TOTAL + count_bucket(total), -1, total, k)
        accumulate(learn, own, table, scores, rows, y, _DAYS + rate_bucket(days), -1, days, k)
        accumulate(learn, own, table, scores, rows, y, _MONTH + rate_bucket(month), -1, month, k)
        accumulate(learn, own, table, scores, rows, y, _RULES + rate_bucket(ruled), -1, ruled, k)
    for r in range(rules.pair[p], rules.pair[p + 1]):
        confidence[rules.pair_body[r]] = 0.0


@compiled
def walk_popularity(events, scratch, sink, x, p, t, only):
    """Accumulate how often and how lately others have had each object under this predicate."""
    learn, own, table, scores, rows = sink
    sums, times = events.by_object_fading, events.by_object_time
    begin, end = places_of(events.object, events.objects[p], events.objects[p + 1], only)
    _note_own(events, scratch, x, p, t, only)
    for j in range(begin, end):
        y, low = events.object[j], events.by_object[j]
        place = lower_bound(times, low, events.by_object[j + 1], t)
        if y == x or place - low <= scratch.with_subject[y]:
            continue
        week = max(faded(sums, WEEK, times, low, place, t) - scratch.own_rates[0, y], 0.0)
        season = max(faded(sums, SEASON, times, low, place, t) - scratch.own_rates[1, y], 0.0)
        accumulate(learn, own, table, scores, rows, y, _WEEK + rate_bucket(week), -1, week, j)
        accumulate(learn, own, table, scores, rows, y, _SEASON + rate_bucket(season), -1, season, j)
    first, last = places_of(events.other, events.node[x], events.node[x + 1], only)
    for k in range(first, last):
        scratch.with_subject[events.other[k]] = 0
        scratch.own_rates[:, events.other[k]] = 0.0


@compiled
def _note_own(events, scratch, x, p, t, only):
    """Note how many events of the predicate the subject has with each object before t, and their rates."""
    first, last = places_of(events.other, events.node[x], events.node[x + 1], only)
    for k in range(first, last):
        g = find(events.group_predicate, events.pair[k], events.pair[k + 1], p)
        if g >= 0:
            y, low = events.other[k], events.group[g]
            place = lower_bound(events.time, low, events.group[g + 1], t)
            scratch.with_subject[y] = place - low
            scratch.own_rates[0, y] = faded(events.fading, WEEK, events.time, low, place, t)
            scratch.own_rates[1, y] = faded(events.fading, SEASON, events.time, low, place, t)
