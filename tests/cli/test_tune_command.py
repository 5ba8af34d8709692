"""`foretime tune` as a shell would call it."""

import json
from pathlib import Path

import pytest

pytest.importorskip("optuna")

from foretime.training.guidance import RULES_OF_A_FILE


def test_tune_prints_the_trials_and_what_to_do_next(foretime, events: Path, tmp_path: Path):
    base = (
        f'[data]\npath = "{events}"\n[model]\nname = "complex"\n[training]\nepochs = 2\nvalid_every = 1\nthreads = 1\n'
    )
    (tmp_path / "base.toml").write_text(base, encoding="utf-8")
    file = tmp_path / "tune.toml"
    text = '[tune]\nconfig = "base.toml"\ntrials = 9\n[ranges]\nmodel.rank = { low = 3, high = 6 }\n'
    file.write_text(text, encoding="utf-8")
    words = ("tune", file, "--out", tmp_path / "out", "--trials", 2)
    outcome = foretime(*words)
    assert outcome.code == 0, outcome.err
    assert "trial 0: model.rank = " in outcome.err
    assert "2 trials, all in" in outcome.out
    assert f"foretime train --config {tmp_path / 'out' / 'best.toml'}" in outcome.err
    again = foretime(*words, "--json")
    found = json.loads(again.out)
    assert len(found) == 2
    assert again.err == ""  # nothing was left to do
    trained = foretime("train", "--config", tmp_path / "out" / "best.toml", "--out", tmp_path / "run", "--no-test")
    assert trained.code == 0, trained.err
    assert f"{found[0]['valid_mrr']:.4f}" in trained.out


def test_tune_warns_of_rules_whose_origin_is_not_known(foretime, events: Path, tmp_path: Path):
    rules = tmp_path / "rules.txt"
    rules.write_text("sues(x, y, t) <= visits(x, y, t)\n", encoding="utf-8")
    base = f'[data]\npath = "{events}"\n[model]\nname = "lcge"\nrank = 4\n'
    base += f'[training]\nepochs = 1\nthreads = 1\n[rules]\nfile = "{rules}"\n'
    (tmp_path / "base.toml").write_text(base, encoding="utf-8")
    text = '[tune]\nconfig = "base.toml"\ntrials = 1\n[ranges]\npenalties.event_rules = { choices = [1.0] }\n'
    (tmp_path / "tune.toml").write_text(text, encoding="utf-8")
    outcome = foretime("tune", tmp_path / "tune.toml", "--out", tmp_path / "out")
    assert outcome.code == 0, outcome.err
    assert outcome.err.startswith(f"warning: {tmp_path / 'tune.toml'}: the configuration has rules.file = '{rules}': ")
    assert RULES_OF_A_FILE in outcome.err
    assert "trial 0: finished" in outcome.err


def test_tune_says_what_is_wrong(foretime, tmp_path: Path):
    outcome = foretime("tune", tmp_path / "none.toml")
    assert outcome.code == 2
    assert "none.toml: no such file; write one with [tune] and [ranges]" in outcome.err
