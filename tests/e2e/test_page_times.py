"""Times of every granularity: as places on an axis, as words, in fields and under bars."""

from datetime import date, timedelta
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from explorer_service import Explorer

NEAREST = 500
"""How many events the timeline of an explanation shows at the most."""


def evaluated(explorer: Explorer, run: str, expression: str) -> Any:
    """Return what the module of times makes of something."""
    explorer.open(f"/runs/{run}")
    return explorer.page.evaluate(f"async () => {{ const t = await import('/static/times.js'); return {expression}; }}")


def test_weeks_and_bins_have_places_and_words(explorer: Explorer, run: str) -> None:
    weeks = [(year, week) for year in (2019, 2020, 2021) for week in (1, 7, 52)]
    places = evaluated(explorer, run, f"{[f'{year}-W{week:02d}' for year, week in weeks]}.map(t.position)")
    epoch = date(1970, 1, 1)
    assert places == [(date.fromisocalendar(year, week, 1) - epoch).days for year, week in weeks]
    assert evaluated(explorer, run, "[t.position('5 … 9'), t.lastPosition('5 … 9'), t.isDated('5 … 9')]") == [
        5,
        9,
        False,
    ]
    assert evaluated(explorer, run, "t.humanTime('2014-W07')") == "week 7 of 2014"
    assert evaluated(explorer, run, "t.humanTime('2014-02-10 … 2014-02-19', true)") == "10 Feb 2014 … 19 Feb 2014"
    assert evaluated(explorer, run, "t.withHumanTimes('at 2014-02-10T09:00')") == "at 10 Feb 2014, 09:00"


def test_ticks_end_on_any_axis(explorer: Explorer, run: str) -> None:
    ends = ["[NaN, 1]", "[0, NaN]", "[0, Infinity]", "[1e18, 1e18]", "[-1e12, 1e12]", "[5, 4]", "[1, 1]"]
    counts = evaluated(
        explorer, run, f"[{', '.join(ends)}].flatMap((e) => [true, false].map((d) => t.ticks(...e, 8, d).length))"
    )
    assert max(counts) <= 100
    assert evaluated(explorer, run, "t.ticks(0, 10, 5, false).map((tick) => tick.at)") == [0, 2, 4, 6, 8, 10]


@pytest.mark.parametrize(
    ("granularity", "first", "last", "kind", "time", "shown"),
    [
        ("week", "2024-W01", "2024-W52", "week", "2024-W07", "2024-W07"),
        ("hour", "2024-01-01T00:00", "2024-01-05T23:00", "datetime-local", "2024-01-02T05:00", "2024-01-02T05:00"),
        (
            "bins:2",
            "2024-01-01 … 2024-02-09",
            "2024-02-10 … 2024-12-31",
            "date",
            "2024-01-01 … 2024-02-09",
            "2024-01-01",
        ),
        ("month", "2024-01", "2024-12", "month", "2024-03", "2024-03"),
        ("year", "986", "2018", "number", "1789", "1789"),
    ],
)
def test_field_picks_what_the_graph_has(
    explorer: Explorer, run: str, granularity: str, first: str, last: str, kind: str, time: str, shown: str
) -> None:
    explorer.alter_run(granularity=granularity, first=first, last=last)
    explorer.page.route("**/api/v1/runs/*/complete*", lambda route: route.abort())
    page = explorer.open(f"/runs/{run}/complete", subject="a", predicate="b", time=time)
    field = page.locator("input[name=time]")
    assert (field.get_attribute("type"), field.input_value()) == (kind, shown)
    assert field.evaluate("one => one.validity.valid")


def test_ticks_follow_bins_that_are_not_equally_long(explorer: Explorer, run: str) -> None:
    ends = ["2024-01-01", "2024-01-03", "2024-01-05", "2024-04-01", "2024-07-01", "2025-01-01"]
    bins = [{"start": f"{start} … {end}", "end": f"{start} … {end}", "facts": 3} for start, end in pairwise(ends)]
    explorer.alter("/runs/*/timeline*", lambda found: found | {"bins": bins})
    page = explorer.open(f"/runs/{run}/timeline")
    assert page.locator(".histogram a").first.get_attribute("aria-label") == "1 Jan 2024 – 3 Jan 2024: 3 facts"
    bars = page.locator(".histogram .target").evaluate_all("all => all.map((one) => one.getBoundingClientRect().x)")
    april = page.locator(".histogram .tick-text", has_text="Apr").bounding_box()
    assert abs(april["x"] + april["width"] / 2 - bars[3]) < 3


def pair_of(fact: dict[str, str], events: int) -> list[dict[str, Any]]:
    """One event a day between the two of a fact, around its date."""
    begin = date.fromisoformat(fact["time"]) - timedelta(days=events // 3)
    days = [(begin + timedelta(days=day)).isoformat() for day in range(events)]
    return [{**fact, "time": day, "start": None, "end": None, "split": "train"} for day in days]


def test_of_many_events_those_nearest_to_the_date_are_shown(explorer: Explorer, run: str, fact: dict[str, str]) -> None:
    events = pair_of(fact, 1800)
    explorer.alter_run(first=events[0]["time"], last=events[-1]["time"])

    def page_of(route: Any) -> None:
        asked = {name: values[0] for name, values in parse_qs(urlsplit(route.request.url).query).items()}
        found = [one for one in events if asked.get("from", "") <= one["time"] <= asked.get("to", "9")]
        ordered = found[::-1] if asked.get("order") == "latest" else found
        route.fulfill(json={"total": len(found), "facts": ordered[: int(asked["limit"])]})

    explorer.page.route("**/api/v1/runs/*/facts*", page_of)
    page = explorer.open(f"/runs/{run}/explain", **fact, slot="object")
    card = page.locator(".card", has=page.get_by_role("heading", name="Between the two"))
    assert f"The {NEAREST - 1} nearest of 1,800 events" in card.inner_text()
    card.get_by_label("Show").select_option("all")
    card.locator(".event.own").wait_for()
    assert card.locator(".event").count() == NEAREST - 1
    assert card.locator(".event.own").count() == 1
    assert card.locator(".event .mark-cause").count() == card.locator(".event .mark-effect").count()


def test_fact_with_two_ends_is_distinguished_from_others_that_began_with_it(
    explorer: Explorer, run: str, fact: dict[str, str]
) -> None:
    begin = date.fromisoformat(fact["time"])
    ends = [(begin + timedelta(days=days)).isoformat() for days in (1, 2, 3)]
    span = {"time": None, "start": fact["time"]}
    events = [{**fact, **span, "end": end, "split": "train"} for end in ends]
    explorer.page.route(
        "**/api/v1/runs/*/facts*", lambda route: route.fulfill(json={"total": len(events), "facts": events})
    )
    explorer.alter("/runs/*/explain*", lambda why: why | {"question": why["question"] | span | {"end": ends[1]}})
    page = explorer.open(f"/runs/{run}/explain", **fact, slot="object")
    assert page.locator(".timeline .event").count() == 3
    assert ends[1][8:].lstrip("0") in page.locator(".timeline .event.own").get_attribute("aria-label")
    assert page.locator(".timeline .event.own").count() == 1
