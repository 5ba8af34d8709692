"""New events: how they are read, which times fit a timeline, and how a graph grows and was before a day."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from foretime.data.graph import Graph, load
from foretime.data.growth import GrownGraph, grow, until
from foretime.data.new_events import read_events
from foretime.data.times import NO_TICK
from foretime.errors import ConfigError, DataError, QuestionError

ROWS = [("a", "p", "b", "2020-01-01"), ("b", "q", "c", "2020-01-03"), ("c", "p", "a", "2020-01-06")]
FRAME = pd.DataFrame(ROWS, columns=["subject", "predicate", "object", "time"])


def graph_of(**settings: object) -> Graph:
    return load({"train": FRAME, "valid": FRAME[:1], "test": FRAME[:1]}, **settings)


def test_ids_of_old_names_stay_and_new_ones_come_after():
    graph = graph_of()
    grown = grow(
        graph,
        read_events([("z", "r", "a", "2020-01-08"), ("b", "p", "y", "2020-01-02")], graph.timeline, {}, None).events,
    )
    assert grown.entities.names == (*graph.entities.names, "z", "y")
    assert grown.predicates.names == (*graph.predicates.names, "r")
    assert (len(grown.timeline), grown.timeline.label(7)) == (8, "2020-01-08")
    again = grow(grown, read_events([("x", "p", "z", "2020-01-04")], graph.timeline, {}, None).events)
    assert again.entities.names == (*grown.entities.names, "x")
    assert again.update.start.tolist() == [7, 1, 3]
    assert grown.update.start.tolist() == [7, 1], "values are frozen"
    assert again.splits == ("train", "valid", "test", "update")
    assert len(again.facts()) == len(graph.facts()) + 3


@pytest.mark.parametrize(
    "source",
    [
        [("a", "p", "b", "2020-01-07")],
        [{"subject": "a", "predicate": "p", "object": "b", "time": "2020-01-07"}],
        pd.DataFrame([("a", "p", "b", "2020-01-07")], columns=["subject", "predicate", "object", "time"]),
        pa.table({"actor1": ["a"], "event": ["p"], "actor2": ["b"], "date": ["2020-01-07"]}),
    ],
    ids=["tuples", "dicts", "pandas", "arrow"],
)
def test_files_frames_and_rows_are_read_alike(source):
    found = read_events(source, graph_of().timeline, {}, None).events
    assert (found.subject, found.predicate, found.object) == (("a",), ("p",), ("b",))
    assert found.known.tolist() == [NO_TICK]


def test_the_time_at_which_an_event_was_known_is_a_column_by_name_or_by_number(tmp_path):
    timeline = graph_of().timeline
    named, plain = tmp_path / "named.csv", tmp_path / "plain.csv"
    named.write_text("subject,predicate,object,time,seen\na,p,b,2020-01-07,2020-01-09\n")
    plain.write_text("a,p,b,2020-01-07,2020-01-09\n")
    for path, column in ((named, "seen"), (plain, 5)):
        assert read_events(path, timeline, {}, column).events.known.tolist() == [timeline.tick("2020-01-09")]
    with pytest.raises(DataError, match=r"no column 'saw' for the known; there are .*'seen'"):
        read_events(named, timeline, {}, "saw")
    named.write_text("subject,predicate,object,time,known\na,p,b,2020-01-07,soon\n")
    with pytest.raises(DataError, match=r"named\.csv:2: known is 'soon', which is no day"):
        read_events(named, timeline, {}, None)


def test_irregular_and_binned_timelines_take_only_times_that_have_a_step():
    irregular, bins = graph_of(regular=False).timeline, graph_of(granularity="bins:2").timeline
    assert read_events([("a", "p", "b", "2020-01-03")], irregular, {}, None).events.start.tolist() == [18264]
    assert len(read_events([("a", "p", "b", "2020-01-04")], bins, {}, None).events) == 1
    for timeline, day, kind in ((irregular, "2020-01-04", "irregular"), (bins, "2020-01-07", "made of bins")):
        with pytest.raises(DataError, match=f"row 1: {day} has no step on the timeline, .* which is {kind}"):
            read_events([("a", "p", "b", day)], timeline, {}, None)
    with pytest.raises(DataError, match="row 2: 2019-12-31 is before the timeline"):
        read_events([ROWS[0], ("a", "p", "b", "2019-12-31")], graph_of().timeline, {}, None)
    with pytest.raises(DataError, match="look for a wrong time"):
        grow(graph_of(), read_events([("a", "p", "b", "9999-01-01")], graph_of().timeline, {}, None).events)


def test_rows_of_any_other_shape_are_refused():
    timeline = graph_of().timeline
    for rows in ([("a", "p", "b")], [ROWS[0], (*ROWS[0], "2020-01-02")], [], ["a p b"]):
        with pytest.raises(DataError):
            read_events(rows, timeline, {}, None)
    with pytest.raises(ConfigError, match="delimite"):
        read_events([ROWS[0]], timeline, {"delimite": ","}, None)


def test_before_a_day_there_is_what_had_happened_or_was_known_and_intervals_have_no_end_yet():
    frame = pd.DataFrame(
        {"subject": ["a", "b"], "predicate": "p", "object": "c", "start": [1990, 1995], "end": [1999, 1996]}
    )
    graph = load({"train": frame, "valid": frame[:1], "test": frame[:1]}, granularity="year")
    rows = [{"subject": "a", "predicate": "p", "object": "b", "start": 1997, "end": 2005, "known": 1998}]
    grown = grow(graph, read_events(rows, graph.timeline, {}, None).events)
    happened, known = (until(grown, 1996, by) for by in (False, True))
    assert happened.train.end.tolist() == [-1, -1]
    assert happened.train.start.tolist() == [0, 5]
    assert (len(happened.facts("update")), len(known.facts("update"))) == (0, 0)
    later = until(grown, 1999, True)
    assert isinstance(later, GrownGraph)
    assert (later.update.start.tolist(), later.update.end.tolist()) == ([7], [15]), "known as a whole"
    assert until(grown, 1999, False).facts("update").end.tolist() == [-1]
    assert np.array_equal(until(grown, 3000, False).train.end, grown.train.end)
    with pytest.raises(QuestionError, match="is not a time"):
        graph.timeline.tick("soon")
