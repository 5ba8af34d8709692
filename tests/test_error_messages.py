"""Everything that a user can break, in one table each: what is broken, and the message with its place and its remedy.

The public interface is asked: `foretime.load` for data, `foretime.train` for configurations, `Run.predict` for
questions and for runs.
"""

import gzip
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import foretime
from altered_runs import sealed
from foretime.errors import ConfigError, DataError, ForetimeError, QuestionError, RunError

GOOD = "a\tmeets\tb\t2020-01-01\nb\tmeets\tc\t2020-01-02\nc\tmeets\ta\t2020-01-03\n"
HEADED = "actor\tdeed\ttarget\tday\n" + GOOD
ACTORS = {"subject": "actor", "predicate": "deed", "object": "target", "time": "day"}

# what is broken: (the name of the file, its content, settings, the message after the path of the file)
FILES: dict[str, tuple[str, str | bytes, dict[str, Any], str]] = {
    "an empty file": ("e.tsv", "", {}, "{f}: the file is empty; expected lines of subject, predicate, object and time"),
    "a row too short": ("e.tsv", GOOD + "a\tb\tc\n", {}, "{f}:4: expected 4 or 5 tab-separated fields, found 3; fix"),
    "a row too long": (
        "e.tsv",
        GOOD + "a\tb\tc\t1\t2\n",
        {},
        "{f}:4: expected 4 tab-separated fields, as in the other",
    ),
    "only three columns": ("e.tsv", "a\tb\tc\n", {}, "{f}: expected 4 columns (subject predicate object time) or 5"),
    "a time that is none": ("e.tsv", GOOD + "a\tb\tc\tsoon\n", {}, "{f}:4: the time 'soon' is not a time; write 2014-"),
    "a day that never was": ("e.tsv", GOOD + "a\tb\tc\t2021-02-30\n", {}, "{f}:4: the time '2021-02-30' is not a time"),
    "no known time": ("e.tsv", "a\tb\tc\t####-##-##\n", {}, "no fact has a known time"),
    "no known end": ("e.tsv", "a\tb\tc\t\t\na\tb\tc\t\t\n", {}, "no fact has a known time"),
    "a name that is empty": (
        "e.tsv",
        GOOD + "a\t\tc\t2020-01-01\n",
        {},
        "{f}:4: the predicate is empty; give it a name",
    ),
    "bytes that are no UTF-8": (
        "e.tsv",
        GOOD.encode() + b"\xe9\tb\tc\t2020-01-01\n",
        {},
        "{f}:4: not valid UTF-8 (byte 0xE9); ",
    ),
    "UTF-16": ("e.tsv", GOOD.encode("utf-16"), {}, "{f}: is in UTF-16; save it as UTF-8"),
    "a quote left open": (
        "e.csv",
        'a,b,c,2020-01-01\n"a,b,c,2020-01-02\n',
        {},
        "{f}:2: a quote is opened and never closed",
    ),
    "gzip without its name": ("e.tsv", gzip.compress(GOOD.encode()), {}, "{f}: is compressed by gzip; name it .gz"),
    "gzip that is cut off": ("e.tsv.gz", gzip.compress(GOOD.encode())[:-9], {}, "{f}: cannot be read: "),
    "Parquet that is none": ("e.parquet", "PAR1 or not", {}, "{f}: cannot be read as Parquet: "),
    "a workbook": ("e.tsv", b"PK\x03\x04 and so on", {}, "{f}: is a zip archive or a workbook; unpack it, or save the"),
    "a binary file": (
        "e.tsv",
        b"\x7fELF\x00\x01",
        {},
        "{f}: a binary file; expected text in UTF-8 (TSV or CSV), or Parquet",
    ),
    "dates among integers": (
        "e.tsv",
        GOOD + "a\tb\tc\t17\n",
        {},
        "{f}:4: the time '17' is an integer among dates; write all times in one way, or say --date-format",
    ),
    "a header alone": (
        "e.tsv",
        "subject\tpredicate\tobject\ttime\n",
        {},
        "{f}: a header and no facts; add facts, or use",
    ),
    "a column that is not there": (
        "e.tsv",
        HEADED,
        {"columns": ACTORS | {"time": "days"}},
        "{f}: no column 'days' for the time; did you mean 'day'?",
    ),
    "a column beyond the last": (
        "e.tsv",
        GOOD,
        {"columns": {"subject": 1, "predicate": 2, "object": 3, "time": 9}},
        "{f}: no column 9 for the time; ",
    ),
    "too fine a step": (
        "e.tsv",
        "a\tb\tc\t2020-01\n",
        {"granularity": "day"},
        "{f}:1: '2020-01' is precise to the month",
    ),
    "more bins than times": (
        "e.tsv",
        GOOD,
        {"granularity": "bins:9"},
        "bins:9 needs 9 different times in train, found ",
    ),
}

