"""A list of runs on a small graph, written into a folder."""

from pathlib import Path

import numpy as np

CONFIG = """
[data]
path = "{folder}/events.tsv"
[model]
name = "tntcomplex"
rank = 4
[training]
epochs = {epochs}
batch_size = 100
valid_every = 1
patience = 100000
threads = 1
checkpoint_seconds = 0.5
"""


def write_events(path: Path) -> None:
    """Write events that can be learned."""
    generator, rows = np.random.default_rng(5), {}
    for land, day in zip(generator.integers(8, size=300), generator.integers(60, size=300), strict=True):
        date = np.datetime64("2021-01-01") + day
        rows[f"land {land}\t{'visits' if land % 2 else 'sues'}\tland {(land + 1 + day // 20) % 8}\t{date}"] = None
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def write_list(folder: Path, entries: str, epochs: int = 2, budget: str = "") -> Path:
    """Write a graph, its configuration `small.toml` and a list of entries; return the list."""
    write_events(folder / "events.tsv")
    (folder / "small.toml").write_text(CONFIG.format(folder=folder, epochs=epochs), encoding="utf-8")
    head = f'[bench]\nruns = "{folder}/runs"\nresults = "{folder}/results/bench.jsonl"\n{budget}\n'
    (folder / "list.toml").write_text(head + entries, encoding="utf-8")
    return folder / "list.toml"
