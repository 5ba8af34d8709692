"""The sections of `docs/results.md` below the table of runs, each from the file that a benchmark wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from foretime.evaluation.metrics import METRICS

BENCHMARKS = Path(__file__).parent / "results"
LABELS = " | ".join(metric.label for metric in METRICS.values())


def sections(kept: dict[str, dict[str, Any]]) -> list[str]:
    """Return the lines of all sections whose files are there."""
    return [
        *_base_model_section(kept),
        *_reranker_section(),
        *_service_section(),
        *_ablation_section(),
        *_commonsense_section(),
        *_filters_section(),
        *_counting_section(),
        *_paper_rules_section(),
        *_growth_section(),
    ]


def _gains(speed: dict[str, Any]) -> str:
    """Return sentences on what makes steps faster, as far as it was measured: not every machine has everything."""
    said = {
        "memory_kept_speed_up": "Keeping memory between steps makes one of TNTComplEx {:.2f} times as fast",
        "bfloat16_speed_up": "products in bfloat16 make it {:.2f} times as fast as it is then",
    }
    if "candidates" in speed:
        said["candidates_speed_up"] = (
            f"a softmax over {speed['candidates']:,} candidates alone makes it {{:.2f}} times as fast"
        )
    found = [text.format(speed[name]) for name, text in said.items() if name in speed]
    return "; ".join(found) + ". " if found else ""


def benchmark_lines() -> list[str]:
    """Return one line for each kept benchmark figure that the pages quote."""
    lines = []
    speed = _benchmark("training_speed")
    if speed:
        lines.append(
            f"- A training step at rank {speed['rank']} on {speed['data']} reaches "
            f"{speed['tntcomplex_share_of_peak']:.0%} of the machine's own matrix-product peak (TNTComplEx; LCGE "
            f"{speed['lcge_share_of_peak']:.0%}), and answers {speed['tntcomplex_speed_up']:.2f} times as many questions a "
            f"second as a plain eager loop with sparse embeddings (LCGE {speed['lcge_speed_up']:.2f} times). "
            f"{speed['rules']:,} rules add {speed['rules_cost']:.1%} to a step of LCGE. {_gains(speed)}"
            f"Peak memory of the whole benchmark: {speed['peak_memory_mb']:,.0f} MB."
        )
    for path in sorted(BENCHMARKS.glob("training_speed_*.json")):
        other = json.loads(path.read_text(encoding="utf-8"))
        lines.append(f"- On {other['data']} at rank {other['rank']}: {_gains(other)}".rstrip())
    for path in sorted(BENCHMARKS.glob("evidence_speed_*.json")):
        evidence = json.loads(path.read_text(encoding="utf-8"))
        share = evidence["share_of_an_embedding_step"]
        lines.append(
            f"- A training step of all evidence on {evidence['graph']} costs {share['all families']:.2f} times a step of "
            f"TNTComplEx at rank 200 (pair {share['pair']:.2f}, object {share['object']:.2f}, active {share['active']:.2f}, "
            f"affinity {share['affinity']:.2f}, path {share['path']:.2f}); its index holds {evidence['index_mb']:,.0f} MB."
        )
    ranking = _benchmark("ranking_speed")
    if ranking:
        lines.append(
            f"- Ranking all {ranking['questions']:,} test questions of {ranking['data']} takes {ranking['ratio']:.2f} times "
            f"its matrix products alone."
        )
    mining = _benchmark("rule_mining_icews05-15")
    if mining:
        lines.append(
            f"- Mining {mining['data']} ({mining['events']:,} events): static rules {mining['static_seconds']:.1f} s for "
            f"{sum(mining['static_rules'].values()):,} rules, temporal rules {mining['temporal_seconds']:.1f} s, peak memory "
            f"{mining['peak_memory_mb']:,.0f} MB."
        )
    reference = _benchmark("rule_mining_reference")
    if reference:
        lines.append(
            f"- Mining static rules is {reference['ratio']:,.0f} times as fast as plain scipy.sparse products on a world of "
            f"{reference['events']:,} events, with the same counts."
        )
    planted = _benchmark("planted_rules")
    if planted:
        lines.append(
            f"- Of {planted['planted']} rules planted in the built-in world {planted['recall']:.0%} are found, "
            f"each within {planted['largest_error']:.3f} of its planted probability. {planted['found']} rules are found in "
            f"all (precision to the letter {planted['precision']:.2f}): the others are planted ones read backwards or in "
            f"part, and regularities between pairs that recur."
        )
    return lines


def _base_model_section(kept: dict[str, dict[str, Any]]) -> list[str]:
    """Return the MRR before and after re-ranking by how near in time training has an event between the pair."""
    reranked = {name: report for name, report in kept.items() if report.get("reranker")}
    if not reranked:
        return []
    lines = [
        "## Before and after re-ranking, by kind of evidence",
        "",
        "MRR of the base model and after re-ranking, by how near in time training has an event between subject and answer,",
        "of any predicate and direction; the share of questions in brackets.",
        "",
    ]
    for name, report in reranked.items():
        fitted_on = {"valid"} if "valid" in report["reranker"] else set()
        splits = [split for split in ("valid", "test") if split in report and split not in fitted_on]
        lines += [f"`{name}` (re-ranker fitted on: {report['reranker']}):", ""]
        lines.append("| kind | " + " | ".join(f"{s}, base model | {s}, re-ranked" for s in splits) + " |")
        lines.append("| --- |" + " --- |" * (2 * len(splits)))
        lines.append(_pair_row("all", [(report[s]["base_model"]["all"], report[s]["all"]) for s in splits]))
        for kind in report[splits[0]]["kinds"]:
            pairs = [(report[s]["base_model"]["kinds"][kind], report[s]["kinds"][kind]) for s in splits]
            share = pairs[0][1]["questions"] / max(report[splits[0]]["all"]["questions"], 1)
            lines.append(_pair_row(f"{kind} ({share:.1%})", pairs))
        lines.append("")
    return lines


def _pair_row(label: str, pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> str:
    cells = [f"{first['mrr']:.4f} | {both['mrr']:.4f}" for first, both in pairs]
    return f"| {label} | " + " | ".join(cells) + " |"


def _reranker_section() -> list[str]:
    """Return what the re-ranker is worth on valid, by what it is fitted on and which features it has."""
    lines = []
    for path in sorted(BENCHMARKS.glob("reranker_*-*.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        lines += [
            f"## What the re-ranker learns from: `{result['run']}`",
            "",
            f"MRR on valid, {result['trees']} trees over the {result['top']} best candidates "
            "(`benchmarks/reranker_choices.py`; test is not ranked):",
            "",
            "| re-ranker | valid MRR |",
            "| --- | --- |",
            *(f"| {name} | {found['valid_mrr']:.4f} |" for name, found in result.items() if isinstance(found, dict)),
            "",
        ]
    return lines


def _service_section() -> list[str]:
    """Return what the service carries, and what becomes of four times that."""
    load = _benchmark("service_load")
    if not load:
        return []
    lines = [
        "## What the service carries",
        "",
        f"`{load['run']}` on {load['cores']} cores, asked by a second process that keeps its connections "
        "(`benchmarks/service_load.py`); milliseconds.",
        "",
        "| asked | clients | requests a second | p50 | p95 | p99 | waiting | model | HTTP and JSON | together |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    kinds = {"complete_one_by_one": "complete, one by one", "complete": "complete", "explain": "explain"}
    for kind, words in kinds.items():
        for clients, found in load[kind].items():
            spent = found["time"]
            lines.append(
                f"| {words} | {clients} | {found['requests_per_second']} | {found['p50_ms']} | {found['p95_ms']} "
                f"| {found['p99_ms']} | {spent['waiting_ms']} | {spent['model_ms']} | {spent['http_and_json_ms']} "
                f"| {spent['questions_together']} |"
            )
    over = load["overload"]
    lines += [
        "",
        f"Questions that come together are ranked together, which brings {load['gathering_ratio']} times as many requests a "
        f"second. Asked {over['sent_per_second']:.0f} questions a second, {over['sent_times_what_is_carried']} times what it "
        f"carries, it answers {over['answered']['requests_per_second']} a second (p50 {over['answered']['p50_ms']} ms) and "
        f"refuses the others by 503: {over['statuses']}, other statuses {over['other_statuses'] or 'none'}, refusals "
        f"without Retry-After {over['503_without_retry_after']}, broken connections {over['broken_connections']}.",
        "",
    ]
    return lines


def _commonsense_section() -> list[str]:
    found = sorted(BENCHMARKS.glob("commonsense_weight*.json"))
    if not found:
        return []
    lines = ["## The weight of commonsense", "", "MRR on valid of E1 + λ·E2; λ = 0 is E1 alone:", ""]
    for path in found:
        result = json.loads(path.read_text(encoding="utf-8"))
        weights = list(result["mrr"])
        lines += [
            f"`{'` with `'.join(result['runs'])}`, best λ = {result['best']}:",
            "",
            "| λ | " + " | ".join(weights) + " |",
            "| --- |" + " --- |" * len(weights),
            "| valid MRR | " + " | ".join(f"{value:.4f}" for value in result["mrr"].values()) + " |",
            "",
        ]
    return lines


def _ablation_section() -> list[str]:
    result = _benchmark("ablation")
    if not result:
        return []
    lines = [
        "## The paper's ablation",
        "",
        f"`configs/ablation/{result['config']}`, {result['rules']} rules, seeds {', '.join(map(str, result['seeds']))}: MRR as "
        'mean ± standard deviation over the seeds. "shuffled" has the same rules with their heads shuffled: a control.',
        "",
        "| variant | valid | test | test, each seed |",
        "| --- | --- | --- | --- |",
    ]
    for name, splits in result["variants"].items():
        cells = [_spread(splits[split]) for split in ("valid", "test")]
        each = ", ".join(f"{value:.4f}" for value in splits["test"]["values"])
        lines.append(f"| {name} | {cells[0]} | {cells[1]} | {each} |")
    return [*lines, ""]


def _spread(found: dict[str, Any]) -> str:
    spread = f" ± {found['standard_deviation']:.4f}" if len(found["values"]) > 1 else " (one seed)"
    return f"{found['mean']:.4f}{spread}"


def _filters_section() -> list[str]:
    result = _benchmark("interval_filters")
    if not result:
        return []
    lines = [
        "## Three filters for intervals",
        "",
        f"The test split of {result['data']}, ranked by the run `{result['run']}` under each named filter:",
        "",
        f"| filter | questions | {LABELS} |",
        "| --- | --- |" + " --- |" * len(METRICS),
    ]
    for name, found in result["filters"].items():
        lines.append(f"| {name} | {found['questions']:,} | {_figures(found)} |")
    return [*lines, ""]


def _counting_section() -> list[str]:
    lines = [
        "## Counting alone",
        "",
        "Valid, ranked by how often train has (s, p, o) at any time, then s and o, then p and o (`benchmarks/counting.py`):",
        "",
        f"| data | {LABELS} |",
        "| --- |" + " --- |" * len(METRICS),
    ]
    for name in (names := sorted(path.stem for path in BENCHMARKS.glob("counting_*.json"))):
        found = _benchmark(name)
        lines.append(f"| {name.removeprefix('counting_')} | {_figures(found)} |")
    return [*lines, ""] if names else []


def _figures(found: dict[str, Any]) -> str:
    return " | ".join(metric.text(found.get(name)) for name, metric in METRICS.items())


def _paper_rules_section() -> list[str]:
    result = _benchmark("paper_rules")
    if not result:
        return []
    lines = [
        "## The paper's rules",
        "",
        f"The rules of the paper's Table 2 on {result['data']}, train alone, window {result['window']}; `listed` says whether "
        f"they are among the {result['mined']:,} rules that mining keeps there.",
        "",
        "| rule | paper | SC windowed | support | SC literal | listed |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in result["rules"]:
        counted = row["windowed"]
        lines.append(
            f"| {row['rule']} | {row['paper']:.2f} | {counted['confidence']:.3f} | {counted['support']:,} of "
            f"{counted['bodies']:,} | {row['literal']['confidence']:.3f} | {'yes' if row['in_our_list'] else 'no'} |"
        )
    return [*lines, ""]


def _growth_section() -> list[str]:
    rows = _benchmark("rule_mining_growth")
    if not rows:
        return []
    lines = [
        "## Growth of rule mining",
        "",
        "![time and memory against the number of events](rule_mining.svg)",
        "",
        "| events of the world | training events | static rules, s | temporal rules, s | peak memory, MB |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        lines.append(
            f"| {row['asked']:,} | {row['events']:,} | {row['static_seconds']:.2f} | {row['temporal_seconds']:.2f} "
            f"| {row['peak_memory_mb']:,.0f} |"
        )
    return [*lines, ""]


def _benchmark(name: str) -> Any:
    path = BENCHMARKS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
