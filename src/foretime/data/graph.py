"""A graph: names, a timeline, and the facts of train, valid and test."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import safetensors
import safetensors.numpy

from foretime.config import DataConfig, check_section
from foretime.data.assembling import assemble, choose_parts, divide, join_tables
from foretime.data.borders import check_way, split_at
from foretime.data.facts import UNKNOWN, Facts, concatenate
from foretime.data.formats import format_of, read_table
from foretime.data.guesses import without_meaningless_end
from foretime.data.problems import Problems
from foretime.data.sources import ID_FILES, find_source, read_id_names, split_files
from foretime.data.splitting import SPLITS, SplitBy, split_rows
from foretime.data.timeline import Timeline
from foretime.data.vocabulary import Vocabulary
from foretime.errors import ConfigError, DataError, RunError, suggestion
from foretime.files import write_bytes
from foretime.tables import FrameLibrary, Table, frame_of

if TYPE_CHECKING:
    from foretime.data.summary import Summary

GRAPH, FACTS, FORMAT = "graph.json", "facts.safetensors", 1
_COLUMNS = ("subject", "predicate", "object", "start", "end")


@dataclass(frozen=True)
class Graph:
    """A temporal knowledge graph in three splits.

    `entities` and `predicates` are names with ids, `timeline` is the steps of time, and `train`, `valid` and `test` are
    the facts as ids. Ids are given in the order in which names first appear in train, then in valid, then in test:
    names that train never shows have the highest ids.
    """

    name: str
    entities: Vocabulary
    predicates: Vocabulary
    timeline: Timeline
    train: Facts
    valid: Facts
    test: Facts
    notes: tuple[str, ...] = field(default=(), compare=False)
    """What was guessed when it was read."""

    def __repr__(self) -> str:
        return f"Graph {self.name}: " + "; ".join(text for _, text in self._outline())

    def _repr_html_(self) -> str:
        return Table(("graph", self.name), tuple(self._outline())).to_html()

    def _outline(self) -> list[tuple[str, str]]:
        timeline = self.timeline
        return [
            ("facts", ", ".join(f"{len(self.facts(split)):,} {split}" for split in SPLITS)),
            ("entities", f"{len(self.entities):,} entities"),
            ("predicates", f"{len(self.predicates):,} predicates"),
            ("times", f"{timeline.span} ({len(timeline):,} steps, granularity {timeline.granularity})"),
        ]

    def facts(self, split: str | None = None) -> Facts:
        """Return the facts of a split by its name; of all three, train first and test last, without one."""
        if split is None:
            return concatenate([self.train, self.valid, self.test])
        if split not in SPLITS:
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

    def to_frame(self, split: str | None = None, library: FrameLibrary = "pandas") -> Any:
        """Return the facts in names: split, subject, predicate, object, and time, or start and end.

        The columns are categories, so that a graph of millions of facts fits. An end that is not known is missing.
        `split` chooses one split, `library` is `pandas`, `polars` or `arrow`. Raises `DataError` for an unknown split.

            graph.to_frame("train").groupby("predicate").size()
        """
        import pyarrow as pa

        facts = self.facts(split)
        sizes = [len(self.facts(name)) for name in SPLITS] if split is None else [len(facts)]
        names = SPLITS if split is None else (split,)
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
        steps = facts.known_ends()[0]
        if check_way(by, valid_from, test_from):
            parts = split_at(np.asarray(self.timeline.starts)[steps], self.timeline, valid_from, test_from)
        else:
            parts = split_rows(steps, by or "random", valid_share, test_share, seed)
        made = divide(facts, parts, self.entities.names, self.predicates.names, self.timeline)
        return Graph(self.name, *made, notes=self.notes)

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
        return digest.hexdigest()

    def save(self, folder: Path | str) -> None:
        """Write the graph into a folder: `graph.json` and `facts.safetensors`. `load` and `Graph.load` read it."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        write_bytes(folder / FACTS, safetensors.numpy.save(self._tensors()))
        header = {"format": FORMAT, "name": self.name, "fingerprint": self.fingerprint(), "notes": self.notes}
        write_bytes(folder / GRAPH, json.dumps(header | self._names(), ensure_ascii=False, indent=0).encode())

    @classmethod
    def load(cls, folder: Path | str) -> Graph:
        """Return the graph that was saved in a folder; raise `RunError` if it is missing or damaged."""
        place = Path(folder) / GRAPH
        try:
            saved = json.loads(place.read_text(encoding="utf-8"))
            if not isinstance(saved, dict) or saved.get("format") != FORMAT:
                raise RunError(
                    f"{place}: not a graph of format {FORMAT}; it was saved by another version, make it again"
                )
            place = Path(folder) / FACTS
            tensors = safetensors.numpy.load_file(place)
            train, valid, test = (
                Facts(*(tensors[f"{split}.{c}"].astype(np.int64) for c in _COLUMNS)) for split in SPLITS
            )
            timeline, notes = Timeline.from_dict(saved["timeline"]), tuple(saved.get("notes", ()))
            entities, predicates = Vocabulary("entity", saved["entities"]), Vocabulary("predicate", saved["predicates"])
            graph = cls(saved["name"], entities, predicates, timeline, train, valid, test, notes)
            if graph.fingerprint() != saved["fingerprint"]:
                raise ValueError(f"it and {GRAPH} do not agree")
        except FileNotFoundError:
            raise RunError(f"{place}: missing; no whole graph is saved there, make it again") from None
        except (safetensors.SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
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
            for split in SPLITS
            for name, column in zip(_COLUMNS, self.facts(split).columns(), strict=True)
        }


