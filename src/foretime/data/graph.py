"""A data set: names, a timeline, and the facts of train, valid and test."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from foretime.config import DataConfig, check_section
from foretime.data.assembling import assemble
from foretime.data.facts import Facts, concatenate
from foretime.data.problems import Problems
from foretime.data.reading import read_table
from foretime.data.sources import SPLITS, find_source, read_id_names
from foretime.data.timeline import Timeline
from foretime.data.vocabulary import Vocabulary
from foretime.errors import DataError, RunError, suggestion
from foretime.files import write_bytes

GRAPH, FACTS, FORMAT = "graph.json", "facts.safetensors", 1
_COLUMNS = ("subject", "predicate", "object", "start", "end")


@dataclass(frozen=True)
class Graph:
    """A temporal knowledge graph in three splits.

    Ids are given in the order in which names first appear in train, then in valid, then in test: names that train never
    shows have the highest ids.
    """

    name: str
    entities: Vocabulary
    predicates: Vocabulary
    timeline: Timeline
    train: Facts
    valid: Facts
    test: Facts

    def facts(self, split: str | None = None) -> Facts:
        """Return the facts of a split by its name; of all three, train first and test last, without one."""
        if split is None:
            return concatenate([self.train, self.valid, self.test])
        if split not in SPLITS:
            raise DataError(f"unknown split {split!r}{suggestion(split, SPLITS) or '; use train, valid or test'}")
        facts: Facts = getattr(self, split)
        return facts

    @cached_property
    def has_intervals(self) -> bool:
        """Whether any fact has two different ends, or one that is not known."""
        return any(self.facts(name).has_intervals for name in SPLITS)

    def fingerprint(self) -> str:
        """Return a sha256 over names, timeline and facts: equal for equal graphs, whatever they are called."""
        digest = hashlib.sha256(json.dumps(self._graph(), ensure_ascii=False, sort_keys=True).encode())
        for name, column in self._tensors().items():
            digest.update(f"{name} {len(column)}\n".encode())
            digest.update(column.astype("<i4").tobytes())
        return digest.hexdigest()

    def save(self, folder: Path | str) -> None:
        """Write the data set into a folder: `graph.json` and `facts.safetensors`."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        write_bytes(folder / FACTS, safetensors.numpy.save(self._tensors()))
        header = {"format": FORMAT, "name": self.name, "fingerprint": self.fingerprint()}
        write_bytes(folder / GRAPH, json.dumps(header | self._graph(), ensure_ascii=False, indent=0).encode())

    @classmethod
    def load(cls, folder: Path | str) -> Graph:
        """Return the data set that was saved in a folder."""
        folder = Path(folder)
        saved = _load_graph(folder / GRAPH)
        try:
            tensors = safetensors.numpy.load_file(folder / FACTS)
            splits = {split: Facts(*(tensors[f"{split}.{c}"].astype(np.int64) for c in _COLUMNS)) for split in SPLITS}
            entities, predicates = Vocabulary("entity", saved["entities"]), Vocabulary("predicate", saved["predicates"])
            graph = cls(saved["name"], entities, predicates, Timeline.from_dict(saved["timeline"]), **splits)
            intact = graph.fingerprint() == saved["fingerprint"]
        except FileNotFoundError:
            raise RunError(f"{folder / FACTS}: missing; the folder is not complete, make it again") from None
        except (safetensors.SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
            raise RunError(f"{folder}: the saved graph is damaged ({error}); make it again") from None
        if not intact:
            raise RunError(f"{folder}: the saved graph is damaged: {FACTS} and {GRAPH} do not agree; make it again")
        return graph

    def _graph(self) -> dict[str, Any]:
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


def _load_graph(path: Path) -> dict[str, Any]:
    try:
        graph = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RunError(f"{path}: no saved graph there") from None
    except (OSError, ValueError) as error:
        raise RunError(f"{path}: damaged: {error}; make it again") from None
    if not isinstance(graph, dict) or graph.get("format") != FORMAT:
        raise RunError(f"{path}: not a graph of format {FORMAT}; it was saved by another version, make it again")
    return graph


def read_graph(source: Any, config: DataConfig = DataConfig()) -> Graph:  # noqa: B008
    """Return the data set in a folder, a file, a frame, or a mapping from `train`, `valid` and `test` to these.

    A frame is a pandas, Polars or Arrow table. What has only train is split as the configuration says. Every bad row
    of all files is reported in one `DataError`.
    """
    found = find_source(source)
    problems = Problems()
    names = read_id_names(found.folder, problems) if config.names == "auto" else {}
    tables = {
        split: read_table(table, "the frame" if len(found.tables) == 1 else f"the frame {split!r}", config, problems)
        for split, table in found.tables.items()
    }
    parts = assemble(tables, names, config, problems)
    return Graph(found.name, parts.entities, parts.predicates, parts.timeline, **parts.splits)


def load(source: Any, **settings: Any) -> Graph:
    """Return the graph in a file, a folder of splits, or a pandas, Polars or Arrow frame.

    The settings are the keys of `[data]`, such as `granularity="month"` or `columns={"subject": "actor", …}`.
    A mapping from split names to files or frames gives the splits as they are.
    """
    return read_graph(source, check_section(DataConfig, settings, "load: "))
