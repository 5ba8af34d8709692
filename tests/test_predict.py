"""Answers against scores that are taken one by one, marks against sets of facts, and questions that cannot be asked."""

import dataclasses
import math
import random
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from altered_runs import sealed
from foretime import Answer, Graph, Question
from foretime.config import Config, ModelConfig, override
from foretime.data.facts import UNKNOWN, inverse
from foretime.data.graph import read_graph
from foretime.data.splitting import SPLITS
from foretime.errors import Interrupted, QuestionError, RunError
from foretime.inference.predictor import Predictor
from foretime.models import Queries, build_model
from foretime.reranker.scorer import Scorer
from foretime.runs.evaluation import softmax_at
from foretime.runs.folder import RunFolder
from foretime.runs.life import train
from foretime.training.settings import complete_config
from foretime.training.trainer import sizes_of
from interruptions import StopAfter

SLOTS = ("subject", "object", "predicate", "time")
EVERYTHING = 10_000
Row = tuple[str, str, str, int, int]  # the ends of a fact as steps


@pytest.fixture(scope="module")
def predictor(small_run: Path) -> Predictor:
    return Predictor.open(small_run)


def interval_predictor(path: Path, predicates_each: int) -> Predictor:
    """A model with random weights of a graph of intervals, some with an end that is not known."""
    generator, rows = random.Random(1), {}
    for _ in range(300):
        subject, host, start = generator.randrange(6), generator.randrange(6), generator.randrange(1990, 2010)
        ends = generator.choice([(start, start), (start, start + 4), (start, "####-##-##"), ("####-##-##", start)])
        rows[f"{subject}\t{'heads' if subject % 2 else 'joins'}\t{host}\t{ends[0]}\t{ends[1]}"] = None
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    graph = read_graph(path, Config().data.model_copy(update={"granularity": "year"}))
    config = ModelConfig(name="lcge", rank=4, init_scale=0.8)
    model = build_model(config, sizes_of(graph, predicates_each), torch.Generator().manual_seed(2)).eval()
    model.end_offset = (predicates_each - 1) * 2 * len(graph.predicates)
    return Predictor(Scorer(model, graph), graph, {slot: softmax_at(slot, 0.7) for slot in SLOTS})


@pytest.fixture(scope="module")
def intervals(tmp_path_factory: pytest.TempPathFactory) -> Predictor:
    return interval_predictor(tmp_path_factory.mktemp("intervals") / "offices.tsv", predicates_each=1)


@pytest.fixture(scope="module")
def ends_apart(tmp_path_factory: pytest.TempPathFactory) -> Predictor:
    return interval_predictor(tmp_path_factory.mktemp("apart") / "offices.tsv", predicates_each=2)


def row_of(graph: Graph, split: str, i: int) -> Row:
    facts = graph.facts(split)
    names = graph.entities.name(facts.subject[i]), graph.predicates.name(facts.predicate[i])
    return (*names, graph.entities.name(facts.object[i]), int(facts.start[i]), int(facts.end[i]))


def ask(graph: Graph, row: Row, slot: str) -> Question:
    """The question of a fact with one slot left open: by its time, or by those of its ends that are known."""
    subject, predicate, object_, start, end = row
    label = graph.timeline.label
    if start == end:
        times = {"time": label(start)}
    else:
        times = {name: label(step) for name, step in {"start": start, "end": end}.items() if step != UNKNOWN}
    asked = {"subject": subject, "predicate": predicate, "object": object_, **times}
    gone = ("time", "start", "end") if slot == "time" else (slot,)
    return Question(**{name: value for name, value in asked.items() if name not in gone})


def candidates(graph: Graph, slot: str) -> list[str]:
    if slot == "predicate":
        return list(graph.predicates.names)
    if slot == "time":
        return [graph.timeline.label(step) for step in range(len(graph.timeline))]
    return list(graph.entities.names)


def fill(graph: Graph, row: Row, slot: str, candidate: str) -> Row:
    if slot == "time":
        step = graph.timeline.step(candidate)
        return (*row[:3], step, step)
    place = ("subject", "predicate", "object").index(slot)
    return (*row[:place], candidate, *row[place + 1 :])


