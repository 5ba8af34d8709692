"""The largest gap of a run: chosen on valid, kept in its folder, and of no effect on what is asked single-step."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from foretime.config import Config, DataConfig, override
from foretime.data.facts import Facts
from foretime.data.graph import Graph, read_graph
from foretime.errors import RunError
from foretime.inference.run import Run
from foretime.runs.gaps import ChosenGap, choose_gap
from foretime.runs.life import train
from foretime.runs.loading import load_scorer, read_max_gap
from foretime.runs.protocols import ask

YEARS, PLACES, WHO = 40, 20, 60
SETTINGS = {
    "model.name": "rules", "evidence.use": True, "evidence.past_only": True,
    "evidence.splits": ["train", "valid", "test"], "evidence.families": ["recurrence"], "training.epochs": 6,
    "training.batch_size": 100, "rules.support": 2,
}  # fmt: skip


@pytest.fixture(scope="module")
def offices(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    """Each place is headed by someone, which is told every year; after six years by someone else."""
    rows = [
        f"place {place}\theaded by\tperson {(7 * place + 11 * ((year + place) // 6)) % WHO}\t{1980 + year}"
        for year in range(YEARS)
        for place in range(PLACES)
    ]
    path = tmp_path_factory.mktemp("gaps") / "offices.tsv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return read_graph(path, DataConfig(valid_from="2010", test_from="2016"))


@pytest.fixture(scope="module")
def run(offices: Graph, small_config: Config, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run(train(offices, override(small_config, SETTINGS), tmp_path_factory.mktemp("gaps") / "run").path)


def test_what_goes_on_untold_is_looked_at_from_the_first_step_after_it_was_told(run: Run, offices: Graph):
    scorer = load_scorer(run._folder, run.config, offices)
    assert read_max_gap(run._folder.gap_file) == 1
    assert scorer.index is not None
    assert scorer.index.max_gap == 1
    chosen = choose_gap(scorer, offices, run.config.evidence)
    assert chosen.max_gap == 1
    assert chosen.mrr["1 step after the last event"] > chosen.mrr["own time"]


@torch.inference_mode()
def test_single_step_no_score_changes(run: Run, offices: Graph):
    scorer, questions = load_scorer(run._folder, run.config, offices), offices.test.with_inverses(1)
    assert torch.equal(scorer.score(questions), scorer.at_true_times.score(questions))
    later = ask(scorer, offices, run.config.evidence, "test", "multi-step").scorer
    assert not torch.equal(later.score(questions), later.at_true_times.score(questions))


def test_no_gap_is_chosen_where_valid_does_not_come_after_train(run: Run, offices: Graph):
    scorer = load_scorer(run._folder, run.config, offices)
    assert choose_gap(scorer, offices.split(by="random", seed=1), run.config.evidence) == ChosenGap(None)
    few = replace(offices, valid=Facts(*(column[:9] for column in offices.valid.columns())))
    assert choose_gap(scorer, few, run.config.evidence).max_gap is None
    sees_all = run.config.evidence.model_copy(update={"past_only": False, "splits": ["train"]})
    assert choose_gap(scorer, offices, sees_all).max_gap is None


@pytest.mark.parametrize("text", ["{", '{"max_gap": 0}', '{"max_gap": "two"}', "[]", "{}"])
def test_a_damaged_file_is_an_error_that_names_it(tmp_path: Path, text: str):
    file = tmp_path / "gap.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(RunError, match=r"gap\.json"):
        read_max_gap(file)


def test_a_far_window_is_forecast_as_of_the_step_after_the_last_event(run: Run, offices: Graph):
    near, far = run.forecast(steps=1, top=50), run.forecast(start="2026", steps=1, top=50)
    assert near.note is None
    assert far.note == "the last event before 2026 is of 2019: asked as of 2020"
    # everyone who was there in the last year is still what is most likely
    last = offices.test.start == offices.test.start.max()
    there = {offices.entities.name(int(one)) for one in np.unique(offices.test.object[last])}
    assert {event.object for event in far[:10]} <= there
