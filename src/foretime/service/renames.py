# until inference renames: this file goes when Answer, Explanation and report.json have the final keys themselves
"""The JSON of answers, explanations and reports with its final keys."""

from __future__ import annotations

from typing import Any

KEYS = {
    "known": "already_known",
    "first_stage": "base_model",
    "second_stage": "reranker",
    "company": "shared_neighbours",
    "column": "feature",
    "told": "reported",
    "peers": "co_neighbours",
    "third": "via",
    "first_stage_score": "base_score",
    "other_second_stage": "other_reranker",
}
MARKS = {"cause": "before", "companion": "same time", "effect": "after"}


def renamed(found: Any) -> Any:
    """Return plain values with the final keys, the final marks of events and flat metrics."""
    if isinstance(found, list):
        return [renamed(one) for one in found]
    if not isinstance(found, dict):
        return found
    flat = {key: value for key, value in found.items() if key != "hits"}
    flat |= {f"hits@{k}": value for k, value in (found.get("hits") or {}).items()}
    return {
        KEYS.get(key, key): MARKS.get(value, value) if key == "mark" else renamed(value) for key, value in flat.items()
    }