@torch.inference_mode()
def score_one(predictor: Predictor, row: Row, backwards: bool = False) -> float:
    """The score of one fact by `score_objects` alone; backwards, of `(o, p⁻¹, s)`."""
    graph = predictor.graph
    subject, object_ = graph.entities.id(row[0]), graph.entities.id(row[2])
    predicate = graph.predicates.id(row[1])
    if backwards:
        subject, predicate, object_ = object_, inverse(predicate, len(graph.predicates)), subject
    scores = [
        predictor.model.score_objects(
            Queries(torch.tensor([subject]), torch.tensor([asked]), torch.tensor([step])), torch.tensor([[object_]])
        ).item()
        for step, asked in zip(row[3:], (predicate, predicate + predictor.model.end_offset), strict=True)
        if step != UNKNOWN
    ]
    return sum(scores) / len(scores)


def some_rows(graph: Graph) -> list[Row]:
    """Facts of every split and, in a graph of intervals, of every kind of ends."""
    rows = [row_of(graph, split, i) for split in SPLITS for i in range(len(graph.facts(split)))]
    kinds = {(row[3] == UNKNOWN, row[4] == UNKNOWN, row[3] == row[4]): row for row in rows}
    return [rows[0], row_of(graph, "valid", 0), row_of(graph, "test", 0), *kinds.values()]


def assert_brute_force(predictor: Predictor, slot: str) -> None:
    graph = predictor.graph
    for row in some_rows(graph):
        answers = predictor.predict_many([ask(graph, row, slot)], top=EVERYTHING)[0]
        assert sorted(answer.name for answer in answers) == sorted(candidates(graph, slot))
        found = {answer.name: answer.score for answer in answers}
        wanted = {
            name: score_one(predictor, fill(graph, row, slot, name), backwards=slot == "subject") for name in found
        }
        assert found == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("slot", SLOTS)
def test_every_candidate_has_the_score_that_the_model_gives_it_alone(predictor: Predictor, slot: str):
    assert_brute_force(predictor, slot)


@pytest.mark.parametrize("slot", SLOTS)
@pytest.mark.parametrize("graph", ["intervals", "ends_apart"])
def test_with_two_ends_the_score_is_their_mean_and_with_one_known_end_that_of_it(request, graph: str, slot: str):
    assert_brute_force(request.getfixturevalue(graph), slot)


@pytest.mark.parametrize("slot", SLOTS)
@pytest.mark.parametrize("graph", ["predictor", "intervals"])
def test_the_terms_of_an_answer_add_up_to_its_score(request, graph: str, slot: str):
    predictor: Predictor = request.getfixturevalue(graph)
    for row in some_rows(predictor.graph):
        for answer in predictor.predict_many([ask(predictor.graph, row, slot)], top=7)[0]:
            assert set(answer.terms) == {"event", "commonsense"}
            assert sum(answer.terms.values()) == pytest.approx(answer.score, abs=1e-5)


def test_asking_for_the_subject_is_asking_the_inverse_predicate_for_the_object(predictor: Predictor):
    graph = predictor.graph
    row = row_of(graph, "test", 3)
    turned = inverse(graph.predicates.id(row[1]), len(graph.predicates))
    query = Queries(*(torch.tensor([i]) for i in (graph.entities.id(row[2]), turned, row[3])))
    with torch.inference_mode():
        scores = predictor.model.score_objects(query)[0]
    best = [graph.entities.name(i) for i in scores.argsort(descending=True).tolist()]
    answers = predictor.predict(predicate=row[1], object=row[2], time=graph.timeline.label(row[3]), top=EVERYTHING)
    assert [answer.name for answer in answers] == best


def known_split(graph: Graph, row: Row, slot: str) -> str | None:
    """The first split with the fact at one of the row's ends; where the time is asked for, with an end just there."""
    for split in SPLITS:
        for i in range(len(graph.facts(split))):
            other = row_of(graph, split, i)
            found = row[3] in other[3:] if slot == "time" else any(holds_at(other, step) for step in row[3:])
            if other[:3] == row[:3] and found:
                return split
    return None


def holds_at(row: Row, step: int) -> bool:
    start, end = (-math.inf if row[3] == UNKNOWN else row[3]), (math.inf if row[4] == UNKNOWN else row[4])
    return step != UNKNOWN and start <= step <= end


