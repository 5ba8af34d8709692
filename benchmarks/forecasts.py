"""What forecasting runs reach, beside the recurrency baseline and what others have published.

    python -m benchmarks.forecasts runs/icews14-a-forecast …

Takes single-step from the report of each run, which ranked test once, and ranks test multi-step with the same weights,
looking at questions from where valid, multi-step, says that it is best.
Writes benchmarks/results/forecast_NAME.json for each run, and the table of all such files into docs/forecasting.md.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import foretime as ft
from foretime.evaluation import AnswerIndex, questions_of
from foretime.evaluation.metrics import Metrics
from foretime.evaluation.ranks import rank
from foretime.files import read_json, write_json, write_text
from foretime.inference.agenda.maker import before_valid
from foretime.runs.gaps import choose_gap, name_of
from foretime.runs.protocols import ask

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
MARKS = "<!-- forecasts:begin -->", "<!-- forecasts:end -->"
PUBLISHED = {
    "icews14-a": "recurrency .374, TLogic .425, TiRGN .440, CountTRuCoLa .450, ECHO .474, LogCL .489",
    "icews14-b": "",
    "icews05-15": "TLogic .470, TiRGN .500, LogCL .570",
    "yago": "TiRGN .880, recurrency .909, CountTRuCoLa .909, ECHO .918",
}
"""MRR under the same protocol, single-step."""


def measure(folder: Path) -> dict[str, Any]:
    """Return the figures of one run."""
    run = ft.open_run(folder)
    report, graph = run.report, run.graph
    chosen = chosen_gap(run)
    scorer = run.predictor.scorer.within(chosen["max_gap"])
    asked = ask(scorer, graph, run.config.evidence, "test", "multi-step")
    questions = questions_of(graph.test, len(graph.predicates))
    later = Metrics.of(rank(asked.scorer.score, questions, AnswerIndex.of(graph)).realistic)
    single = {split: run.evaluations[split] for split in ("valid", "test")}
    return {
        "run": folder.name,
        "data": graph.name,
        "fingerprint": graph.fingerprint(),
        "seed": run.config.training.seed,
        "fitted on": report["reranker"],
        "single-step": {split: one.all.to_dict() for split, one in single.items()},
        "base model": {split: one.base_model.all.to_dict() for split, one in single.items() if one.base_model},
        "calibration error": {split: dict(one.calibration_error) for split, one in single.items()},
        "multi-step": {"test": later.to_dict(), "chosen on valid": chosen},
        "training_seconds": report["training_seconds"],
        "machine": report["machine"],
    }


def chosen_gap(run: ft.Run) -> dict[str, Any]:
    """Return from how far behind the last event a run looks at questions, and the MRR of each way on valid, multi-step.

    A run that was trained before the choice was a part of training makes it now.
    """
    folder = run._folder
    if folder.gap_file.exists():
        return dict(read_json(folder.gap_file))
    judging = before_valid(folder, run.predictor).scorer
    return choose_gap(judging, run.graph, run.config.evidence).to_dict()


def table() -> str:
    """Return the table of all measured runs."""
    lines = [
        "| run | single-step, valid | single-step, test | base model, test | multi-step, test | multi-step, valid, looked at from | recurrency baseline | published, single-step |",
        "| --- | ---: | ---: | ---: | ---: | --- | --- | --- |",
    ]
    for file in sorted(RESULTS.glob("forecast_*.json")):
        found = json.loads(file.read_text(encoding="utf-8"))
        if "single-step" not in found:
            continue
        name = next((name for name in PUBLISHED if found["run"].startswith(name)), "")
        baseline = RESULTS / f"recurrency_{name}.json"
        beside = json.loads(baseline.read_text(encoding="utf-8")) if baseline.exists() else None
        held = (
            "–"
            if beside is None
            else ", ".join(f"{one} {beside[one]['test']['mrr']:.3f}" for one in ("single-step", "multi-step"))
        )
        single, base = found["single-step"], found["base model"].get("test", {"mrr": float("nan")})
        lines.append(
            f"| [{found['run']}](../benchmarks/results/{file.name}) | {single['valid']['mrr']:.4f} | {single['test']['mrr']:.4f} "
            f"| {base['mrr']:.4f} | {found['multi-step']['test']['mrr']:.4f} | {looked_from(found)} | {held} | {PUBLISHED.get(name, '') or '–'} |"
        )
    return "\n".join(lines)


def looked_from(found: dict[str, Any]) -> str:
    """Return what was tried on a sample of valid, multi-step, the chosen one in bold."""
    chosen = found["multi-step"].get("chosen on valid")
    if chosen is None:
        return "own time"
    best, bold = name_of(chosen["max_gap"]), ("", "**")
    return ", ".join(f"{bold[name == best]}{name}{bold[name == best]} {mrr:.4f}" for name, mrr in chosen["mrr"].items())


def main() -> None:
    """Measure the given runs, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*", type=Path)
    for folder in parser.parse_args().runs:
        found = measure(folder)
        write_json(RESULTS / f"forecast_{folder.name}.json", found)
        print(json.dumps(found, indent=2))
    page = ROOT / "docs" / "forecasting.md"
    head, rest = page.read_text(encoding="utf-8").split(MARKS[0])
    write_text(page, f"{head}{MARKS[0]}\n\n{table()}\n\n{MARKS[1]}{rest.split(MARKS[1])[1]}")


if __name__ == "__main__":
    main()
