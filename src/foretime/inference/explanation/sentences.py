"""The first sentences of an explanation: templates over the largest reasons for and against, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence

from foretime.inference.explanation.reasons import ShownReason

OPENINGS = ((0.8, "Very likely"), (0.5, "Likely"), (0.15, "Possible"), (0.0, "Unlikely"))
"""The word that a probability begins with: the first whose bound it reaches."""
_SECOND, _AGAINST, _LEANS = 0.35, 0.1, 0.5
"""How large the second reason must be beside the first, a reason against beside all that supports, to be named; and
which share of the support must lie after the time asked about for the answer to lean on it."""
_THERE_WAS = "there was "


def first_sentences(
    reasons: Sequence[ShownReason],
    rank: int,
    probability: float | None,
    already_known: str | None,
    past_only: bool = False,
) -> tuple[str, ...]:
    """Return one sentence on why an answer stands where it does, and one if it leans on later events.

    What is usual for such questions is left out: it is the same for every answer.
    """
    named = [reason for reason in reasons if reason.is_of_answer and not _is_outweighed(reason, reasons)]
    for_it = [reason for reason in named if reason.contribution > 0]
    against = [reason for reason in named if reason.contribution < 0]
    total = math.fsum(reason.contribution for reason in for_it)
    strong = [reason for reason in against if -reason.contribution >= _AGAINST * total]
    sentence = _sentence(_opening(rank, probability, already_known), _chosen(for_it, 2), _chosen(strong, 1))
    share = 0.0 if past_only else _later_share(for_it)
    if share < _LEANS:
        return (sentence,)
    return sentence, f"It leans on later events: {share:.0%} of what supports it."


def contrast_sentence(answer: str, competitor: str, more: Sequence[ShownReason], less: Sequence[ShownReason]) -> str:
    """Return why one answer and not another: what the answer has more of, and what the competitor has."""
    sides = [_clauses(_chosen([one for one in side if one.is_of_answer], 1)) for side in (more, less)]
    because = f" because {sides[0]}" if sides[0] else ""
    other = f"; in favour of {competitor}, {sides[1]}" if sides[1] else ""
    return f"{answer} rather than {competitor}{because}{other}."


def _is_outweighed(reason: ShownReason, reasons: Sequence[ShownReason]) -> bool:
    """Return whether a comparison with other answers says the opposite of all that its topic says."""
    whole = math.fsum(one.contribution for one in reasons if one.topic == reason.topic)
    return reason.family == "compared" and whole * reason.contribution <= 0


def _opening(rank: int, probability: float | None, already_known: str | None) -> str:
    if probability is None and already_known is None:
        return "Without a time, supported"
    if probability is None:
        return f"Already known in {already_known}; supported"
    if rank == 1 and probability < OPENINGS[-2][0]:
        return "No answer stands out; this one comes first"
    return next(word for bound, word in OPENINGS if probability >= bound)


def _sentence(opening: str, for_it: Sequence[ShownReason], against: Sequence[ShownReason]) -> str:
    supports, opposes = _clauses(for_it), _clauses(against)
    if opening == "Unlikely" and not opposes:
        return f"Unlikely: {supports or 'nothing that is known supports it'}, but other answers have more behind them."
    if opening == "Unlikely":
        return f"Unlikely because {opposes}{f'; in its favour, {supports}' if supports else ''}."
    why = f"because {supports}" if supports else "though nothing that is known supports it"
    return f"{opening} {why}{f'; weak because {opposes}' if opposes else ''}."


def _chosen(reasons: Sequence[ShownReason], count: int) -> list[ShownReason]:
    """Return the first reasons that say something new: not on the same event, and not small beside the first."""
    chosen: list[ShownReason] = []
    for reason in reasons:
        if len(chosen) == count or abs(reason.contribution) < _SECOND * abs(reasons[0].contribution):
            break
        if not any(_same_event(reason, other) for other in chosen):
            chosen.append(reason)
    return chosen


def _same_event(one: ShownReason, other: ShownReason) -> bool:
    """Return whether the nearest events of two reasons are the same."""
    first, second = (reason.events[0][:5] if reason.events else reason.key for reason in (one, other))
    return first == second


def _clauses(reasons: Sequence[ShownReason]) -> str:
    clauses = [reason.clause for reason in reasons]
    if len(clauses) > 1 and all(clause.startswith(_THERE_WAS) for clause in clauses):
        clauses = [clauses[0], *(clause.removeprefix(_THERE_WAS) for clause in clauses[1:])]
    return ", and ".join(clauses)


def _later_share(reasons: Sequence[ShownReason]) -> float:
    """Return which share of the support by dated events lies after the time asked about."""
    events = [event for reason in reasons for event in reason.events]
    total = math.fsum(event.contribution for event in events)
    return math.fsum(event.contribution for event in events if event.mark == "after") / total if total > 0 else 0.0
