"""A graph: names, a timeline, and the facts of train, valid and test."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import safetensors
import safetensors.numpy

from foretime.config import DataConfig, check_section, without_password
from foretime.data.assembling import assemble, choose_parts, divide, join_tables
from foretime.data.attribute_files import entity_file, find_attributes
from foretime.data.attributes import NO_ATTRIBUTES, Attributes
from foretime.data.background import BACKGROUND, read_background
from foretime.data.bad_rows import BAD_ROWS, BadRows
from foretime.data.borders import check_way, split_at
from foretime.data.databases import parse_address
from foretime.data.facts import UNKNOWN, Facts, concatenate, empty_facts
from foretime.data.formats import format_of, read_table
from foretime.data.formats.unpacking import read_parquet
from foretime.data.guesses import note_layouts, without_meaningless_end
from foretime.data.name_finder import NameFinder
from foretime.data.problems import Problems
from foretime.data.saved_facts import COLUMNS, SavedCounts, read_saved_facts
from foretime.data.sources import ID_FILES, find_source, read_id_names, split_files
from foretime.data.splitting import SPLITS, SplitBy, SplitRows, split_rows
from foretime.data.timeline import Timeline
from foretime.data.vocabulary import Vocabulary
from foretime.errors import NO_MEMORY, ConfigError, DataError, RunError, suggestion, told_as
from foretime.files import MOST_BYTES, make_folder, read_json, write_bytes
from foretime.tables import FrameLibrary, Table, frame_of

if TYPE_CHECKING:
    from foretime.data.summary import Summary

GRAPH, FACTS, ATTRIBUTES = "graph.json", "facts.safetensors", "attributes.parquet"
FORMATS = (1, 2)
"""The formats of saved graphs: the second may have facts without a time, and attributes of entities."""
_DAMAGED = (
    safetensors.SafetensorError, pa.ArrowException, OSError, ArithmeticError, AttributeError, LookupError, TypeError,
    ValueError,
)  # fmt: skip
"""What may come of a file that is none of a saved graph."""


@dataclass(frozen=True)
class Graph:
    """A temporal knowledge graph in three splits.

    `entities` and `predicates` are names with ids, `timeline` is the steps of time, and `train`, `valid` and `test` are
    the facts as ids. Ids are given in the order in which names first appear in train, then in valid, then in test:
    names that train never shows have the highest ids.

    `background` are facts without a time. They are known whatever is asked, but no split has them and no step of the
    timeline: nothing counts them as events. Names that only they have come after all others.
    """

    name: str
    entities: Vocabulary
    predicates: Vocabulary
    timeline: Timeline
    train: Facts
    valid: Facts
    test: Facts
    notes: tuple[str, ...] = field(default=(), compare=False)
    """What was guessed when it was read, and how many bad rows were skipped."""
    background: Facts = field(default_factory=empty_facts)
    doubts: tuple[str, ...] = field(default=(), compare=False)
    """What deserved a second look when it was read."""
    bad_rows: BadRows = field(default=BadRows(), compare=False, repr=False)
    """The rows that were skipped; a saved graph has their number in its notes."""
    attributes: Attributes = field(default=NO_ATTRIBUTES, compare=False)
    """Types, countries, aliases and the like of its entities, by their names."""

    def __repr__(self) -> str:
        return f"Graph {self.name}: " + "; ".join(text for _, text in self._outline())

    def _repr_html_(self) -> str:
        return Table(("graph", self.name), tuple(self._outline())).to_html()

    def _outline(self) -> list[tuple[str, str]]:
        timeline = self.timeline
        names = (*SPLITS, *([BACKGROUND] if len(self.background) else []))
        return [
            ("facts", ", ".join(f"{len(self.facts(split)):,} {split}" for split in names)),
            ("entities", f"{len(self.entities):,} entities"),
            ("predicates", f"{len(self.predicates):,} predicates"),
            ("times", f"{timeline.span} ({len(timeline):,} steps, granularity {timeline.granularity})"),
        ]

    def facts(self, split: str | None = None) -> Facts:
        """Return the facts of a split by its name; of all three, train first and test last, without one.

        Those without a time are there by their name, `background`, alone.
        """
        if split is None:
            return concatenate([self.train, self.valid, self.test])
        if split not in (*SPLITS, BACKGROUND):
            raise DataError(f"unknown split {split!r}{suggestion(split, SPLITS) or '; use train, valid or test'}")
        facts: Facts = getattr(self, split)
        return facts

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of its splits; a graph that has grown has `update` too."""
        return SPLITS

    @property
    def seen(self) -> Facts:
        """What a run may have seen of it: train; in a graph that has grown, what was added too."""
        return self.train

    @cached_property
    def has_intervals(self) -> bool:
        """Whether any fact has two different ends, or one that is not known."""
        return any(self.facts(name).has_intervals for name in self.splits)

    @cached_property
    def entity_finder(self) -> NameFinder:
        """Finds entities by what people type, their aliases too."""
        return NameFinder(self.entities, self.attributes.aliases)

    @cached_property
    def predicate_finder(self) -> NameFinder:
        """Finds predicates by what people type."""
        return NameFinder(self.predicates)

    def search(self, words: str, *, kind: Literal["entity", "predicate"] = "entity", limit: int = 20) -> Table:
        """Return the entities or the predicates with some words or parts of words in their names, best first.

        Case, accents and the order of the words do not matter; aliases are searched too. Each row has the name, how
        many facts have it, the alias by which it was found, and the attributes of the entity.

            graph.search("police ind")
        """
        from foretime.data.searching import search

        return search(self, words, kind, limit)

    def to_frame(self, split: str | None = None, library: FrameLibrary = "pandas") -> Any:
        """Return the facts in names: split, subject, predicate, object, and time, or start and end.

        The columns are categories, so that a graph of millions of facts fits. An end that is not known is missing.
        Facts without a time come last, in the split `background`. `split` chooses one split, `library` is `pandas`,
        `polars` or `arrow`. Raises `DataError` for an unknown split.

            graph.to_frame("train").groupby("predicate").size()
        """
        names = (split,) if split is not None else (*self.splits, *([BACKGROUND] if len(self.background) else []))
        facts, sizes = concatenate([self.facts(name) for name in names]), [len(self.facts(name)) for name in names]
        labels = [self.timeline.label(step) for step in range(len(self.timeline))]

        def column(codes: Any, values: Any) -> Any:
            indices = pa.array(codes.astype(np.int32), mask=codes == UNKNOWN)
            return pa.DictionaryArray.from_arrays(indices, pa.array(values, pa.string()))

        entities, predicates = self.entities.names, self.predicates.names
        columns = {
            "split": column(np.repeat(np.arange(len(names)), sizes), names),
            "subject": column(facts.subject, entities),
            "predicate": column(facts.predicate, predicates),
            "object": column(facts.object, entities),
        }
        times = {"start": facts.start, "end": facts.end} if self.has_intervals else {"time": facts.start}
        columns |= {name: column(steps, labels) for name, steps in times.items()}
        return frame_of(pa.table(columns), library)

    def rows(self, split: str | None = None) -> Iterator[tuple[str, ...]]:
        """Yield the facts of a split in names: subject, predicate, object and time, or start and end of intervals."""
        entity, predicate, label = self.entities.name, self.predicates.name, self.timeline.label
        for subject, what, object_, *ends in zip(*(c.tolist() for c in self.facts(split).columns()), strict=True):
            times = ("" if step == UNKNOWN else label(step) for step in (ends if self.has_intervals else ends[:1]))
            yield entity(subject), predicate(what), entity(object_), *times

    def split(
        self,
        valid_share: float = 0.1,
        test_share: float = 0.1,
        by: SplitBy | None = None,
        seed: int = 0,
        *,
        valid_from: str | None = None,
        test_from: str | None = None,
    ) -> Graph:
        """Return a graph with the same facts in other splits.

        `random`, the default, draws valid and test by the seed; `time` puts the latest facts into test and those before
        them into valid, all facts of one step into one split; `quantile` does it as the Temporal Graph Benchmark does.
        With `valid_from` and `test_from` train is what comes before the first, and test what comes from the second on.
        The timeline stays as it is. Raises `ConfigError` if nothing would be left to train on, or a split at given
        times would be empty.

            forecasting = graph.split(by="time", test_share=0.2)
            forecasting = graph.split(valid_from="2014-11-01", test_from="2014-12-01")
        """
        facts = self.facts()
        steps, background = facts.known_ends()[0], len(facts) + np.arange(len(self.background))
        if check_way(by, valid_from, test_from):
            parts = split_at(np.asarray(self.timeline.starts)[steps], self.timeline, valid_from, test_from)
        else:
            parts = split_rows(steps, by or "random", valid_share, test_share, seed)
        every = concatenate([facts, self.background])
        made = divide(every, parts, self.entities.names, self.predicates.names, self.timeline, background)
        kept = {name: getattr(self, name) for name in ("doubts", "bad_rows", "attributes")}
        return Graph(self.name, *made._replace(notes=self.notes), **kept)

    def described_by(self, attributes: Attributes) -> Graph:
        """Return the graph with attributes of its entities; those of entities that no fact has are noted, and kept."""
        absent = [name for name in attributes.names if name not in self.entities]
        if not absent:
            return replace(self, attributes=attributes)
        noted = (
            f"{len(absent):,} of {len(attributes.names):,} entities with attributes are in no fact, as {absent[0]!r}"
        )
        return replace(self, attributes=attributes, notes=(*self.notes, noted))

    def describe(self) -> Summary:
        """Return the numbers of the graph, and what about it deserves a second look."""
        from foretime.data.summary import summarise

        return summarise(self)

    def fingerprint(self) -> str:
        """Return a sha256 over names, timeline and facts: equal for equal graphs, whatever they are called."""
        digest = hashlib.sha256(json.dumps(self._names(), ensure_ascii=False, sort_keys=True).encode())
        for name, column in self._tensors().items():
            digest.update(f"{name} {len(column)}\n".encode())
            digest.update(column.astype("<i4").tobytes())
        if self.attributes:
            digest.update(f"attributes {self.attributes.fingerprint()}\n".encode())
        return digest.hexdigest()

    def save(self, folder: Path | str) -> None:
        """Write the graph into a folder, which `load` and `Graph.load` read.

        It is `graph.json` and `facts.safetensors`, and `attributes.parquet` if entities have attributes.
        """
        folder = Path(folder)
        make_folder(folder)
        write_bytes(folder / FACTS, safetensors.numpy.save(self._tensors()))
        if self.attributes:
            sink = pa.BufferOutputStream()
            pyarrow.parquet.write_table(self.attributes.to_arrow(), sink)
            write_bytes(folder / ATTRIBUTES, sink.getvalue().to_pybytes())
        format_ = FORMATS[1 if self.attributes or len(self.background) else 0]
        header = {"format": format_, "name": self.name, "fingerprint": self.fingerprint()}
        header |= {"notes": self.notes, "doubts": self.doubts}
        header |= {"attributes": ATTRIBUTES} if self.attributes else {}
        write_bytes(folder / GRAPH, json.dumps(header | self._names(), ensure_ascii=False, indent=0).encode())

    @classmethod
    def load(cls, folder: Path | str) -> Graph:
        """Return the graph that was saved in a folder; raise `RunError` if it is missing or damaged."""
        place = Path(folder) / GRAPH
        try:
            saved = read_json(place, MOST_BYTES)
            if not isinstance(saved, dict) or saved.get("format") not in FORMATS:
                raise RunError(f"{place}: not a graph of format 1 or 2; it was saved by another version, make it again")
            timeline = Timeline.from_dict(saved["timeline"])
            name, notes, doubts = _said_by(saved)
            entities = Vocabulary.saved("entity", saved["entities"])
            predicates = Vocabulary.saved("predicate", saved["predicates"])
            place = Path(folder) / FACTS
            counts = SavedCounts(len(entities), len(predicates), len(timeline))
            train, valid, test, *timeless = read_saved_facts(place, counts)
            attributes = NO_ATTRIBUTES
            if "attributes" in saved:
                place = Path(folder) / ATTRIBUTES
                attributes = Attributes.from_arrow(read_parquet(place))
            background = timeless[0] if timeless else empty_facts()
            graph = cls(
                name, entities, predicates, timeline, train, valid, test, notes, background, doubts,
                attributes=attributes,
            )  # fmt: skip
            if graph.fingerprint() != saved["fingerprint"]:
                raise ValueError(f"it and {GRAPH} do not agree")
        except FileNotFoundError:
            raise RunError(f"{place}: missing; no whole graph is saved there, make it again") from None
        except MemoryError:
            raise RunError(f"{place}: {NO_MEMORY}") from None
        except _DAMAGED as error:
            raise RunError(f"{place}: the saved graph is damaged: {error}; make it again") from None
        return graph

    def _names(self) -> dict[str, Any]:
        return {
            "timeline": self.timeline.to_dict(),
            "predicates": list(self.predicates.names),
            "entities": list(self.entities.names),
        }

    def _tensors(self) -> dict[str, Any]:
        return {
            f"{split}.{name}": column.astype(np.int32)
            for split in (*SPLITS, *([BACKGROUND] if len(self.background) else []))
            for name, column in zip(COLUMNS, self.facts(split).columns(), strict=True)
        }


