"""The re-ranker of a run, fitted on facts that its base model has not seen."""

from __future__ import annotations

from collections.abc import Iterator

from foretime.config import Config
from foretime.data.facts import Facts
from foretime.data.graph import Graph
from foretime.evaluation.filters import AnswerIndex
from foretime.models import Model
from foretime.reranker.features.extractor import FeatureExtractor
from foretime.reranker.folds import fits_on_valid, folds_left_out, folds_of, halves_of_valid, valid_to_fit_on
from foretime.reranker.slots.softmax import save_softmaxes
from foretime.reranker.slots.trees import save_trees
from foretime.reranker.trees import Examples, Reranker, examples_of, fit
from foretime.runs.folder import RunFolder
from foretime.runs.loading import load_base_model
from foretime.training.callbacks import Callback

TREES_BETWEEN_WORDS = 50


def fit_reranker(run: RunFolder, config: Config, graph: Graph, model: Model, callback: Callback) -> None:
    """Fit the re-ranker of a run whose base model is trained, and save it in the run folder.

    One that is fitted on valid as well is first fitted without it, and with its first half. Both are saved beside: by
    the one valid is judged, and the probabilities of the other are calibrated on the second half. Those of the first
    would not do: trees that have seen more facts, by the final base model, are differently sure of themselves.
    """
    extractor = FeatureExtractor.of(graph, model, config.evidence)
    examples: list[Examples] = []
    for scored_by, unseen, seen in _unseen_facts(run, config, graph, model, callback):
        if examples and seen is graph.train:
            _fit(examples, config, callback).save(run.reranker_without_valid)
            first_half, _ = halves_of_valid(graph, config)
            half = _examples(run, scored_by, extractor, graph, config, first_half, seen)
            _fit([*examples, half], config, callback).save(run.reranker_to_calibrate)
        examples.append(_examples(run, scored_by, extractor, graph, config, unseen, seen))
    _fit(examples, config, callback).save(run.reranker_file)


def _fit(examples: list[Examples], config: Config, callback: Callback) -> Reranker:
    settings = config.reranker
    callback.announce(f"fitting the re-ranker on {sum(len(some.sizes) for some in examples):,} questions")

    def on_tree(trees: int) -> None:
        if trees % TREES_BETWEEN_WORDS == 0 and trees < settings.trees:
            callback.announce(f"fitting the re-ranker: {trees} of {settings.trees} trees")

    return fit(examples, settings, config.training.seed, config.training.threads, on_tree)


def fit_slots(run: RunFolder, config: Config, graph: Graph, model: Model, callback: Callback) -> None:
    """Fit the models of predicate and time of a run, and save them in the run folder."""
    from foretime.reranker.slots.fitting import fit_slot_models  # numba is slow to load

    extractor = FeatureExtractor.of(graph, model, config.evidence)
    fitted = fit_slot_models(graph, extractor.index, extractor.names, config, callback.announce)
    save_softmaxes(run.softmax_file, {"softmax": fitted.softmax, "first": fitted.first})
    for slot, slot_model in fitted.models.items():
        save_trees(run.slot_file(slot), slot, slot_model.trees)


def _unseen_facts(
    run: RunFolder, config: Config, graph: Graph, model: Model, callback: Callback
) -> Iterator[tuple[Model, Facts, Facts]]:
    """Yield models, facts that each has not seen, and facts that it has."""
    settings = config.reranker
    if settings.fit != "valid":
        fold, rules = folds_of(graph, config), run.rules(graph)
        for number in range(folds_left_out(settings) or 1):
            callback.announce(f"extracting features of fold {number + 1}")
            own = model if settings.fit == "fold" else load_base_model(run.fold(number), config, graph, rules)
            yield own, graph.train.take(fold == number), graph.train.take(fold != number)
    if fits_on_valid(settings):
        callback.announce("extracting features of valid")
        yield model, valid_to_fit_on(graph, settings), graph.train


def _examples(
    run: RunFolder,
    model: Model,
    extractor: FeatureExtractor,
    graph: Graph,
    config: Config,
    unseen: Facts,
    seen: Facts,
) -> Examples:
    predicates = len(graph.predicates)
    known = AnswerIndex(seen.with_inverses(predicates))
    return examples_of(model, extractor, unseen.with_inverses(predicates), known, config.reranker.top, run.path)
