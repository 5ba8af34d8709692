"""The re-ranker of a run, fitted on facts that its base model has not seen."""

from __future__ import annotations

from collections.abc import Iterator

from foretime.config import Config
from foretime.data.facts import Facts
from foretime.data.graph import Graph
from foretime.evaluation.filters import AnswerIndex
from foretime.models import Model
from foretime.reranker.features.extractor import FeatureExtractor
from foretime.reranker.folds import fits_on_valid, folds_left_out, folds_of
from foretime.reranker.slots.softmax import save_softmaxes
from foretime.reranker.trees import Examples, examples_of, fit
from foretime.runs.folder import RunFolder
from foretime.runs.loading import load_base_model
from foretime.training.callbacks import Callback

TREES_BETWEEN_WORDS = 50


def fit_reranker(run: RunFolder, config: Config, graph: Graph, model: Model, callback: Callback) -> None:
    """Fit the re-ranker of a run whose base model is trained, and save it in the run folder."""
    extractor = FeatureExtractor.of(graph, model, config.evidence)
    examples = [
        _examples(scored_by, extractor, graph, config, unseen, seen)
        for scored_by, unseen, seen in _unseen_facts(run, config, graph, model, callback)
    ]
    settings = config.reranker
    callback.announce(f"fitting the re-ranker on {sum(len(some.sizes) for some in examples):,} questions")

    def on_tree(trees: int) -> None:
        if trees % TREES_BETWEEN_WORDS == 0 and trees < settings.trees:
            callback.announce(f"fitting the re-ranker: {trees} of {settings.trees} trees")

    fit(examples, settings, config.training.seed, config.training.threads, on_tree).save(run.reranker_file)


def fit_slots(run: RunFolder, config: Config, graph: Graph, model: Model, callback: Callback) -> None:
    """Fit the models of predicate and time of a run, and save them in the run folder."""
    from foretime.reranker.slots.fitting import fit_slot_models  # numba is slow to load

    extractor = FeatureExtractor.of(graph, model, config.evidence)
    fitted = fit_slot_models(graph, extractor.index, extractor.names, config, callback.announce)
    save_softmaxes(run.softmax_file, {"softmax": fitted.softmax, "first": fitted.first})
    for slot, slot_model in fitted.models.items():
        slot_model.trees.save(run.slot_file(slot))


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
        yield model, graph.valid, graph.train


def _examples(
    model: Model, extractor: FeatureExtractor, graph: Graph, config: Config, unseen: Facts, seen: Facts
) -> Examples:
    predicates = len(graph.predicates)
    known = AnswerIndex(seen.with_inverses(predicates))
    return examples_of(model, extractor, unseen.with_inverses(predicates), known, config.reranker.top)
