"""Rows of results and curves as the tests of benchmarks need them."""

from foretime.experiments.bench.curve import Point

RISE = [0.01 * step for step in range(1, 11)]


def points(*values: float) -> list[Point]:
    return [Point(place, 10.0 * place, value) for place, value in enumerate(values, start=1)]


def result(name: str, mrr: float, **changes: object) -> dict[str, object]:
    figures = {"questions": 10, "mrr": mrr, "hits@1": mrr - 0.1, "hits@3": mrr, "hits@10": mrr + 0.1}
    return {
        "name": name, "model": "lcge", "variant": "", "data": "icews14", "seed": 0, "config_hash": "ab", "note": None,
        "status": "finished", "version": "0.1.0", "commit": "c" * 40, "rank": 200, "filter": "exact", "evidence": False,
        "reranker": None, "parameters": 1000, "epochs": 30, "planned_epochs": 30, "training_seconds": 120.0,
        "seconds": 130.0, "peak_memory_mb": 512.0, "converged": True, "last_gain": 0.001, "valid": figures,
        "curve": [[5, 60.0, mrr - 0.01], [10, 120.0, mrr]], "test": figures, "machine": {"threads": 2},
    } | changes  # fmt: skip