SETTINGS: dict[str, tuple[dict[str, Any], str]] = {
    "a header that is neither": ({"header": "maybe"}, "load: header = 'maybe': should be a valid boolean"),
    "an unknown step": ({"granularity": "fortnight"}, "unknown granularity 'fortnight'; "),
    "bins without a number": (
        {"granularity": "bins:many"},
        "granularity 'bins:many': write the number of bins, as in bins:100",
    ),
    "a part of no fact": (
        {"columns": {"subjct": 1}},
        "columns: unknown column 'subjct'; did you mean 'subject' or 'object'?",
    ),
    "a part that is missing": ({"columns": {"subject": 1}}, "columns: expected also predicate, object"),
    "a delimiter of two": ({"delimiter": "||"}, "delimiter '||': expected one character, such as a comma"),
    "a share too large": ({"valid_share": 1.5}, "load: valid_share = 1.5: should be less than 1"),
    "nothing left to train on": (
        {"valid_share": 0.5, "test_share": 0.5},
        "valid_share 0.5 and test_share 0.5 leave nothing",
    ),
}

CONFIGS: dict[str, tuple[str, dict[str, Any], str]] = {
    "no TOML": ("[training", {}, "{c}: not valid TOML: "),
    "an unknown section": ("[train]\nepochs = 3", {}, "{c}: unknown key train; did you mean 'training'?"),
    "an unknown key": (
        "[training]\nepoch = 3",
        {},
        "{c}: unknown key training.epoch; did you mean 'epochs' or 'epoch_limit'?",
    ),
    "a wrong type": ("[training]\nepochs = 'many'", {}, "{c}: training.epochs = 'many': should be a valid integer"),
    "a value out of range": (
        "[training]\npatience = 0",
        {},
        "{c}: training.patience = 0: should be greater than or equal",
    ),
    "a value for a section": ("model = 'lcge'", {}, "{c}: model = 'lcge': should be a table, [model]"),
    "an unknown choice": (
        "[training]\nsoftmax = 'all'",
        {},
        "{c}: training.softmax = 'all': should be 'each' or 'joint'",
    ),
    "an unknown model": ("[model]\nname = 'lgce'", {}, "unknown model 'lgce'; the models are "),
    "an option of another model": (
        "[model]\nname = 'complex'\ncommonsense_rank = 3",
        {},
        "unknown key model.commonsense_rank",
    ),
    "a setting without a section": (
        "",
        {"epochs": 3},
        "'epochs' is not a setting; write section.key=value, as in training.epochs=20",
    ),
    "a penalty of another model": ("[penalties]\nn3 = 0.1", {}, "unknown key penalties.n3; "),
    "a penalty without a weight": (
        "[penalties]\nevent_n3 = 0.1",
        {},
        "penalties.commonsense_n3 is missing: write its weight",
    ),
}

ASKED = {"subject": "state 1", "predicate": "praises", "time": "2020-03-01"}
QUESTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "nothing open": (ASKED | {"object": "state 2"}, "nothing is left open; leave out the slot that you ask for"),
    "two open": (
        ASKED | {"time": None},
        "object and time are left open; give all of subject, predicate, object, time but one",
    ),
    "a misspelt entity": (ASKED | {"subject": "state1"}, "unknown entity 'state1'; did you mean 'state 1'"),
    "a misspelt predicate": (ASKED | {"predicate": "prais"}, "unknown predicate 'prais'; did you mean 'praises'"),
    "a time that is none": (
        ASKED | {"time": "May"},
        "'May' is not a time; write it as in 2020-01-02 (2020-01-02 to 2020-10-26)",
    ),
    "a time too coarse": (
        ASKED | {"time": "2020-05"},
        "'2020-05' is precise to the month only; write a day, as in 2020-01-02",
    ),
    "a time out of range": (
        ASKED | {"time": "1999-01-01"},
        "'1999-01-01' is not on the timeline, 2020-01-02 to 2020-10-26; ask",
    ),
    "a time and a start": (ASKED | {"start": "2020-03-01"}, "give either a time, or a start and an end, not both"),
    "no answers wanted": (ASKED | {"top": 0}, "top is 0; ask for at least 1 answer"),
}


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