@pytest.mark.parametrize("slot", SLOTS)
@pytest.mark.parametrize("graph", ["predictor", "intervals"])
def test_known_answers_are_marked_with_their_split_and_settled_ones_have_no_probability(request, graph: str, slot: str):
    predictor: Predictor = request.getfixturevalue(graph)
    data = predictor.graph
    for row in (row_of(data, split, 1) for split in SPLITS):
        answers = predictor.predict_many([ask(data, row, slot)], top=25)[0]
        for answer in answers:
            assert answer.already_known == known_split(data, fill(data, row, slot, answer.name), slot)
            assert (answer.probability is None) == (answer.already_known in ("train", "valid"))


def test_an_answer_known_for_an_interval_is_known_at_every_time_within(tmp_path: Path):
    path = tmp_path / "offices.tsv"
    path.write_text("ann\theads\tbank\t1990\t2010\nann\theads\tclub\t1990\t1995\nbob\tjoins\tclub\t2012\t####-##-##\n")
    graph = read_graph({"train": path, "valid": path, "test": path}, Config().data)
    model = build_model(ModelConfig(name="lcge", rank=2), sizes_of(graph), torch.Generator().manual_seed(0)).eval()
    predictor = Predictor(Scorer(model, graph), graph, {slot: softmax_at(slot) for slot in SLOTS})

    def known(**slots: str) -> set[str]:
        return {answer.name for answer in predictor.predict(**slots) if answer.already_known}

    assert known(subject="ann", predicate="heads", time="2000") == {"bank"}
    assert known(subject="ann", predicate="heads", time="1993") == {"bank", "club"}
    assert known(predicate="heads", object="bank", time="2011") == set()
    assert known(subject="bob", object="club", time="2012") == {"joins"}


@pytest.mark.parametrize("slot", SLOTS)
def test_hidden_answers_are_those_of_train_and_valid(predictor: Predictor, slot: str):
    graph = predictor.graph
    question = ask(graph, row_of(graph, "train", 0), slot)
    (marked,), (hidden,) = (
        predictor.predict_many([question], top=EVERYTHING, already_known=known) for known in ("mark", "hide")
    )
    left = [answer for answer in marked if answer.probability is not None]
    assert len(left) < len(marked)
    assert [answer.name for answer in hidden] == [answer.name for answer in left]
    assert [answer.rank for answer in hidden] == list(range(1, len(hidden) + 1))
    assert [answer.probability for answer in hidden] == [answer.probability for answer in left]


@pytest.mark.parametrize("slot", SLOTS)
@pytest.mark.parametrize("graph", ["predictor", "intervals"])
def test_the_probabilities_of_all_answers_that_are_not_settled_sum_to_one(request, graph: str, slot: str):
    predictor: Predictor = request.getfixturevalue(graph)
    for row in some_rows(predictor.graph):
        answers = predictor.predict_many([ask(predictor.graph, row, slot)], top=EVERYTHING)[0]
        probabilities = [answer.probability for answer in answers if answer.probability is not None]
        assert sum(probabilities) == pytest.approx(1.0 if probabilities else 0.0, abs=1e-4)
        assert probabilities or all(answer.already_known for answer in answers)
        assert probabilities == sorted(probabilities, reverse=True)


def test_what_is_not_listed_has_the_rest_of_the_probability(predictor: Predictor):
    every = predictor.predict_many([ask(predictor.graph, row_of(predictor.graph, "test", 0), "object")], EVERYTHING)[0]
    few = predictor.predict_many([every.question], top=3)[0]
    assert every.other_probability == pytest.approx(0.0, abs=1e-5)
    assert few.other_probability == pytest.approx(sum(answer.probability or 0.0 for answer in every[3:]), abs=1e-5)
    assert every[:3].other_probability == pytest.approx(few.other_probability, abs=1e-5)
    assert few.to_dict()["other_probability"] == few.other_probability


def test_probability_is_the_softmax_of_the_scores_over_the_temperature(intervals: Predictor):
    answers = intervals.predict_many([ask(intervals.graph, row_of(intervals.graph, "test", 0), "object")], 99)[0]
    left = [answer for answer in answers if answer.probability is not None]
    weights = [math.exp(answer.score / 0.7) for answer in left]
    wanted = [weight / sum(weights) for weight in weights]
    assert [answer.probability for answer in left] == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("slot", SLOTS)
