"""Examples for the schema: what requests say and what responses look like."""

from __future__ import annotations

from typing import Any

EXAMPLE: dict[str, Any] = {"subject": "Libo Pisapo", "predicate": "Make a visit", "time": "2024-03-19"}
FACT: dict[str, Any] = {**EXAMPLE, "object": "Nelivia"}
RUN: dict[str, Any] = {
    "name": "first",
    "data": "world",
    "model": "lcge",
    "entities": 118,
    "predicates": 14,
    "facts": {"train": 4800, "valid": 600, "test": 600},
    "first": "2024-01-01",
    "last": "2024-12-30",
    "granularity": "day",
    "steps": 365,
    "rules": 57,
    "evidence": True,
    "reranker": False,
    "forecasts": False,
    "intervals": False,
    "valid_mrr": 0.55,
    "test_mrr": 0.54,
    "valid_fitted": False,
    "loaded": "2026-11-16T04:44:17.139004+00:00",
}
RUNS: dict[str, Any] = {
    "runs": [RUN],
    "problems": [{"run": "broken", "message": "cannot be loaded; the log of the service says why"}],
}
NAMES: dict[str, Any] = {"total": 2, "names": [{"name": "Nelivia", "facts": 214}, {"name": "Nelor", "facts": 31}]}
ANSWER: dict[str, Any] = {
    "rank": 1,
    "name": "Nelivia",
    "score": 8.44,
    "confidence": 0.41,
    "known": None,
    "terms": {"event": 0.54, "commonsense": 0.0, "evidence": 7.9},
    "bars": {"event": 0.064, "commonsense": 0.0, "evidence": 0.936},
}
RULE: dict[str, Any] = {
    "id": 17,
    "text": "Host a visit(y, x, t) <= Make a visit(x, y, t)",
    "pattern": "accompanies",
    "head": {"predicate": "Host a visit", "subject": "y", "object": "x", "time": "t"},
    "body": [{"predicate": "Make a visit", "subject": "x", "object": "y", "time": "t"}],
    "support": 3446,
    "body_count": 3835,
    "head_support": 3446,
    "head_count": 3829,
    "confidence": 0.8986,
    "head_coverage": 0.9,
}
RULES: dict[str, Any] = {"total": 57, "window": 19, "rules": [RULE]}
FACTS: dict[str, Any] = {"total": 37, "facts": [{**FACT, "start": None, "end": None, "split": "train"}]}
TIMELINE: dict[str, Any] = {
    "total": 17,
    "bins": [{"start": "2024-01-01", "end": "2024-01-07", "facts": 17}],
    "predicates": [{"name": "Make a visit", "facts": 17}],
    "splits": {"train": 14, "valid": 1, "test": 2},
}
NEIGHBOURS: dict[str, Any] = {
    "entity": "Nelivia",
    "total": 80,
    "neighbours": [
        {
            "name": "Libo Pisapo",
            "facts": 37,
            "as_subject": 20,
            "as_object": 17,
            "first": "2024-01-03",
            "last": "2024-12-20",
            "predicates": [{"name": "Make a visit", "facts": 12}],
        }
    ],
}
_PART: dict[str, Any] = {
    "family": "pair_offset",
    "value": -2.0,
    "says": "2 days before",
    "end": "",
    "share": 1.0,
    "shared": 0.5,
    "predicate": 1.2,
    "rule": 1.3,
    "statement": "Make a visit(x, y, t + 2) <= Express intent to meet(x, y, t)",
    "support": 41,
    "body_count": 120,
    "confidence": 0.342,
    "contribution": 3.0,
}
EXPLANATION: dict[str, Any] = {
    "question": FACT,
    "slot": "object",
    "answer": "Nelivia",
    "rank": 1,
    "confidence": 0.41,
    "known": None,
    "score": 3.54,
    "terms": {"event": 0.54, "commonsense": 0.0, "evidence": 3.0},
    "reasons": [
        {
            "kind": "pair",
            "sentence": "Libo Pisapo expressed intent to meet Nelivia 2 days before",
            "contribution": 3.0,
            "rule": "Make a visit(x, y) <= Express intent to meet(x, y)",
            "parts": [_PART],
            "groundings": 1,
            "events": [
                {
                    "mark": "cause",
                    "subject": "Libo Pisapo",
                    "predicate": "Express intent to meet",
                    "object": "Nelivia",
                    "time": "2024-03-17",
                    "end": "",
                }
            ],
        }
    ],
    "other_reasons": {"count": 0, "contribution": 0.0},
    "note": None,
    "first_stage": None,
    "second_stage": None,
}
