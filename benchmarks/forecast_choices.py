"""What was tried for the base model of forecasts: families of evidence and the weight of their penalty, by valid.

    python -m benchmarks.forecast_choices icews14 --valid-from 2014-11-01 --test-from 2014-12-01 --name icews14-a

Each line trains the evidence alone for one epoch, without a re-ranker, and ranks valid single-step. Test is not ranked.
Writes benchmarks/results/forecast_choices_NAME.json after each line.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

import foretime as ft
from foretime.config import Config, override
from foretime.runs.machine import machine

RESULTS = Path(__file__).parent / "results"
RATED = ["recurrence", "contact", "popularity"]
CHOICES: dict[str, dict[str, object]] = {
    "families of completion, looking back": {"evidence.families": ["pair", "object", "active", "affinity"]},
    "the same, penalty 3e-4": {
        "evidence.families": ["pair", "object", "active", "affinity"],
        "penalties.evidence_l2": 3e-4,
    },
    "recurrence alone": {"evidence.families": ["recurrence"], "penalties.evidence_l2": 3e-4},
    "recurrence and contact": {"evidence.families": RATED[:2], "penalties.evidence_l2": 3e-4},
    "recurrence, contact and popularity": {"evidence.families": RATED, "penalties.evidence_l2": 3e-4},
    "the same without a penalty": {"evidence.families": RATED, "penalties.evidence_l2": 0.0},
    "the same, penalty 1e-3": {"evidence.families": RATED, "penalties.evidence_l2": 1e-3},
    "with pair rules too": {"evidence.families": [*RATED, "pair"], "penalties.evidence_l2": 3e-4},
    "with common neighbours too": {"evidence.families": [*RATED, "affinity"], "penalties.evidence_l2": 3e-4},
}
_SHARED = {
    "model.name": "rules",
    "evidence.use": True,
    "evidence.past_only": True,
    "evidence.splits": ["train", "valid", "test"],
    "evidence.epochs": 1,
    "training.epochs": 1,
    "training.valid_every": 1,
    "penalties.evidence_l2": 0.0,
}


def main() -> None:
    """Train each choice, and write what valid says of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--valid-from")
    parser.add_argument("--test-from")
    parser.add_argument("--name", required=True)
    given = parser.parse_args()
    graph = ft.load(given.data, valid_from=given.valid_from, test_from=given.test_from)
    out = RESULTS / f"forecast_choices_{given.name}.json"
    found = json.loads(out.read_text()) if out.exists() else {"data": given.name, "machine": machine(), "choices": {}}
    for name, settings in CHOICES.items():
        if name in found["choices"]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            config = override(Config(), {**_SHARED, **settings})
            run = ft.train(graph, config=config, folder=Path(folder) / "run", test=False)
            seconds = round(time.perf_counter() - began, 1)
            found["choices"][name] = run.evaluations["valid"].all.to_dict() | {"seconds": seconds}
        out.write_text(json.dumps(found, indent=2) + "\n")
        print(f"{name}: {found['choices'][name]}")


if __name__ == "__main__":
    main()