def load(  # noqa: PLR0913, each is a key of [data]
    source: Any,
    *,
    columns: Mapping[str, str | int] | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    names: Literal["auto", "as-is"] = "auto",
    granularity: str = "auto",
    regular: bool = True,
    split: Literal["auto", "random", "time", "quantile"] = "auto",
    valid_share: float = 0.1,
    test_share: float = 0.1,
    split_seed: int = 0,
    valid_from: str | None = None,
    test_from: str | None = None,
) -> Graph:
    """Return the graph in a file, a folder, a frame, or a mapping from `train`, `valid` and `test` to these.

    Parameters:
        source: a file (TSV, CSV, JSON Lines, Parquet or Arrow), a folder with train, valid and test files, the folder
            of a saved graph or of a run, the name of a downloaded dataset, or a pandas, Polars or Arrow table.
        columns: which column is which, by name or by number from 1: `{"subject": "actor", "predicate": 2, …}`; by
            default as the header says, or in the order subject, predicate, object, time (or start, end).
        header: whether the first row of a text file names the columns; by default seen from the row.
        delimiter: what separates the columns of a text file; by default seen from the first row.
        names: `auto` replaces ids by the names in `entity2id.txt` and `relation2id.txt` beside the data.
        granularity: one step of the timeline: `second` to `year`, `step` for integers, or `bins:N`.
        regular: whether steps without any event are on the timeline too.
        split: `auto` keeps the splits of a folder and splits a single table at random; `random`, `time` and `quantile`
            split anew.
        valid_share, test_share: the shares of facts that a new split puts into valid and test.
        split_seed: the seed of a random split.
        valid_from, test_from: the times at which valid and test begin; all facts are pooled and cut there.

    Raises `DataError` with every bad row, its file, its line and what to do, and `ConfigError` for a wrong setting.

        graph = foretime.load("events.csv", granularity="month")
        graph = foretime.load(frame, columns={"subject": "who", "predicate": "did", "object": "whom", "time": "day"})
    """
    settings = {key: value for key, value in locals().items() if key in DataConfig.model_fields}
    settings["columns"] = dict(columns or {})
    return read_graph(source, check_section(DataConfig, settings, "load: "))


def read_graph(source: Any, config: DataConfig = DataConfig()) -> Graph:  # noqa: B008
    """Return the graph that `load` returns, read as a `[data]` section says."""
    if isinstance(source, str | Path) and (Path(source) / GRAPH).is_file():
        if changed := config.model_dump(exclude_defaults=True, exclude={"path"}):
            raise ConfigError(f"{source}: a saved graph is used as it is; leave out {', '.join(changed)}")
        return Graph.load(source)
    found = find_source(source)
    problems = Problems()
    names = read_id_names(found.folder, problems) if config.names == "auto" else {}
    tables = {
        split: read_table(table, "the frame" if len(found.tables) == 1 else f"the frame {split!r}", config, problems)
        for split, table in found.tables.items()
    }
    tables, notes = without_meaningless_end(tables)
    return Graph(found.name, *assemble(tables, names, config, problems), notes=tuple(notes))


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
    `by` the split is random. The files are of the format of the input: a text file gives
    text files with the same delimiter, header and columns (`.tsv`, or `.csv` where quotes group fields). All rows are
    checked first. Files of names that lie beside the file come along. Raises `DataError` for bad rows, and for a
    folder that holds a split already.

        foretime.split_file("events.tsv", "events", by="time", test_share=0.2)
    """
    shares = {"split": by or "auto", "valid_share": valid_share, "test_share": test_share, "split_seed": seed}
    config = check_section(DataConfig, reading | shares, "", "data.")
    file, out, problems = Path(file), Path(out), Problems()
    if file.is_dir():
        raise DataError(f"{file}: a folder; name the one file that is to be split")
    table = read_table(file, file.name, config, problems)
    table = without_meaningless_end({"train": table})[0]["train"]
    parts = choose_parts(join_tables([table], {}, config, problems), [len(table)], config)
    out.mkdir(parents=True, exist_ok=True)
    if present := sorted(path.name for path in split_files(out).values()):
        raise DataError(f"{out}: has {', '.join(present)} already; name a new folder")
    paths = format_of(file).split(file, config, parts, out)
    for name in ID_FILES:
        if (beside := file.parent / name).is_file() and not (out / name).exists():
            shutil.copyfile(beside, out / name)
    return dict(zip(paths, map(len, parts), strict=True))
