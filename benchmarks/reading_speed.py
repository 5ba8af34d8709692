"""Measures how fast text files are read, beside DuckDB's own reader of the same files in the same run.

    python -m benchmarks.reading_speed --rows 1000000 --out benchmarks/results/reading_speed.json

A generated file of events (tabs; commas; commas, with every name in quotes) is read in turn by DuckDB (into an Arrow table
of texts, every column), by the reader of this library (columns of names by number), and by `foretime.load` (names, times,
timeline, ids and a split). Each is the best of several rounds. Where other work shares the machine, the seconds of the processor say more than those of the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from foretime.config import DataConfig
from foretime.data.formats import read_table
from foretime.data.graph import load
from foretime.data.problems import Problems


def write_events(path: Path, rows: int, seed: int = 0) -> None:
    """Write events among 20,000 names in 5,000 days, of 250 kinds."""
    rng = np.random.default_rng(seed)
    mark = "\t" if path.suffix == ".tsv" else ","
    quote = '"' if "quotes" in path.name else ""
    names = [f"{quote}Entity of some length {number}{quote}" for number in range(20_000)]
    days = np.datetime64("2005-01-01") + np.arange(5_000)
    who, whom = rng.integers(20_000, size=(2, rows)).tolist()
    what, when = (
        rng.integers(250, size=rows).tolist(),
        days[np.sort(rng.integers(5_000, size=rows))].astype(str).tolist(),
    )
    with path.open("w", encoding="utf-8") as stream:
        stream.writelines(
            f"{names[s]}{mark}does thing {p}{mark}{names[o]}{mark}{t}\n"
            for s, p, o, t in zip(who, what, whom, when, strict=True)
        )


def by_duckdb(path: Path, threads: int) -> None:
    """Read the file into an Arrow table."""
    connection = duckdb.connect(config={"threads": threads})
    mark, quote = ("\t", "") if path.suffix == ".tsv" else (",", '"')
    connection.read_csv(str(path), sep=mark, header=False, all_varchar=True, quotechar=quote).to_arrow_table()


def measured(work: Callable[[], Any]) -> dict[str, float]:
    """Return the seconds of the clock and of the processor."""
    clock, cpu = time.perf_counter(), time.process_time()
    work()
    return {"seconds": round(time.perf_counter() - clock, 3), "cpu_seconds": round(time.process_time() - cpu, 3)}


def main() -> None:
    """Measure, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    threads, results = os.cpu_count() or 1, {}
    with tempfile.TemporaryDirectory() as folder:
        for name in ("events.tsv", "events.csv", "events_in_quotes.csv"):
            path = Path(folder) / name
            write_events(path, given.rows)
            ways: dict[str, Callable[[], Any]] = {
                "duckdb": lambda path=path: by_duckdb(path, threads),
                "reader": lambda path=path: read_table(path, "", DataConfig(), Problems()),
                "load": lambda path=path: load(path),
            }
            rounds = [{way: measured(work) for way, work in ways.items()} for _ in range(given.rounds)]
            best = {
                way: {key: min(one[way][key] for one in rounds) for key in ("seconds", "cpu_seconds")} for way in ways
            }
            ratios = {
                f"{way}_to_duckdb": {key: round(best[way][key] / best["duckdb"][key], 2) for key in best[way]}
                for way in ("reader", "load")
            }
            results[name] = {"megabytes": round(path.stat().st_size / 1e6, 1), **best, **ratios}
    machine = {"threads": threads, "processor": platform.processor() or platform.machine(), "load": os.getloadavg()[0]}
    text = json.dumps({"rows": given.rows, "duckdb": duckdb.__version__, **machine, **results}, indent=2)
    print(text)
    if given.out:
        given.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
