"""What a run has trained, loaded: its model, and the scorer that every rank and answer comes from."""

from __future__ import annotations

from pathlib import Path

from foretime.config import Config
from foretime.data.graph import Graph
from foretime.data.timeline import MOST_STEPS
from foretime.devices import device_here, find_device
from foretime.errors import RunError
from foretime.evaluation import AnswerIndex
from foretime.evidence.module import WithEvidence
from foretime.files import read_json
from foretime.models import Ensemble, Model
from foretime.reranker.features.extractor import FeatureExtractor
from foretime.reranker.scorer import RerankedModel, Scorer
from foretime.reranker.slots.extractors import extractors_of
from foretime.reranker.slots.intervals import lengths_of
from foretime.reranker.slots.model import SlotModel, SlotModels
from foretime.reranker.slots.softmax import load_softmaxes
from foretime.reranker.slots.trees import load_trees
from foretime.reranker.trees import Reranker
from foretime.rules.table import Rules
from foretime.runs.folder import RunFolder
from foretime.runs.jobs import member_config
from foretime.runs.manifest import read_manifest
from foretime.runs.resuming import check_checkpoints
from foretime.training.trainer import check_checkpoint, load_weights, new_model, weights_file


def load_scorer(run: RunFolder, config: Config, graph: Graph) -> Scorer:
    """Return the scorer of a run: its model and, if it has been fitted, its re-ranker.

    It looks at questions with the largest gap to the last event that valid chose. All its files must be whole.
    """
    run.check()
    if read_manifest(run.path) is None:  # it is not finished
        check_checkpoints(run, config, graph)
    scorer, file = scorer_of(run, config, graph, load_model(run, config, graph)), run.gap_file
    if not config.evidence.past_only or not file.exists():
        return scorer
    return scorer.within(read_max_gap(file))


def read_max_gap(file: Path) -> int | None:
    """Return the largest gap that a file has, in steps; nothing where questions are asked at their own time."""
    try:
        max_gap = read_json(file)["max_gap"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunError(
            f"{file}: cannot be read ({error}); remove it, and questions are asked at their own time"
        ) from None
    if max_gap is not None and (type(max_gap) is not int or not 1 <= max_gap <= MOST_STEPS):
        raise RunError(
            f"{file}: max_gap is {max_gap!r}; write a number of steps, or null for the own time of questions"
        )
    return max_gap


def load_model(run: RunFolder, config: Config, graph: Graph) -> Model:
    """Return the run's model with its best weights, or with its last ones if valid has not been ranked yet."""
    return load_base_model(run, config, graph, run.rules(graph))


def scorer_of(run: RunFolder, config: Config, graph: Graph, model: Model, file: Path | None = None) -> Scorer:
    """Return the scorer of a run whose model is loaded already; `file` is another re-ranker than the run's."""
    if not config.reranker.use or not run.reranker_file.exists():
        return Scorer(model, graph)
    extractor = FeatureExtractor.of(graph, model, config.evidence)
    reranker = Reranker.load(file or run.reranker_file, extractor.graph_feature_names)
    known = AnswerIndex(graph.train.with_inverses(len(graph.predicates)))
    slots = load_slots(run, graph, extractor) if config.reranker.slots and run.has_slots(graph) else None
    return Scorer(model, graph, RerankedModel(model, reranker, extractor, known), slots)


def load_slots(run: RunFolder, graph: Graph, extractor: FeatureExtractor) -> SlotModels:
    """Return the models of predicate and time in a run folder; they read the same events as the re-ranker."""
    from foretime.reranker.slots.traces import first_rows, table_size  # numba is slow to load

    events, names = extractor.index.events, extractor.names
    rows, predicates = table_size(events, names), events.predicates
    shapes = {"softmax": (rows, predicates), "first": (2 * first_rows(events, names), predicates)}
    found = load_softmaxes(run.softmax_file, shapes)
    models = {}
    for slot, make in extractors_of(graph).items():
        trees = load_trees(run.slot_file(slot), slot, make.all_names)
        models[slot] = SlotModel(make(extractor.index, names, found["softmax"], trees.names), trees)
    return SlotModels(
        models,
        found["softmax"],
        found["first"],
        lengths_of(graph.train, len(graph.predicates)),
    )


def load_base_model(folder: RunFolder, config: Config, graph: Graph, rules: Rules | None) -> Model:
    """Return the model of a run, or of one of its folds: one, or the mean of several that differ by their seed.

    It is on the configured device, or where that is not there on the one that `auto` takes: what was trained on one
    machine answers on another.

    What one seed has learned by chance another one has not, and their mean has less of it. Evidence has hardly any
    chance in it and is learned once, by the first.
    """
    members = [folder, *(folder.member(number) for number in range(1, config.training.ensemble_size))]
    _check_members(folder, members)
    configs = [member_config(config, number) for number in range(len(members))]
    for member, own in zip(members, configs, strict=True):
        check_checkpoint(weights_file(member), own, graph)
    first, *others = (
        load_weights(member, new_model(own, graph, rules)) for member, own in zip(members, configs, strict=True)
    )
    device = find_device(device_here(config.training.device))
    if not others:
        return first.to(device)
    if not isinstance(first, WithEvidence):
        return Ensemble([first, *others]).eval().to(device)
    first.base = Ensemble([first.base, *others])
    return first.eval().to(device)


def _check_members(folder: RunFolder, members: list[RunFolder]) -> None:
    """Raise `RunError` if the first member has been trained and another one is missing."""
    missing = [member.path.name for member in members[1:] if not member.last_file.exists()]
    if missing and folder.last_file.exists():
        remedy = (
            f"put it back, or remove {folder.report_file.name} and train it again with "
            f"foretime train --resume {folder.path}"
            if folder.report_file.exists()
            else f"resume with foretime train --resume {folder.path}"
        )
        raise RunError(f"{folder.path}: {missing[0]}, one of its {len(members)} members, is empty; {remedy}")
