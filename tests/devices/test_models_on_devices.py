"""Every model on devices that are not here: fake CUDA for its scores, a pretended one for numbers and gradients."""

import numpy as np
import pytest
import torch
from tests.devices.built import ALONE, ENSEMBLES, KINDS, build, settings_of, some_queries
from tests.devices.pretended import CUDA, ELSEWHERE, Elsewhere, StrayError, elsewhere, fake_cuda
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorDeviceMismatchError

from foretime.data.graph import Graph
from foretime.devices import CPU, send
from foretime.evaluation.filters import AnswerIndex
from foretime.evaluation.ranks import rank_scores, score_questions
from foretime.evaluation.slots import score_filled
from foretime.models import MODELS, Model, ScoreTerm
from foretime.models.algebra import dot_objects, lookup, multiply
from foretime.models.complex import ComplEx
from foretime.training.batches import QuestionPool
from foretime.training.candidates import SampledSoftmax, most_frequent
from foretime.training.losses import SampledLoss
from foretime.training.objective import loss_each
from foretime.training.trainer import build_optimizer


def test_no_model_escapes():
    assert {kind.removesuffix(" with evidence") for kind in KINDS} - set(ENSEMBLES) == set(MODELS)
    assert set(ALONE) | {"rules"} == set(MODELS)


def score_every_way(model: Model, graph: Graph) -> list[Tensor]:
    """Return the scores of all entities, of a few for all questions, and of some for each question."""
    queries, few = some_queries(graph), torch.tensor([5, 0, 3])
    each = few.expand(len(queries.subject), -1)
    return [model.score_objects(queries, objects) for objects in (None, few, each)]


# which questions a carried model was trained for depends on ids, and fake tensors have none
@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.startswith("carried")])
def test_scores_are_made_on_cuda(kind: str, small_graph: Graph, monkeypatch: pytest.MonkeyPatch):
    model = build(kind, small_graph).requires_grad_(False)
    questions, entities = small_graph.train.take(slice(6)), len(small_graph.entities)
    with fake_cuda(monkeypatch) as borders:
        model.to(CUDA)
        assert model.device == CUDA
        for scores, width in zip(score_every_way(model, small_graph), (entities, 3, 3), strict=True):
            assert (scores.device, tuple(scores.shape), scores.dtype) == (CUDA, (6, width), torch.float32)
        penalties = model.penalties(some_queries(small_graph), torch.arange(6))
        on_cpu = {name for name, value in penalties.items() if value.device == CPU}
        assert on_cpu <= {"evidence_l2"}  # where the weights of the evidence are
        assert score_questions(model, questions).device == CUDA
        assert score_filled(model, small_graph, "time", questions).shape == (6, len(small_graph.timeline))
    assert borders.crossings > 0


@pytest.mark.parametrize("kind", KINDS)
def test_scores_elsewhere_are_those_of_the_cpu(kind: str, small_graph: Graph, monkeypatch: pytest.MonkeyPatch):
    model = build(kind, small_graph).eval()
    with torch.no_grad():
        expected = score_every_way(model, small_graph)
        with elsewhere(monkeypatch) as device:
            found = score_every_way(model.to(ELSEWHERE), small_graph)
            assert all(isinstance(scores, Elsewhere) for scores in found)
    torch.testing.assert_close([scores.held for scores in found], expected, rtol=1e-4, atol=1e-5)
    assert device.operations > 0


def weights_after_a_step(kind: str, graph: Graph, device: torch.device, loss: str) -> dict[str, Tensor]:
    """Return the gradients of a whole training step and the weights after it, by name."""
    config, model = settings_of(kind), build(kind, graph).to(device)
    events, entities = graph.train.with_inverses(len(graph.predicates)).events(0), len(graph.entities)
    optimizer = build_optimizer(config.training, model)
    for component in model.components():
        batch = QuestionPool(events, component.model.uses_time).batch(np.arange(40), 2)
        drawn = None
        if loss == "candidates":
            always = most_frequent(events.object, entities, 2)
            drawn = SampledSoftmax(always, 3, entities, np.random.default_rng(0))
        elif loss != "softmax":
            drawn = SampledLoss(loss, 1.0, 4, 1.0, entities, np.random.default_rng(0))
        loss_each([component], [batch], config.penalties, [drawn]).total.backward()
    found = {f"gradient of {name}": weights.grad for name, weights in model.named_parameters()}
    optimizer.step()
    # where a gradient is nearly nothing, its sign, which is all that the first step goes by, is that of rounding
    found |= {
        name: torch.where(found[f"gradient of {name}"].abs() > 1e-4, weights.detach(), 0.0)
        for name, weights in model.named_parameters()
        if weights.grad is not None
    }
    model.constrain_()
    return {name: getattr(value, "held", value) for name, value in found.items() if value is not None}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ENSEMBLES])
