"""A saved graph of somebody who has made every hash fit: what it claims is looked at before any room is made for it."""

import hashlib
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import safetensors.numpy

from foretime.data.graph import Graph, load
from foretime.errors import RunError

FIRST, LAST, STEPS = 18_262, 18_269, 8
"""The days of the graph: from 2020-01-01 to 2020-01-08."""
MOST_MB = 64
Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    rows = (f"e{n % 5}\tp{n % 2}\te{(n * 3 + 1) % 5}\t2020-01-0{n % STEPS + 1}\n" for n in range(40))
    (tmp_path / "events.tsv").write_text("".join(rows), encoding="utf-8")
    load(tmp_path / "events.tsv").save(tmp_path / "graph")
    return tmp_path / "graph"


def changed(folder: Path, change: Change) -> Path:
    """Change what is said of a graph, and give it the fingerprint of what it says then."""
    file = folder / "graph.json"
    values = json.loads(file.read_text(encoding="utf-8"))
    change(values)
    names = {name: values[name] for name in ("timeline", "predicates", "entities")}
    digest = hashlib.sha256(json.dumps(names, ensure_ascii=False, sort_keys=True).encode())
    tensors = safetensors.numpy.load_file(folder / "facts.safetensors")
    for split in ("train", "valid", "test"):
        for column in ("subject", "predicate", "object", "start", "end"):
            ids = tensors[f"{split}.{column}"]
            digest.update(f"{split}.{column} {len(ids)}\n".encode())
            digest.update(ids.astype("<i4").tobytes())
    file.write_text(json.dumps(values | {"fingerprint": digest.hexdigest()}), encoding="utf-8")
    return folder


def timeline(**values: object) -> Change:
    return lambda saved: saved["timeline"].update(values)


def steps(starts: object, last: object = LAST, binned: object = False) -> Change:
    return lambda saved: saved.update(timeline={"unit": "day", "starts": starts, "last": last, "binned": binned})


def test_the_same_graph_is_the_same_whoever_writes_it(saved: Path) -> None:
    before = Graph.load(saved).fingerprint()
    assert Graph.load(changed(saved, lambda _: None)).fingerprint() == before
    irregular = Graph.load(changed(saved, steps([*range(FIRST, LAST), LAST + 2], LAST + 2)))
    assert (irregular.timeline.label(3), irregular.timeline.label(STEPS - 1)) == ("2020-01-04", "2020-01-10")


CHANGES: dict[str, Change] = {
    "a thousand million steps": timeline(last=FIRST + 10**9),
    "more steps than Python counts": timeline(last=2**63 + 10),
    "days that no calendar has": timeline(first=10**17, last=10**17 + STEPS - 1),
    "days before any calendar": timeline(first=-(10**18), last=-(10**18) + STEPS - 1),
    "an end before the beginning": timeline(last=FIRST - 1),
    "half a day": timeline(first=FIRST + 0.5),
    "a day in letters": timeline(first=str(FIRST)),
    "an unknown unit": timeline(unit="eon"),
    "a unit that is no text": timeline(unit=[]),
    "no unit": lambda saved: saved["timeline"].pop("unit"),
    "no timeline": lambda saved: saved.update(timeline=[]),
    "no steps": steps([]),
    "a text of steps": steps("abcdefgh"),
    "a step that is no number": steps([*range(FIRST, LAST), [LAST]]),
    "a step that is too large": steps([*range(FIRST, LAST), 10**30], 10**30),
    "steps out of order": steps([*range(FIRST + 1, LAST + 1), FIRST], LAST),
    "the same step twice": steps([FIRST, *range(FIRST, LAST)]),
    "bins that end before they begin": steps(list(range(FIRST, LAST + 1)), FIRST, True),
    "bins, perhaps": steps(list(range(FIRST, LAST + 1)), LAST, "yes"),
    "a name that is a number": lambda saved: saved["entities"].__setitem__(0, 7),
    "a name that is a list": lambda saved: saved["predicates"].__setitem__(0, ["p"]),
    "a name twice": lambda saved: saved["entities"].__setitem__(0, saved["entities"][1]),
    "names as one text": lambda saved: saved.update(entities="abcde"),
    "half a character": lambda saved: saved["entities"].__setitem__(0, "\ud800"),
    "no name of its own": lambda saved: saved.update(name=None),
    "a note that is none": lambda saved: saved.update(notes=[{}]),
    "a doubt that is none": lambda saved: saved.update(doubts=7),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_no_graph_can_be_is_refused_before_it_takes_memory(saved: Path, what: str) -> None:
    try:
        folder = changed(saved, CHANGES[what])
    except UnicodeEncodeError:  # nobody can make a hash of it
        return
    tracemalloc.start()
    try:
        with pytest.raises(RunError, match=r"graph\.json: the saved graph is damaged: .+; make it again"):
            Graph.load(folder)
        assert tracemalloc.get_traced_memory()[1] < MOST_MB << 20
    finally:
        tracemalloc.stop()
