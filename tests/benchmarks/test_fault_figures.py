"""The figures of faults: those of several checks are added, and the page shows them."""

from benchmarks.faults.check import added
from benchmarks.faults.page import kill_lines, mutation_lines

ONE = {
    "seeds": [0],
    "minutes": 1.25,
    "calls_disturbed": True,
    "kills": {"killed": 1000, "in a new interpreter": 2},
    "by_phase": {"update": 3},
    "by_call": {"before write": 3},
    "disk_errors": {"full disk, write": 4},
    "failures": [],
}
OTHER = ONE | {"seeds": [1], "kills": {"killed": 34}, "by_phase": {"forecast": 1}, "failures": ["lost"]}


def test_the_figures_of_two_checks_are_added():
    assert added({}, ONE) == ONE
    found = added({"machine": {}, **ONE}, OTHER)
    assert found["seeds"] == [0, 1]
    assert found["minutes"] == 2.5
    assert found["calls_disturbed"] is True
    assert found["kills"] == {"killed": 1034, "in a new interpreter": 2}
    assert found["by_phase"] == {"update": 3, "forecast": 1}
    assert found["disk_errors"] == {"full disk, write": 8}
    assert found["failures"] == ["lost"]


def test_the_page_says_how_many_there_were():
    first, *table = kill_lines(added(ONE, OTHER))
    assert first.startswith("1,034 processes were killed, 2 of them begun anew")
    assert "8 calls failed as on a full or a broken disk. Not as if nothing had happened: **1**. Seeds 0, 1, " in first
    assert "| update" in "\n".join(table)
    counts = {"mutations": 5, "by_file": {"graph.json": 5}, "by_damage": {"empty": 5}, "by_command": {"predict": 5}}
    mutations = {**counts, "minutes": 1.0, "outcomes": {"refused in words": 5}, "failures": []}
    assert mutation_lines(mutations)[0].startswith("5 damages in 1 minutes, each before one command. Crashes,")
