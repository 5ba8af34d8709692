"""Attributes of entities: read from files, frames and columns, kept with the graph, and never misread in silence."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pandas
import pyarrow as pa
import pyarrow.parquet
import pytest

import foretime as ft
from foretime.data.graph import Graph
from foretime.data.growth import grow
from foretime.data.new_events import read_events
from foretime.data.synthetic import generate_world
from foretime.runs.windows import graph_before

FACTS = "Iran\tvisits\tOslo\t2020-01-0{}\nOslo\thosts\tIran\t2020-02-0{}\nBergen\tvisits\tIran\t2020-03-0{}\n"
TSV = "name\ttype\tcountry\tAliases\nIran\tcountry;state\t\tIR; Persia\nOslo\tcity\tNorway\t\nRome\tcity\tItaly\t\n"


def graph_folder(folder: Path, entities: str = TSV, name: str = "entities.tsv") -> Path:
    folder.mkdir(exist_ok=True)
    rows = "".join(FACTS.format(day, day, day) for day in range(1, 7))
    (folder / "events.tsv").write_text(rows, encoding="utf-8")
    (folder / name).write_text(entities, encoding="utf-8")
    return folder / "events.tsv"


def test_a_file_beside_the_data_gives_attributes(tmp_path: Path):
    graph = ft.load(graph_folder(tmp_path))
    assert graph.attributes["Iran"] == {"type": ("country", "state"), "aliases": ("IR", "Persia")}
    assert graph.attributes["Oslo"] == {"type": ("city",), "country": ("Norway",)}
    assert graph.attributes["Bergen"] == {}, "an entity that the file does not have"
    assert graph.notes[-1] == "1 of 3 entities with attributes are in no fact, as 'Rome'"
    assert graph.attributes.counts("type", graph.entities) == {"city": 1, "country": 1, "state": 1}


def test_every_form_of_the_file_says_the_same(tmp_path: Path):
    wanted = ft.load(graph_folder(tmp_path / "tsv")).attributes
    rows = [
        {"name": "Iran", "type": ["country", "state"], "country": None, "aliases": "IR;Persia"},
        {"name": "Oslo", "type": "city", "country": "Norway"},
        {"name": "Rome", "type": "city", "country": ["Italy"]},
    ]
    csv = 'name,type,country,aliases\nIran,country;state,,"IR;Persia"\nOslo,city,Norway,\nRome,city,Italy,\n'
    graph_folder(tmp_path / "csv", csv, "entities.csv")
    graph_folder(tmp_path / "jsonl", "".join(json.dumps(row) + "\n" for row in rows), "entities.jsonl")
    graph_folder(tmp_path / "parquet", TSV, "other.tsv")
    pyarrow.parquet.write_table(wanted.to_arrow(), tmp_path / "parquet" / "entities.parquet")
    for form in ("csv", "jsonl", "parquet"):
        assert ft.load(tmp_path / form / "events.tsv").attributes == wanted, form
    path, frame = tmp_path / "tsv" / "events.tsv", wanted.to_frame("pandas")
    assert ft.load(path, entities=frame).attributes == wanted, "its frame is read back"
    assert ft.load(path, entities=str(tmp_path / "csv" / "entities.csv")).attributes == wanted
    assert not ft.load(path, entities="none").attributes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "name\ttype\nIran\tcountry\nIran\tcity\n",
            r"\.tsv:3: the type of 'Iran' is 'city' here and 'country' in .*:2",
        ),
        ("name\ttype\nIran\n", r"\.tsv:2: expected 2 fields as in the header, found 1"),
        ("name\ttype\n\tcity\n", r"\.tsv:2: the name is empty"),
        ("name\ttype\ttypes\nIran\tcity\tcity\n", r"\.tsv:2: two columns are the type"),
        ("name\ttype\ttype\nIran\tcity\tcity\n", r"\.tsv:1: two columns 'type'"),
    ],
)
def test_what_is_wrong_with_the_file_is_said_with_its_place(tmp_path: Path, text: str, message: str):
    with pytest.raises(ft.DataError, match=message):
        ft.load(graph_folder(tmp_path, text))


def test_rows_that_add_to_each_other_are_no_conflict(tmp_path: Path):
    graph = ft.load(graph_folder(tmp_path, "name\ttype\tcountry\nOslo\tcity\t\nOslo\t\tNorway\nOslo\tcity\tNorway\n"))
    assert graph.attributes["Oslo"] == {"type": ("city",), "country": ("Norway",)}


def test_another_file_of_that_name_is_not_taken_for_one_of_entities(tmp_path: Path):
    graph = ft.load(graph_folder(tmp_path, "Iran\t0\nOslo\t1\n"))
    assert not graph.attributes
    assert "entities.tsv beside the data has no column 'name', so it was not read" in graph.notes
    with pytest.raises(ft.DataError, match="no column 'name'"):
        ft.load(tmp_path / "events.tsv", entities=str(tmp_path / "entities.tsv"))


def test_columns_of_the_facts_give_attributes(tmp_path: Path):
    frame = pandas.DataFrame(
        {
            "source": ["Iran", "Oslo", "Iran"], "relation": ["visits"] * 3, "target": ["Oslo", "Iran", "Bergen"],
            "date": ["2020-01-01", "2020-01-02", "2020-01-03"],
            "source type": ["country", "city", "state"], "target_type": ["city", None, "city;port"],
        }
    )  # fmt: skip
    graph = ft.load(frame)
    assert graph.attributes["Iran"] == {"type": ("country", "state")}
    assert graph.attributes["Bergen"] == {"type": ("city", "port")}
    assert any("1 entities have another type in other rows, as 'Iran' has" in note for note in graph.notes)
    both = ft.load(frame, entities=pa.table({"name": ["Iran"], "type": ["republic"]}))
    assert both.attributes["Iran"] == {"type": ("republic",)}, "the file of entities counts where both say something"
    columns = {"subject": "source", "predicate": "relation", "object": "target", "time": "date"}
    assert not ft.load(frame, columns=columns).attributes, "columns that are named are those that are read"
    named = ft.load(frame, columns=columns | {"object_kind": "target_type"})
    assert named.attributes["Oslo"] == {"kind": ("city",)}


def test_a_graph_keeps_its_attributes_wherever_it_goes(tmp_path: Path):
    graph = ft.load(graph_folder(tmp_path / "data"))
    graph.save(tmp_path / "saved")
    again = Graph.load(tmp_path / "saved")
    assert again.attributes == graph.attributes
    assert again.fingerprint() == graph.fingerprint()
    assert graph.split(by="time").attributes == graph.attributes
    with pytest.raises(ft.ConfigError, match="a saved graph is used as it is; leave out entities"):
        ft.load(tmp_path / "saved", entities=graph.attributes.to_frame())
    other = ft.load(tmp_path / "data" / "events.tsv", entities="none")
    assert other.fingerprint() != graph.fingerprint(), "types are part of what a model may learn from"
    events = read_events([("Rome", "visits", "Iran", "2020-04-01")], graph.timeline, {}, None).events
    grown = grow(graph, events)
    assert grown.attributes.having("type", ["city"], grown.entities).tolist() == [
        name in ("Oslo", "Rome") for name in grown.entities.names
    ], "an entity that comes later has the type that the file gives it"
    assert graph_before(graph, 60, 40).attributes == graph.attributes


def test_a_graph_without_attributes_is_saved_and_named_as_it_always_was(small_graph: Graph, tmp_path: Path):
    small_graph.save(tmp_path)
    saved = json.loads((tmp_path / "graph.json").read_text(encoding="utf-8"))
    assert saved["format"] == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["facts.safetensors", "graph.json"]
    names = {key: saved[key] for key in ("entities", "predicates", "timeline")}
    digest = hashlib.sha256(json.dumps(names, ensure_ascii=False, sort_keys=True).encode())
    for split in ("train", "valid", "test"):
        columns = zip(
            ("subject", "predicate", "object", "start", "end"), small_graph.facts(split).columns(), strict=True
        )
        for name, column in columns:
            digest.update(f"{split}.{name} {len(column)}\n".encode() + column.astype("<i4").tobytes())
    assert small_graph.fingerprint() == digest.hexdigest(), "so that the runs of earlier versions open"


def test_a_saved_graph_without_its_attributes_is_damaged(tmp_path: Path):
    ft.load(graph_folder(tmp_path / "data")).save(tmp_path / "saved")
    (tmp_path / "saved" / "attributes.parquet").unlink()
    with pytest.raises(ft.RunError, match=r"attributes\.parquet: missing"):
        Graph.load(tmp_path / "saved")


def test_the_summary_says_what_is_known_of_entities(tmp_path: Path):
    summary = ft.load(graph_folder(tmp_path)).describe()
    assert summary.attributes == {"type": {"city": 1, "country": 1, "state": 1}, "country": {"Norway": 1}}
    rows = dict(summary.rows())
    assert rows["type"] == "2 entities have any: city 1, country 1, state 1"
    assert rows["aliases"] == "1 entities have any", "aliases are names, and are not listed"


def test_the_split_of_a_file_takes_its_entities_along(tmp_path: Path):
    ft.split_file(graph_folder(tmp_path / "data"), tmp_path / "split")
    assert ft.load(tmp_path / "split").attributes["Oslo"]["country"] == ("Norway",)


def test_the_built_in_world_has_types(tmp_path: Path):
    world = generate_world(1_000)
    graph = ft.load(world.write(tmp_path))
    types = dict(zip(world.entities, world.types, strict=True))
    assert all(graph.attributes[name] == {"type": (types[name],)} for name in graph.entities.names)


def test_a_restriction_names_what_there_is(tmp_path: Path):
    graph = ft.load(graph_folder(tmp_path))
    allowed = ft.Restriction.of(["City"], {"Countries": "norway"}).allowed(graph.attributes, graph.entities)
    assert np.array(graph.entities.names)[allowed].tolist() == ["Oslo"], "case and plurals do not matter"
    for restriction, message in {
        ft.Restriction.of("town"): "unknown type 'town'; there is 'city', 'country', 'state'",
        ft.Restriction.of(None, {"typ": "city"}): "unknown attribute 'typ'; did you mean 'type'?",
        ft.Restriction.of("city", {"country": "Italy"}): "no entity of the graph has type city, country Italy",
    }.items():
        with pytest.raises(ft.QuestionError, match=message.replace("?", r"\?")):
            restriction.allowed(graph.attributes, graph.entities)
    with pytest.raises(ft.QuestionError, match=r"put entities\.tsv"):
        ft.Restriction.of("city").allowed(ft.Attributes(), graph.entities)
