"""Importers: one target for each source, whose report must account for every row."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

from tests.data.importers.samples import acled, acled_file, gdelt, icews, icews_file, polecat, polecat_file, tabbed
from tests.data.linked.wikidata_rows import claim, dump, entity, year

import foretime as ft
from benchmarks.fuzz.data_targets import written
from benchmarks.fuzz.target import Reader, Target, by_first_byte, chosen

RESULTS = {
    "head": {"vars": ["s", "p", "o", "from", "fromPrecision"]},
    "results": {
        "bindings": [
            {
                "s": {"type": "uri", "value": "http://www.wikidata.org/entity/Q1"},
                "p": {"type": "uri", "value": "http://www.wikidata.org/prop/direct/P39"},
                "o": {"type": "uri", "value": "http://www.wikidata.org/entity/Q2"},
                "from": {"type": "literal", "value": "1986-01-01T00:00:00Z"},
                "fromPrecision": {"type": "literal", "value": "9"},
            }
        ]
    },
}
NT = b"<http://e/a> <http://e/p> <http://e/b> .\n"
NQ = b"<http://e/a> <http://e/p> <http://e/b> <http://g/2014-05-13> .\n"
TURTLE = """@prefix : <http://e/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix ekg: <http://eventkg.l3s.uni-hannover.de/schema/> . @prefix sem: <http://semanticweb.cs.vu.nl/2009/11/sem/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix time: <http://www.w3.org/2006/time#> .
:r1 a ekg:Relation ; rdf:subject :ada ; rdf:object :utopia ; sem:roleType :heads ;
  sem:hasBeginTimeStamp "1986-01-01"^^xsd:date ; ekg:startUnitType time:unitYear .
<<:a :p :b>> :since "2014"^^xsd:gYear .
"""
TRIG = '@prefix : <http://e/> . GRAPH <http://g/2014-05-13> { :a :p :b } :g :date "2014-05-13" .'


def imports(source: str | None, name: str, **options: object) -> Reader:
    """Return a reader of a file of a source; every row must be kept, merged or dropped with its reason."""

    def read(content: bytes, folder: Path) -> None:
        report = ft.import_events(source, written(content, folder, name), folder / "graph", **options)
        dropped = sum(each.rows for each in report.dropped)
        left = dropped + sum(report.set_aside.values())
        assert report.read == report.kept + report.merged + left, f"{report.read} rows were read, {report}"
        lines = (report.folder / "dropped.tsv").read_text(encoding="utf-8").split("\n")
        assert len(lines) == dropped + 2, "not a line for each row that was dropped"

    return read


def archive(name: str, content: bytes) -> bytes:
    """Return a zip archive with one member."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(name, content)
    return stream.getvalue()


def renet(content: bytes, folder: Path) -> None:
    """Import RE-Net's files beside names of their ids."""
    written(b"Ann\t0\nBo\t1\n", folder, "entity2id.txt")
    written(b"meets\t0\n", folder, "relation2id.txt")
    try:
        imports("renet", "train.txt")(content, folder)
    finally:
        for name in ("entity2id.txt", "relation2id.txt"):
            (folder / name).unlink()


def import_targets() -> list[Target]:
    """Return the importers."""
    ada = entity("Q1", "Ada", ("A. L.",), P39=[claim("Q2", P580=year(1986), P582=year(1990))], P31=[claim("Q5")])
    wikidata = dump(ada, entity("Q2", "Utopia"), entity("P39", "position held"))
    results = json.dumps(RESULTS).encode()
    header = "s,p,o,from,fromPrecision\n"
    cells = header + "http://www.wikidata.org/entity/Q1,P39,http://www.wikidata.org/entity/Q2,1986-01-01T00:00:00Z,9\n"
    tgb = b"timestamp,head,tail,relation_type\n1,a,b,p\n2,b,a,p\n"
    event = icews_file(icews(), icews(Event_Date="2014-02-01", Source_Name="None"))
    return [
        Target("import: icews", (event.encode(),), imports("icews", "a.tab")),
        Target(
            "import: polecat", (polecat_file(polecat(), polecat(Version="")).encode(),), imports("polecat", "a.txt")
        ),
        Target("import: gdelt", (tabbed(gdelt(), gdelt(SQLDATE="20150201")).encode(),), imports("gdelt", "a.csv")),
        Target("import: acled", (acled_file(acled(), acled(actor2="")).encode(),), imports("acled", "a.csv")),
        Target("import: tgb", (tgb,), imports("tgb", "a.csv")),
        Target("import: renet", (b"0\t0\t1\t1\t0\n1\t0\t0\t2\t0\n", b"0 0 1 1\n"), renet),
        Target(
            "import: wikidata",
            chosen([[wikidata], [results], [cells.encode()], [cells.replace(",", "\t").encode()]]),
            by_first_byte([imports("wikidata", f"a{ending}") for ending in (".json", ".json", ".csv", ".tsv")]),
            2,
        ),
        Target(
            "import: rdf",
            chosen([[NT * 2], [NQ], [TURTLE.encode()], [TRIG.encode()]]),
            by_first_byte([imports("rdf", f"a{ending}") for ending in (".nt", ".nq", ".ttl", ".trig")]),
            2,
        ),
        Target("import: archives", (archive("a.tab", event.encode()), archive("b.zip", b"PK")), imports(None, "a.zip")),
        Target("import: recognised", (event.encode(), tgb, wikidata, NT), imports(None, "a.txt")),
    ]
