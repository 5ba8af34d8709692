"""The run whose files are damaged and that is asked: small, and with nearly every file that a run can have."""

from __future__ import annotations

from pathlib import Path

import foretime as ft
from benchmarks.faults.materials import rows

FACTS = 240
SETTINGS = {
    "model.rank": 2, "training.epochs": 1, "training.batch_size": 100, "training.valid_every": 1, "training.threads": 1,
    "evidence.use": True, "rules.support": 2, "rules.static_support": 3, "reranker.use": True, "reranker.trees": 8,
    "reranker.leaves": 4, "reranker.top": 6, "reranker.slots": True,
}  # fmt: skip
KINDS = ("republic", "kingdom")


def train_small_run(folder: Path) -> Path:
    """Train the run in a folder, add an update to it, and return where it is."""
    made = rows(FACTS, 0)
    events = folder / "events.tsv"
    events.write_text("".join("\t".join(row) + "\n" for row in made), encoding="utf-8")
    names = sorted({row[0] for row in made})
    about = [f"{name}\t{KINDS[number % 2]}\tland {number}" for number, name in enumerate(names)]
    described = folder / "entities.tsv"
    described.write_text("\n".join(["name\ttype\taliases", *about, ""]), encoding="utf-8")
    run = ft.train(ft.load(events), model="lcge", folder=folder / "run", settings=SETTINGS)
    run.update([(object_, predicate, subject, time) for subject, predicate, object_, time in made[:2]])
    return folder / "run"


def example_question(run: Path) -> dict[str, str]:
    """Return a question that the run can be asked, by its fields."""
    subject, predicate, _, time = next(ft.open_run(run).graph.rows("test"))
    return {"subject": subject, "predicate": predicate, "time": time}


def files_of(run: Path) -> dict[str, bytes]:
    """Return every file of a run by its name in the folder."""
    return {path.relative_to(run).as_posix(): path.read_bytes() for path in run.rglob("*") if path.is_file()}