def test_answers_come_in_the_order_of_their_scores(predictor: Predictor, slot: str):
    answers = predictor.predict_many([ask(predictor.graph, row_of(predictor.graph, "test", 1), slot)], 5)[0]
    assert [answer.rank for answer in answers] == list(range(1, len(answers) + 1))
    assert [answer.score for answer in answers] == sorted((answer.score for answer in answers), reverse=True)
    assert len(answers) == min(5, len(candidates(predictor.graph, slot)))


@pytest.mark.parametrize("graph", ["predictor", "intervals"])
@pytest.mark.parametrize("slot", SLOTS)
def test_the_answer_of_a_name_is_the_one_among_all(request, graph: str, slot: str):
    predictor: Predictor = request.getfixturevalue(graph)
    asked = ask(predictor.graph, row_of(predictor.graph, "train", 0), slot)
    every = predictor.predict_many([asked], top=EVERYTHING)[0]
    for answer in (every[0], every[len(every) // 2], every[-1]):
        placed = predictor.place(asked, answer.name)
        assert (placed.rank, placed.name, placed.already_known) == (answer.rank, answer.name, answer.already_known)
        assert placed.score == pytest.approx(answer.score, abs=1e-5)
        assert placed.probability == pytest.approx(answer.probability, abs=1e-6)
        assert placed.terms == pytest.approx(answer.terms, abs=1e-5)


def test_equal_answers_are_placed_in_the_order_in_which_they_are_listed(predictor: Predictor, monkeypatch):
    entities = len(predictor.graph.entities)
    equal = SimpleNamespace(
        score_slot=lambda _, facts: torch.ones(len(facts), entities),
        reranked=None,
        is_reranked=lambda _: False,
        for_slot=predictor.scorer.for_slot,
        index=None,
    )
    monkeypatch.setattr(predictor, "scorer", equal)
    asked = ask(predictor.graph, row_of(predictor.graph, "train", 0), "object")
    names = [answer.name for answer in predictor.predict_many([asked], top=EVERYTHING)[0]]
    assert [predictor.place(asked, name).rank for name in names] == list(range(1, len(names) + 1))


def test_many_questions_are_answered_as_each_one_alone(predictor: Predictor):
    graph = predictor.graph
    questions = [ask(graph, row_of(graph, "test", i), SLOTS[i % 4]) for i in range(20)]
    together = predictor.predict_many(questions, top=4)
    assert len(together) == len(questions)
    for question, found in zip(questions, together, strict=True):
        alone = predictor.predict_many([question], top=4)[0]
        assert [(answer.name, answer.already_known) for answer in found] == [
            (answer.name, answer.already_known) for answer in alone
        ]
        assert [answer.score for answer in found] == pytest.approx([answer.score for answer in alone], abs=1e-5)


def test_no_questions_have_no_answers(predictor: Predictor):
    assert predictor.predict_many([]) == []


def test_an_answer_is_a_value_that_json_can_hold(predictor: Predictor):
    answer = predictor.predict(subject="state 1", predicate="praises", time="2020-03-01", top=1)[0]
    values = answer.to_dict()
    assert Answer(**values) == answer
    assert list(values) == ["rank", "name", "score", "probability", "already_known", "terms"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        answer.rank = 2


FULL = {"subject": "state 1", "predicate": "praises", "object": "state 2", "time": "2020-03-01"}
NEVER = r"'2031-01-01' is not on the timeline, 2020-01-02 to 2020-10-26; ask for a time between these"


@pytest.mark.parametrize(
    ("slots", "message"),
    [
        (FULL, "nothing is left open; leave out the slot that you ask for"),
        (
            {"subject": "state 1", "predicate": "praises"},
            "object and time are left open; give all of subject, .* but one",
        ),
        ({"time": "2020-03-01"}, "subject, predicate and object are left open; give all of"),
        ({}, "subject, predicate, object and time are left open"),
        (FULL | {"object": None, "subject": "sate 1"}, "unknown entity 'sate 1'; did you mean 'state 1'"),
        (FULL | {"subject": None, "object": "State"}, "unknown entity 'State'; did you mean 'state \\d+', .* or .*\\?"),
        (
            FULL | {"object": None, "predicate": "prases"},
            r"unknown predicate 'prases'; did you mean 'praises' or 'sues'\?",
        ),
        (FULL | {"object": None, "predicate": "zzzz"}, "unknown predicate 'zzzz'$"),
        (FULL | {"object": None, "time": "2031-01-01"}, NEVER),
        (FULL | {"object": None, "time": "soon"}, "'soon' is not a time; write it as in 2020-01-02"),
        (FULL | {"object": None, "time": "2020"}, "'2020' is not a day; write it as in 2020-01-02"),
        (FULL | {"object": None, "time": "2020-03"}, "'2020-03' is precise to the month only; write a day"),
        (FULL | {"object": None, "start": "2020-03-01"}, "give either a time, or a start and an end, not both"),
        (FULL | {"object": None, "top": 0}, "top is 0; ask for at least 1 answer"),
        (FULL | {"object": None, "already_known": "hid"}, "already_known is 'hid'; it may be 'mark' or 'hide'"),
    ],
)
def test_a_question_that_cannot_be_answered_says_why(predictor: Predictor, slots: dict, message: str):
    with pytest.raises(QuestionError, match=message):
        predictor.predict(**slots)


def test_check_finds_the_same_fault_without_an_answer(predictor: Predictor):
    with pytest.raises(QuestionError, match="unknown entity 'Chin'"):
        predictor.check(Question(subject="Chin", predicate="praises", time="2020-03-01"))
    assert predictor.check(Question(subject="state 1", predicate="praises", time="2020-03-01")) is None


def test_an_unfinished_run_answers_with_probability_that_is_not_calibrated(
    small_graph: Graph, small_config: Config, tmp_path: Path
):
    with pytest.raises(Interrupted):
        train(small_graph, small_config, tmp_path / "run", StopAfter(0))
    predictor = Predictor.open(tmp_path / "run")
    assert predictor.calibrations == {slot: softmax_at(slot) for slot in SLOTS}
    answers = predictor.predict(subject="state 1", predicate="praises", time="2020-03-01", top=3)
    assert len(answers) == 3


def test_a_run_that_has_not_begun_has_no_checkpoint(small_graph: Graph, small_config: Config, tmp_path: Path):
    RunFolder.create(tmp_path / "run", complete_config(small_config), small_graph)
    with pytest.raises(RunError, match=r"run: nothing is trained yet; resume it with foretime train --resume .*run$"):
        Predictor.open(tmp_path / "run")


def test_a_folder_that_is_no_run_is_named(tmp_path: Path):
    with pytest.raises(RunError, match="runs/none: no such run folder"):
        Predictor.open("runs/none")
    with pytest.raises(RunError, match=r"not a run folder, it has no config\.toml"):
        Predictor.open(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", r"report\.json: damaged report \(.*\); write it again with foretime train --resume"),
        ("{}", r"report\.json: has no calibration; make it anew with foretime train --resume"),
        ("[]", r"report\.json: damaged report \(it is no JSON object\); write it again with foretime train --resume"),
        ('{"temperatures": null}', r"report\.json: has no calibration"),
        (
            '{"temperatures": {"subject": 1, "object": 1, "predicate": 1, "time": 0}}',
            r"report\.json: has no calibration",
        ),
    ],
)
def test_a_damaged_report_is_named(small_run: Path, tmp_path: Path, content: str, message: str):
    copy = Path(shutil.copytree(small_run, tmp_path / "copy"))
    (copy / "report.json").write_text(content)
    sealed(copy)
    with pytest.raises(RunError, match=message):
        Predictor.open(copy)


def test_a_model_without_time_answers_every_slot_too(small_graph: Graph, small_config: Config, tmp_path: Path):
    config = override(small_config, {"model.name": "complex", "training.epochs": 1})
    predictor = Predictor.open(train(small_graph, config, tmp_path / "run"))
    row = row_of(small_graph, "test", 0)
    for slot in SLOTS:
        answers = predictor.predict_many([ask(small_graph, row, slot)], top=2)[0]
        assert len(answers) == 2
        assert list(answers[0].terms) == ["static"]