RUNS: dict[str, tuple[Callable[[Path], object], str]] = {
    "no folder": (shutil.rmtree, "{r}: no such run folder"),
    "no configuration": (
        lambda run: (run / "config.toml").unlink(),
        "{r}: not a run folder, it has no config.toml; name a",
    ),
    "a cut configuration": (lambda run: (run / "config.toml").write_text("[data"), "{r}/config.toml: not valid TOML: "),
    "no names": (lambda run: (run / "graph.json").unlink(), "{r}/graph.json: missing; no whole graph is saved there"),
    "cut names": (lambda run: cut(run / "graph.json"), "{r}/graph.json: the saved graph is damaged: "),
    "no facts": (
        lambda run: (run / "facts.safetensors").unlink(),
        "{r}/facts.safetensors: missing; no whole graph is saved there",
    ),
    "cut facts": (lambda run: cut(run / "facts.safetensors"), "{r}/facts.safetensors: the saved graph is damaged: "),
    "cut weights": (lambda run: cut(run / "best.safetensors"), "{r}/best.safetensors: damaged checkpoint ("),
    "a cut report": (lambda run: cut(run / "report.json"), "{r}/report.json: damaged report ("),
}


def check_fails(kind: type[ForetimeError], beginning: str, act: Callable[[], object]) -> None:
    with pytest.raises(kind, match="^" + re.escape(beginning)) as caught:
        act()
    assert len(str(caught.value)) > 10


@pytest.mark.parametrize("broken", FILES)
def test_a_broken_file_is_named_with_its_line_and_what_to_do(tmp_path: Path, broken: str):
    name, content, settings, message = FILES[broken]
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    check_fails(DataError, message.format(f=path), lambda: foretime.load(path, **settings))


def test_a_source_that_cannot_be_found_says_so(tmp_path: Path):
    check_fails(
        DataError, f"{tmp_path}/no.tsv: no such file or folder; give a path", lambda: foretime.load(tmp_path / "no.tsv")
    )
    check_fails(DataError, f"{tmp_path}: no train", lambda: foretime.load(tmp_path))
    fetch = "icews14: no such file or folder, here or in nowhere; fetch it with `foretime data get icews14`, or let"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FORETIME_DATA", "nowhere")
        check_fails(DataError, f"{fetch} FORETIME_DATA name the folder", lambda: foretime.load("icews14"))
    (tmp_path / "train.tsv").write_text(GOOD)
    (tmp_path / "test.tsv").write_text(GOOD)
    check_fails(
        DataError, f"{tmp_path}: no valid file; found only train and test; add it", lambda: foretime.load(tmp_path)
    )
    check_fails(
        DataError, "the frame: expected a path or a pandas, Polars or Arrow table, not int", lambda: foretime.load(7)
    )


@pytest.mark.parametrize("broken", SETTINGS)
def test_a_broken_setting_of_load_is_named(tmp_path: Path, broken: str):
    settings, message = SETTINGS[broken]
    (tmp_path / "events.tsv").write_text(GOOD)
    check_fails(ConfigError, message, lambda: foretime.load(tmp_path / "events.tsv", **settings))


@pytest.mark.parametrize("broken", CONFIGS)
def test_a_broken_configuration_is_named_with_its_key(tmp_path: Path, broken: str):
    text, settings, message = CONFIGS[broken]
    data, config = tmp_path / "events.tsv", tmp_path / "my.toml"
    data.write_text(GOOD)
    config.write_text(text)
    check_fails(ConfigError, message.format(c=config), lambda: foretime.train(data, config=config, settings=settings))


@pytest.mark.parametrize("broken", QUESTIONS)
def test_a_broken_question_is_explained(small_run: Path, broken: str):
    slots, message = QUESTIONS[broken]
    run = foretime.open_run(small_run)
    check_fails(QuestionError, message, lambda: run.predict(**slots))


@pytest.mark.parametrize("broken", RUNS)
def test_a_broken_run_is_named_with_its_file(small_run: Path, tmp_path: Path, broken: str):
    damage, message = RUNS[broken]
    run = Path(shutil.copytree(small_run, tmp_path / "run"))
    files = {path.name for path in run.iterdir() if path.suffix != ".jsonl"}
    damage(run)
    changed = sorted(name for name in files if run.is_dir() and not same(small_run / name, run / name))
    if (len(changed) == 1 and changed != ["config.toml"]) or "TOML" in message:  # by its manifest
        check_fails(RunError, f"{run}/{changed[0]}: ", lambda: foretime.open_run(run).predictor)
        (run / "manifest.json").unlink()
        if "report" in message:
            sealed(run)
        else:
            (run / "report.json").unlink()
    kind = ConfigError if "TOML" in message else RunError
    check_fails(kind, message.format(r=run), lambda: foretime.open_run(run).predictor)


def same(file: Path, copy: Path) -> bool:
    return copy.exists() and file.read_bytes() == copy.read_bytes()


def test_there_are_many_ways_to_break_things():
    tables = (FILES, SETTINGS, CONFIGS, QUESTIONS, RUNS)
    assert sum(map(len, tables)) >= 60
