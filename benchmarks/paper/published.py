"""The figures that the paper prints, read from one file that names their source."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from foretime.models import MODELS

FILE = Path(__file__).with_name("published.toml")


@dataclass(frozen=True)
class Published:
    """The printed figures of tables 3 and 4, by data set and row; a metric that is not printed is not there."""

    paper: str
    rank: str
    figures: dict[str, str]
    """Who made the figures of a data set."""
    fingerprints: dict[str, list[str]]
    """The graphs that are meant by the name of a data set, with and without the steps at which nothing happens."""
    table3: dict[str, dict[str, dict[str, float]]]
    table4: dict[str, dict[str, dict[str, float]]]
    protocol: dict[str, dict[str, str]]
    """What is known of how a figure came about, by data set and row."""

    def name(self, model: str) -> str:
        """Return a model's name as it is printed, from its name in a configuration: the class has that spelling."""
        return MODELS[model].__name__ if model in MODELS and model != "rules" else model

    def printed(self, data: str, fingerprint: str, row: str) -> dict[str, float] | None:
        """Return the figures that a row of table 3 has for a graph; nothing for another graph of the same name."""
        return self.table3.get(data, {}).get(row) if fingerprint in self.fingerprints.get(data, []) else None


@cache
def published() -> Published:
    """Return the printed figures."""
    values = tomllib.loads(FILE.read_text(encoding="utf-8"))
    source = values["source"]
    tables = {
        table: {
            data: {
                row: {name: value for name, value in zip(source["columns"], figures, strict=True) if value != "-"}
                for row, figures in rows.items()
            }
            for data, rows in values[table].items()
        }
        for table in ("table3", "table4")
    }
    return Published(
        source["paper"],
        source["rank"],
        source["figures"],
        source["fingerprints"],
        **tables,
        protocol=values["protocol"],
    )