def _said_by(saved: dict[str, Any]) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return the name of a saved graph, its notes and its doubts; what is not text is a `ValueError`."""
    name, notes, doubts = saved["name"], *(tuple(saved.get(word, ())) for word in ("notes", "doubts"))
    if not all(isinstance(text, str) for text in (name, *notes, *doubts)):
        raise ValueError("its name or a note is not text")
    return name, notes, doubts


def load(  # noqa: PLR0913, each is a key of [data]
    source: Any,
    *,
    query: str | None = None,
    table: str | None = None,
    columns: Mapping[str, str | int] | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    names: Literal["auto", "as-is"] = "auto",
    date_format: str = "auto",
    bad_rows: Literal["stop", "skip"] = "stop",
    entities: Any = "auto",
    granularity: str = "auto",
    regular: bool = True,
    split: Literal["auto", "random", "time", "quantile"] = "auto",
    valid_share: float = 0.1,
    test_share: float = 0.1,
    split_seed: int = 0,
    valid_from: str | None = None,
    test_from: str | None = None,
) -> Graph:
    """Return the graph in a file, a folder, a database or a frame, or in a mapping from `train`, `valid` and `test`.

    Facts without a time are its `background`: rows whose time is empty, and those of a file called `background` in the
    folder, or of a table under that name in the mapping, which have three columns.

    Parameters:
        source: a file (TSV, CSV, JSON Lines, Parquet or Arrow), a folder with train, valid and test files, the folder
            of a saved graph or of a run, the name of a downloaded dataset, a database (`duckdb:FILE`, `sqlite:FILE`,
            `postgresql://USER@HOST/DATABASE`), or a pandas, Polars or Arrow table, or whatever else streams Arrow.
        query, table: what to read from a database: one SELECT, or the name of a table.
        columns: which column is which, by name or by number from 1: `{"subject": "actor", "predicate": 2, …}`; by
            default as the header says, or in the order subject, predicate, object, time (or start, end).
        header: whether the first row of a text file names the columns; by default seen from the row.
        delimiter: what separates the columns of a text file; by default seen from the first row.
        names: `auto` replaces ids by the names in `entity2id.txt` and `relation2id.txt` beside the data.
        date_format: how dates are written where that is not plain: `%d/%m/%Y`, `integer`, `year`, `unix`, `unix-ms`.
        bad_rows: `stop` raises one error with every bad row; `skip` leaves them out, and `graph.bad_rows` has them.
        entities: a file or a frame with the attributes of entities: a column `name`, and any others. `auto` reads
            `entities.tsv` (or `.csv`, `.jsonl`, `.parquet`) beside the data, `none` reads nothing.
        granularity: one step of the timeline: `second` to `year`, `step` for integers, or `bins:N`.
        regular: whether steps without any event are on the timeline too.
        split: `auto` keeps the splits of a folder and splits a single table at random; `random`, `time` and `quantile`
            split anew.
        valid_share, test_share: the shares of facts that a new split puts into valid and test.
        split_seed: the seed of a random split.
        valid_from, test_from: the times at which valid and test begin; all facts are pooled and cut there.

    Raises `DataError` with every bad row, its file, its line and what to do, and `ConfigError` for a wrong setting.

        graph = foretime.load("events.csv", granularity="month")
        graph = foretime.load("duckdb:events.db", query="select actor1, event, actor2, day from events")
        graph = foretime.load(frame, columns={"subject": "who", "predicate": "did", "object": "whom", "time": "day"})
    """
    settings = {key: value for key, value in locals().items() if key in DataConfig.model_fields}
    settings["columns"] = dict(columns or {})
    frame = None if isinstance(entities, str | Path) else entities
    settings["entities"] = "auto" if frame is not None else str(entities)
    return read_graph(source, check_section(DataConfig, settings, "load: "), frame)


def read_graph(source: Any, config: DataConfig = DataConfig(), entities: Any = None) -> Graph:  # noqa: B008
    """Return the graph that `load` returns, read as a `[data]` section says; `entities` is a frame of attributes."""
    with told_as(DataError, _shown(source)):
        return _read_graph(source, config, entities)


def _shown(source: Any) -> str:
    """Return how messages call what a graph is read from; an address may have a password."""
    return without_password(str(source)) if isinstance(source, str | Path) else f"a {type(source).__name__}"


def _read_graph(source: Any, config: DataConfig, entities: Any) -> Graph:
    if isinstance(source, str | Path) and (Path(source) / GRAPH).is_file():
        changed = [
            *config.model_dump(exclude_defaults=True, exclude={"path"}),
            *([] if entities is None else ["entities"]),
        ]
        if changed:
            raise ConfigError(f"{source}: a saved graph is used as it is; leave out {', '.join(changed)}")
        return Graph.load(source)
    if isinstance(source, str | Path) and not config.columns and parse_address(source) is None:
        _refuse_foreign(Path(source))
    found = find_source(source, config)
    problems = Problems(config.bad_rows)
    names = read_id_names(found.folder, problems) if config.names == "auto" else {}
    tables = {
        split: read_table(table, found.place if len(found.tables) == 1 else f"the frame {split!r}", config, problems)
        for split, table in found.tables.items()
        if split != BACKGROUND
    }
    tables = without_meaningless_end(tables, problems)
    note_layouts(tables, problems)
    attributes, said = find_attributes(
        tables.values(), names, found.folder, config.entities if entities is None else entities, problems
    )
    if BACKGROUND in found.tables:
        tables[BACKGROUND] = read_background(found.tables[BACKGROUND], "the frame 'background'", config, problems)
    made = assemble(tables, names, config, problems)
    bad = problems.bad_rows(kept=sum(map(len, (made.train, made.valid, made.test, made.background))))
    notes = (*problems.notes, *said, *made.notes, *([bad.note] if bad else []))
    graph = Graph(found.name, *made._replace(notes=notes), doubts=tuple(problems.doubts), bad_rows=bad)
    return graph.described_by(attributes)


def _refuse_foreign(path: Path) -> None:
    """Raise `DataError` for raw files of a source that has an importer: read as they are they would be misread."""
    is_text = path.is_file() and not format_of(path).magic
    if is_text or (path.is_dir() and not split_files(path)):
        from foretime.data.importers import refuse_foreign  # late: importers are built on what reads graphs

        refuse_foreign(path)


def split_file(
    file: Path | str,
    out: Path | str,
    *,
    by: SplitBy | None = None,
    valid_share: float = 0.1,
    test_share: float = 0.1,
    seed: int = 0,
    **reading: Any,
) -> dict[Path, int]:
    """Write train, valid and test files into a folder, every row as it was written, and return their rows by file.

    `reading` are keywords of `load`, such as `delimiter`, `valid_from` and `test_from`; without these two and without
    `by` the split is random. The files are of the format of the input: a text file gives text files with the same
    delimiter, header and columns (`.tsv`, or `.csv` where quotes group fields). Rows without a time go into train. All
    rows are checked first. Files of names that lie beside the file come along. Raises `DataError` for bad rows, and for
    a folder that holds a split already. With `bad_rows="skip"` the bad rows are written to `bad_rows.jsonl`
    there.

        foretime.split_file("events.tsv", "events", by="time", test_share=0.2)
    """
    shares = {"split": by or "auto", "valid_share": valid_share, "test_share": test_share, "split_seed": seed}
    config = check_section(DataConfig, reading | shares, "", "data.")
    if parse_address(file) is not None:
        raise DataError(
            "a database has no rows as they were written; save what the query gives as a file, and split that"
        )
    file, out, problems = Path(file), Path(out), Problems(config.bad_rows)
    if file.is_dir():
        raise DataError(f"{file}: a folder; name the one file that is to be split")
    table = read_table(file, file.name, config, problems)
    table = without_meaningless_end({"train": table}, problems)["train"]
    rows = join_tables([table], {}, config, problems, timeless=True)
    parts = choose_parts(rows, [len(one) for one in rows.tables], config)
    # what has no time is background wherever it stands in train, and would be left out of valid and test
    parts = parts._replace(train=np.sort(np.concatenate([parts.train, np.flatnonzero(~rows.dated)])))
    make_folder(out)
    if present := sorted(path.name for path in split_files(out).values()):
        raise DataError(f"{out}: has {', '.join(present)} already; name a new folder")
    paths = format_of(file).split(file, config, SplitRows(*map(rows.tables[0].numbers, parts)), out)
    if bad := problems.bad_rows(kept=len(rows.start)):
        paths.append(bad.write(out / BAD_ROWS))
    described = entity_file(file.parent)
    for name in (*ID_FILES, *([] if described is None else [described.name])):
        if (beside := file.parent / name).is_file() and not (out / name).exists():
            shutil.copyfile(beside, out / name)
    return dict(zip(paths, [*map(len, parts), *([len(bad)] if bad else [])], strict=True))
