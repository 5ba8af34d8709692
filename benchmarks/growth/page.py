"""The page of how far foretime reaches: what was measured, and what it means for graphs that fit no machine here.

    python -m benchmarks.growth.page

Writes `docs/scale.md` from the files in `benchmarks/results`.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.growth.extrapolation import ARRAYS, GB, OVER, Graph, bytes_for_each, exponent, extrapolated
from benchmarks.growth.stages import STAGES
from foretime.files import read_json
from foretime.runs.presets import FACTS_OF_A_FOLD, QUESTIONS_OF_RULES

RESULTS, PAGE = Path("benchmarks/results"), Path("docs/scale.md")
TARGETS = (Graph(1e7, 1e6), Graph(1e9, 1e8))
NODE_GB = 256
Row = dict[str, Any]


def main() -> None:
    """Write the page."""
    growth = read_json(RESULTS / "growth.json")
    parts = (
        _head(growth),
        _measured(growth),
        _exponents(growth),
        _beyond(growth),
        _arrays(),
        _network(growth),
        _memory(),
    )
    PAGE.write_text("\n".join("\n".join(part) for part in parts) + "\n", encoding="utf-8")
    print(PAGE)


def _head(growth: Row) -> list[str]:
    setting = growth["setting"]
    return [
        "# How far it reaches",
        "",
        "Written by `python -m benchmarks.growth.page` from what `python -m benchmarks.growth` and the other commands named",
        "below have measured. Worlds are generated, with hubs as real graphs have them: a hundredth of the entities has more",
        "than a tenth of the events. Every stage is a process of its own with a limit on time and memory.",
        "",
        f"Seconds are the processor's, on one core that others used as well (torch {setting['machine']['torch']},",
        f"{setting['machine']['threads']} thread). Training is timed on {setting['train_facts']:,} facts against the evidence of all,",
        "a re-ranker on the facts of one fold; both are shown in proportion, for all that the preset `quick` trains and for a",
        f"fold of {FACTS_OF_A_FOLD:,} facts. Above {QUESTIONS_OF_RULES // 2:,} facts the preset draws as many for its one epoch.",
        f"`rank` calibrates on {setting['asked']} facts of valid and ranks them, `answer` is 100 questions, `explain` 20.",
        "",
    ]


def _measured(growth: Row) -> list[str]:
    lines = [
        "## Measured",
        "",
        "| stage | events | entities | seconds | peak memory, MB |",
        "| --- | --- | --- | --- | --- |",
    ]
    order = {name: place for place, name in enumerate(_stages(growth))}
    for row in sorted(growth["rows"], key=lambda row: (order[row["stage"]], row["events"], row["entities"])):
        cost = (
            f"{row['whole_seconds']:,.2f} | {row['memory_mb']:,.0f}"
            if row["status"] == "done"
            else f"{row['status']} |"
        )
        lines.append(f"| {row['stage']} | {row['events']:,} | {row['entities']:,} | {cost} |")
    libraries = median(row["empty_mb"] for row in growth["rows"] if row["status"] == "done")
    left = [f"`{stage}`" for stage in STAGES if stage not in order]
    missing = [f"Not measured yet: {', '.join(left)}.", ""] if left else []
    return [*lines, "", f"Memory has the libraries in it, about {libraries:,.0f} MB.", "", *missing]


def _exponents(growth: Row) -> list[str]:
    lines = [
        "## Exponents", "",
        "Between the two largest sizes: cost ∝ size to this power. Memory is that above the libraries.", "",
        "| stage | time over events | memory over events | time over entities | memory over entities |",
        "| --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for stage in _stages(growth):
        cells = []
        for over in ("events", "entities"):
            found = exponent(growth["slopes"], stage, over)
            cells += ["–", "–"] if found is None else [f"{found['whole_seconds']:.2f}", f"{found['own_mb']:.2f}"]
        lines.append(f"| {stage} | {' | '.join(cells)} |")
    return [
        *lines, "",
        "`train` asks the more questions the larger a graph is, but never more than the bound; what one of them costs grows",
        "with the partners of its subject and with the different objects of its predicate, all of which it touches: so the",
        "time still grows with the entities, where a few predicates have a great many objects. `rerank`, `rank` and `answer`",
        "score every entity for every question, a few questions at a time: their time grows with the entities.", "",
    ]  # fmt: skip


def _beyond(growth: Row) -> list[str]:
    lines = [
        "## Beyond what was measured", "",
        "From the largest size measured; nothing here was run. Time follows these exponents, but goes at least in proportion",
        "to the events where all are gone through: in small sizes that is hidden by what does not grow. Memory is the bytes",
        "that each event and each entity has taken. Hours are of one core.", "",
        "| stage | bytes an event | bytes an entity | 10⁷ events, 10⁶ entities: hours | GB | 10⁹ events, 10⁸ entities: hours | GB | nodes of 256 GB |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for stage in _stages(growth):
        found = [extrapolated(growth["rows"], growth["slopes"], stage, target) for target in TARGETS]
        near, far = found
        if near is None or far is None:
            continue
        nodes = -(-far["gb"] // NODE_GB)
        done = [row for row in growth["rows"] if row["stage"] == stage and row["status"] == "done"]
        each = " | ".join(f"{bytes_for_each(done, over) or 0:,.0f}" for over in OVER)
        lines.append(
            f"| {stage} | {each} | {near['hours']:,.2f} | {near['gb']:,.1f} | {far['hours']:,.1f} | {far['gb']:,.0f} | {nodes:,.0f} |"
        )
    return [*lines, ""]


def _arrays() -> list[str]:
    far = TARGETS[1]
    lines = [
        "## What breaks first", "",
        f"Arrays that are held in one piece today, with {far.predicates} predicates; the first is what breaks first.", "",
        "| stage | what | GB at 10⁷ events, 10⁶ entities | GB at 10⁹ events, 10⁸ entities |", "| --- | --- | --- | --- |",
    ]  # fmt: skip
    for array in sorted(ARRAYS, key=lambda array: -array.size(far)):
        near, there = (array.size(target) / GB for target in TARGETS)
        lines.append(f"| {array.stage} | {array.what} | {near:,.1f} | {there:,.1f} |")
    return [*lines, ""]


def _network(growth: Row) -> list[str]:
    weights = [row["weights"] for row in growth["rows"] if row["stage"] == "index" and row["status"] == "done"]
    if not weights:
        return []
    least, most = min(weights), max(weights)
    return [
        "## Over the network", "",
        "The weights of the evidence do not grow with the entities, and with the events only as rules are found: here there",
        f"are {least:,} to {most:,}. Where the questions of a step are split between processes, each sends their gradient:",
        f"{4 * least / 1e3:,.0f} to {4 * most / 1e3:,.0f} kilobytes a step. Events need not be sent: each process holds",
        "those that its questions look up, today all of them.", "",
    ]  # fmt: skip


def _memory() -> list[str]:
    fitted, by_rows = read_json(RESULTS / "reranker_memory.json"), read_json(RESULTS / "reranker_memory_by_rows.json")
    mined = read_json(RESULTS / "rule_mining_icews05-15.json")
    peak, before = fitted["peak_memory_mb"]["with the trees"], by_rows["peak_memory_mb"]["with the trees"]
    return [
        "## On a real graph", "",
        f"- Mining {mined['data']} ({mined['events']:,} events) takes {mined['peak_memory_mb']:,.0f} MB at the most: one kind of",
        "  rule is read in time after the other, and cut down before the next (`python -m benchmarks.rule_mining graph`).",
        f"- The re-ranker of {fitted['graph']} out of fold ({fitted['folds']} folds, {fitted['candidates']:,} candidates of",
        f"  {fitted['features']} features, {fitted['features_mb']:,.0f} MB) takes {peak:,.0f} MB at the most: the features are on the disk, and",
        "  LightGBM holds what it has binned (`python -m benchmarks.reranker_memory`).",
        "", "## Rejected", "",
        f"- Histograms by rows, LightGBM's other way: {before:,.0f} MB ({by_rows['trees']} trees) instead of {peak:,.0f} ({fitted['trees']}",
        "  trees). The trees are the same, the bins are copied twice more (`reranker_memory_by_rows.json`, by the same command at",
        "  the commit before).",
        "- `lightgbm.Sequence` as it comes: it bins without the seed and the least size of a leaf, and the trees are others.",
        "  `tests/reranker/test_trees.py` has both.",
    ]  # fmt: skip


def _stages(growth: Row) -> list[str]:
    return list(dict.fromkeys(row["stage"] for row in growth["rows"]))


if __name__ == "__main__":
    main()
