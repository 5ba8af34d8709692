"""Runs ranked on every question of a split, and two of them compared."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from foretime.config import Config
from foretime.data.graph import Graph
from foretime.errors import ConfigError, DataError
from foretime.evaluation import FilterName, questions_of
from foretime.evaluation.comparison import Comparison, RankedRun, compare_ranks
from foretime.evaluation.filters import facts_of_questions
from foretime.inference.run import Run
from foretime.reranker.folds import fits_on_valid
from foretime.runs.evaluation import rank_slots
from foretime.runs.finish import is_finished
from foretime.runs.folder import RunFolder
from foretime.runs.protocols import ask


def compare(
    first: Run | Path | str,
    second: Run | Path | str,
    *,
    split: str = "valid",
    filter: FilterName | None = None,
    top: int = 10,
    resamples: int = 1_000,
    flips: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Return how much better the second run answers the questions of a split, and how sure that is.

    `first` and `second` are runs or their folders. `filter` is the runs' own unless one is given. `top` is how many
    decisive questions are listed for either run, `resamples` how often facts are drawn for the intervals, `flips` how
    often signs are flipped for p.

    Raises `DataError` if the runs have learned different graphs or the split is empty, and `ConfigError` if they have
    different filters and none is given.

    >>> comparison = ft.compare("runs/tntcomplex", "runs/lcge")                # doctest: +SKIP
    >>> comparison.metrics["mrr"].difference_interval, comparison.p_value      # doctest: +SKIP
    """
    one, other = (run if isinstance(run, Run) else Run(run) for run in (first, second))
    _check_same_questions(one, other, filter)
    return compare_ranks(rank_run(one, split, filter), rank_run(other, split, filter), top, resamples, flips, seed)


def rank_run(run: Run, split: str, filter_name: FilterName | None = None) -> RankedRun:
    """Return the realistic ranks that the best weights of a run give, under its own filter or the given one."""
    graph, facts, chosen = run.graph, run.facts(split), filter_name or run.config.training.filter
    questions = questions_of(facts, len(graph.predicates), chosen)
    asked = ask(run.predictor.scorer, graph, run.config.evidence, split)
    slots = rank_slots(asked, graph, facts, chosen, run.predictor.calibrations)
    ranks = np.concatenate([slots[slot].ranks.realistic for slot in ("object", "subject")])
    notes = tuple(f"{run.path}: {note}" for note in notes_on(RunFolder(run.path), run.config, graph, split))
    fact = facts_of_questions(facts, chosen)
    return RankedRun(str(run.path), graph, split, chosen, questions, fact, ranks, slots, notes)


def notes_on(run: RunFolder, config: Config, graph: Graph, split: str) -> list[str]:
    """Return why the ranks of a run on a split are not those of unseen facts by a finished run, if they are not."""
    on_valid = split == "valid"
    seen = {
        "it was trained on train": split == "train",
        "its re-ranker was fitted on valid": on_valid and fits_on_valid(config.reranker),
        "its rules were mined from valid too": on_valid and "valid" in config.rules.splits and run.rules_file.exists(),
        "its evidence has the facts of valid": on_valid
        and config.evidence.use
        and not config.evidence.past_only
        and "valid" in config.evidence.splits,
    }
    notes = [f"{why}, so these are not figures of unseen facts" for why, holds in seen.items() if holds]
    if split != "train" and config.rules.file and run.rules_file.exists():
        notes.append(f"its rules were read from a file; whether they were mined from {split} too is not known")
    if not is_finished(run, graph, with_test=False):
        lacking = config.reranker.use and not run.reranker_file.exists()
        notes.append("the run is not finished: its weights so far" + (", without its re-ranker" if lacking else ""))
    return notes


def _check_same_questions(first: Run, second: Run, filter_name: FilterName | None) -> None:
    """Raise an error if two runs have not learned the same graph, or would be ranked under different filters."""
    prints = [run.graph.fingerprint() for run in (first, second)]
    if prints[0] != prints[1]:
        raise DataError(
            f"the runs have different graphs and cannot be compared: {first.path} has {first.graph.name} (fingerprint "
            f"{prints[0][:12]}), {second.path} has {second.graph.name} (fingerprint {prints[1][:12]}); "
            "train both on the same graph"
        )
    filters = [run.config.training.filter for run in (first, second)]
    if filter_name is None and filters[0] != filters[1]:
        raise ConfigError(
            f"the runs have different filters: {first.path} has {filters[0]}, {second.path} has {filters[1]}; "
            "choose one with --filter"
        )
