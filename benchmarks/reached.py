"""The line "reached" at the top of a configuration: figures of runs that were trained by it, as it stands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from foretime.config import read_config
from foretime.experiments.bench.rows import read_rows
from foretime.files import write_text
from foretime.runs.fingerprint import config_hash


def valid_mrr(report: dict[str, Any]) -> str:
    """Return the MRR on valid, unless the re-ranker was fitted on valid: then it says nothing."""
    return "(fitted on it)" if "valid" in (report.get("reranker") or "") else f"{report['valid']['all']['mrr']:.4f}"


def write_reached(configs: Path, results: Path, kept: dict[str, dict[str, Any]]) -> None:
    """Write what a configuration, as it stands, has reached into its first line."""
    found = {}
    for row in read_rows(results / "bench.jsonl"):
        if row["status"] == "finished":
            valid = "(fitted on it)" if "valid" in (row["reranker"] or "") else f"{row['valid']['mrr']:.4f}"
            found[row["config_hash"]] = f"valid {valid}, test {row['test']['mrr']:.4f} (results/bench.jsonl)"
    for name, report in kept.items():
        tested = f"test {report['test']['all']['mrr']:.4f}" if "test" in report else "test not ranked"
        configured = config_hash(read_config(results / name / "config.toml"))
        found[configured] = f"valid {valid_mrr(report)}, {tested} (results/{name})"
    for path in configs.glob("*.toml"):
        before = path.read_text(encoding="utf-8")
        text = re.sub(r"\A# (reached|not measured).*\n", "", before)
        reached = found.get(config_hash(read_config(path)))
        if text == before and not reached:
            continue  # its figures stand elsewhere
        write_text(path, (f"# reached: MRR on {reached}\n" if reached else "# not measured yet\n") + text)
