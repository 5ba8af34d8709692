"""The families of evidence: one table that the walk, the weights, the reasons and the words all follow."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

OFFSET_EDGES: Final = (1, 2, 4, 7, 14, 30, 90)
"""A distance in steps falls into the first bucket whose edge it does not pass; farther ones into the last."""
OFFSETS: Final = 2 * (len(OFFSET_EDGES) + 1) + 1
"""Features of a distance: the same step, then the buckets before, then the buckets after."""
COUNTS: Final = 8
"""Features of a count: 1, 2, 3–4, 5–8, … 65 and more."""
AFFINITIES: Final = 10
"""Features of an affinity: below 1/8, below 1/4, … 32 and more."""
FADING: Final = (2.0, 8.0, 30.0, 120.0)
"""τ of each rate, in steps: a few days, about a week, a month, a season where a step is a day."""
RATES: Final = 16
"""Features of a sum of fading events: below 1/128, below 1/64, … 128 and more."""

Kind = Literal["offset", "farther", "total", "now", "affinity", "rate", "fact"]
"""What the value of a feature is: the signed distance of the nearest event, that of the farther event of a path, how
many events there are in all, how many at the step asked about, an affinity, a sum of events that fade with time, or a
fact without a time."""
_SIZES: Final[dict[Kind, int]] = {
    "offset": OFFSETS, "farther": OFFSETS, "total": COUNTS, "now": COUNTS, "affinity": AFFINITIES, "rate": RATES,
    "fact": 3,
}  # fmt: skip


class FeatureGroup(NamedTuple):
    """The features of one kind in a family, one for each bucket: `first` is the number of the first one."""

    name: str
    kind: Kind
    first: int
    size: int


class Family(NamedTuple):
    """A family of evidence; its name is a value of `evidence.families` and a flag of `Reach`."""

    name: str
    words: str
    """What it is evidence of."""
    events: Literal["by_pair", "between", "by_object", "by_entity", "meetings", "paths", "none"]
    """Where the events of its features lie: a list of `EventLists`, or two by two in the recorded groundings."""
    groups: tuple[FeatureGroup, ...]

    @property
    def in_twos(self) -> bool:
        """Whether its events come two by two: from the subject to another entity, and from there to the candidate."""
        return self.events in ("meetings", "paths")


def _numbered(*rows: tuple[str, str, str, dict[str, Kind]]) -> tuple[Family, ...]:
    """Return the families with their features numbered one after the other."""
    families, first = [], 0
    for name, words, events, kinds in rows:
        groups = []
        for group, kind in kinds.items():
            groups.append(FeatureGroup(group, kind, first, _SIZES[kind]))
            first += _SIZES[kind]
        families.append(Family(name, words, events, tuple(groups)))  # type: ignore[arg-type]
    return tuple(families)


FAMILIES: Final = _numbered(
    ("pair", "events between the two", "by_pair", {"pair_offset": "offset", "pair_count": "total"}),
    (
        "object",
        "events of this predicate with others",
        "by_object",
        {"object_offset": "offset", "object_count": "total"},
    ),
    ("active", "any events with others", "by_entity", {"active_count": "now", "active_offset": "offset"}),
    ("affinity", "common neighbours", "meetings", {"affinity": "affinity"}),
    ("path", "paths via a shared neighbour", "paths", {"path": "farther"}),
    # families of the past: how often and how lately, each event counting less the older it is
    (
        "recurrence",
        "this very event so far",
        "by_pair",
        {"same_week": "rate", "same_season": "rate", "same_last": "offset", "same_total": "total"},
    ),
    (
        "contact",
        "events between the two so far",
        "between",
        {"contact_days": "rate", "contact_month": "rate", "contact_total": "total", "contact_rules": "rate"},
    ),
    (
        "popularity",
        "events of this predicate with others so far",
        "by_object",
        {"popularity_week": "rate", "popularity_season": "rate"},
    ),
)
RATED: Final = ("recurrence", "contact", "popularity")
"""The families whose events fade with time; only events before the time asked about count."""
FAMILY_NAMES: Final = tuple(family.name for family in FAMILIES)
GROUPS: Final = {group.name: group for family in FAMILIES for group in family.groups}
FEATURES: Final = sum(group.size for group in GROUPS.values())
"""How many features there are in all. New ones come last: `module.in_layout` reads the weights of earlier versions."""
RULED: Final = sum(group.size for group in FAMILIES[0].groups)
"""The features of the pair, which come first: each has a weight of its own for every pair rule."""
BACKGROUND_FAMILY: Final = _numbered(
    (
        "background",
        "facts without a time",
        "none",
        {
            "background_pair": "fact",  # between the two: of the predicate asked about, its inverse, another one
            "background_object": "total",
            "background_affinity": "affinity",
            "background_path": "total",
        },
    ),
)[0]
"""The family of facts without a time. It stands apart: its features are numbered on their own, and their weights come
after all others, so that a graph without such facts has none of them."""
BACKGROUND_GROUPS: Final = {group.name: group for group in BACKGROUND_FAMILY.groups}
BACKGROUND_FEATURES: Final = sum(group.size for group in BACKGROUND_FAMILY.groups)
PATH_SLOTS: Final = 1 << 14
"""Groundings of path rules that are kept for a question: (candidate, rule) pairs beyond are not looked at."""


class Reach(NamedTuple):
    """How far evidence is looked for, and which families are: the settings of `[evidence]` that the walk needs.

    Each family is a flag, and its own settings begin with its name.
    """

    past_only: bool
    object_window: int
    active_window: int
    path_window: int
    path_events: int
    pair: bool
    object: bool
    active: bool
    affinity: bool
    path: bool
    recurrence: bool = False
    contact: bool = False
    popularity: bool = False