def test_a_training_step_elsewhere_is_that_of_the_cpu(kind: str, small_graph: Graph, monkeypatch: pytest.MonkeyPatch):
    alone = kind in ALONE and not MODELS[kind].reads_events
    for loss in ("softmax", "candidates", "negatives", "margin") if alone else ("softmax",):
        expected = weights_after_a_step(kind, small_graph, CPU, loss)
        with elsewhere(monkeypatch):
            found = weights_after_a_step(kind, small_graph, ELSEWHERE, loss)
        assert found.keys() == expected.keys()
        torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("kind", ["lcge with evidence", "rotate", "atise"])
def test_a_device_without_double_precision_does(kind: str, small_graph: Graph, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("foretime.devices.widest", lambda device: torch.float32)
    for module in ("training.objective", "evaluation.calibration", "evaluation.fitting", "evaluation.reliability"):
        monkeypatch.setattr(f"foretime.{module}.widest", lambda device: torch.float32)
    with elsewhere(monkeypatch, has_double=False):  # which refuses any tensor of doubles
        found = weights_after_a_step(kind, small_graph, ELSEWHERE, "softmax")
    assert found
    assert all(values.dtype == torch.float32 and values.isfinite().all() for values in found.values())


def test_ranks_leave_the_device_once(small_graph: Graph, monkeypatch: pytest.MonkeyPatch):
    questions, index = small_graph.train.take(slice(9)), AnswerIndex.of(small_graph)
    model = build("complex", small_graph).requires_grad_(False)
    expected = rank_scores(score_questions(model, questions), questions.object, index.filtered(questions))
    with elsewhere(monkeypatch):
        scores = score_questions(model.to(ELSEWHERE), questions)
        left: list[Tensor] = []
        monkeypatch.setattr("foretime.evaluation.ranks.fetch", lambda values: left.append(values) or values.held)
        ranks = rank_scores(scores, questions.object, index.filtered(questions))
    np.testing.assert_array_equal(ranks.realistic, expected.realistic)
    assert [tuple(values.shape) for values in left] == [(2, 9)]


class Stray(ComplEx):
    """ComplEx as it should not be written: `fault` says what is wrong with it."""

    fault = "none"

    def score_terms(self, queries, objects=None):
        table, subject = self.entities, lookup(self.entities, queries.subject)
        if self.fault == "a table on the CPU":
            table = table.cpu()
        if self.fault == "a product on the CPU":
            subject = subject.cpu()
        query = multiply(subject, lookup(self.predicates, queries.predicate))
        scores = dot_objects(query, table, objects)
        if self.fault == "there and back":
            scores = scores.cpu().to(self.device)
        if self.fault == "through numpy":
            scores = torch.from_numpy(scores.detach().numpy())
        if self.fault == "a tensor of no device":
            scores = scores + torch.zeros(scores.shape[1])
        if self.fault == "ids on the CPU":
            scores = scores + self.entities[:, 0].index_select(0, queries.subject)[:, None]
        if self.fault == "another device by name":
            scores = scores + torch.zeros(scores.shape[1], device="cpu")
        return [ScoreTerm("static", 1.0, scores)]


FAULTS = (
    "a table on the CPU", "a product on the CPU", "there and back", "through numpy", "a tensor of no device",
    "ids on the CPU", "another device by name",
)  # fmt: skip
CAUGHT = (StrayError, FakeTensorDeviceMismatchError, RuntimeError, TypeError)


@pytest.mark.parametrize("fault", ["none", *FAULTS])
def test_a_model_that_strays_is_caught(fault: str, small_graph: Graph, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(MODELS, "complex", Stray)
    monkeypatch.setattr(Stray, "fault", fault)
    checks = (
        test_scores_are_made_on_cuda, test_scores_elsewhere_are_those_of_the_cpu,
        test_a_training_step_elsewhere_is_that_of_the_cpu,
    )  # fmt: skip
    for check in checks:
        if fault == "none":
            check("complex", small_graph, monkeypatch)
            continue
        with pytest.raises(CAUGHT):
            check("complex", small_graph, monkeypatch)


def test_what_is_sent_where_it_is_stays_the_same():
    values, array = torch.arange(3.0), np.arange(3)
    assert send(values, CPU) is values
    assert np.shares_memory(send(array, CPU).numpy(), array)
