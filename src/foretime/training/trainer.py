"""The training loop: steps, epochs, valid, checkpoints; it resumes bit for bit where it was interrupted."""

from __future__ import annotations

import math
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from foretime.config import Config, TrainingConfig
from foretime.data.facts import Facts
from foretime.data.graph import Graph
from foretime.devices import CPU, find_device
from foretime.errors import ConfigError, DataError, ForetimeError, Interrupted, RunError
from foretime.evaluation import AnswerIndex, Metrics, model_scorer, questions_of, rank
from foretime.evaluation.ranks import questions_at_once
from foretime.evidence.index import build_index
from foretime.evidence.module import EvidenceComponent, WithEvidence
from foretime.models import Component, Model, Sizes, build_model, model_class
from foretime.rules.table import Rules
from foretime.training.batches import Batch, QuestionPool, join_events, step_rows, timeless_events
from foretime.training.callbacks import Callback, TrainingPlan
from foretime.training.candidates import SampledSoftmax, most_frequent
from foretime.training.checkpoint import (
    EVIDENCE,
    UNKNOWN,
    Origin,
    Progress,
    check_weights,
    load_checkpoint,
    read_progress,
    save_checkpoint,
)
from foretime.training.distributed.check import check_team
from foretime.training.distributed.questions import add_up, check_questions, own_questions
from foretime.training.distributed.softmax import DividedSoftmax
from foretime.training.distributed.tables import align, divide, whole_tables
from foretime.training.distributed.team import ALONE, Team, threads_of
from foretime.training.files import TrainingFiles
from foretime.training.guidance import wants_rules
from foretime.training.losses import SampledLoss, loss_settings
from foretime.training.memory import memory_kept
from foretime.training.objective import OwnLoss, loss_each
from foretime.training.precision import products_in
from foretime.training.weights import Form, forms_in, forms_of


def sizes_of(graph: Graph, boundaries: int = 1) -> Sizes:
    """Return what a model must know of the graph."""
    return Sizes(len(graph.entities), boundaries * 2 * len(graph.predicates), len(graph.timeline), boundaries)


def new_model(config: Config, graph: Graph, rules: Rules | None = None) -> Model:
    """Return the configured model with the initial weights of the configured seed, guided by rules if there are any."""
    model, separate = _base_model(config, graph), _has_two_boundaries(config, graph)
    if wants_rules(config):
        model.take_rules(rules)
    if model.reads_events and not config.evidence.use:
        raise ConfigError(f"{config.model.name} reads events through the evidence; set evidence.use to true")
    if config.evidence.use:
        model = WithEvidence(model, build_index(graph, config.evidence, rules))
    model.end_offset = 2 * len(graph.predicates) if separate else 0
    return model


def _base_model(config: Config, graph: Graph) -> Model:
    """Return the configured model without rules and without evidence."""
    generator = torch.Generator().manual_seed(config.training.seed)
    return build_model(config.model, sizes_of(graph, 2 if _has_two_boundaries(config, graph) else 1), generator)


def _has_two_boundaries(config: Config, graph: Graph) -> bool:
    """Return whether the start and the end of a fact have relations of their own."""
    separate = config.training.boundary_relations == "separate"
    return separate and model_class(config.model).uses_time and graph.has_intervals


def check_checkpoint(path: Path, config: Config, graph: Graph) -> None:
    """Raise `RunError` if a checkpoint, by its header, has other weights than the configured model would have.

    The model is made without any memory: neither what the file claims to hold nor what the configuration asks for
    is allocated before both agree.
    """
    with torch.device("meta"):
        base = forms_of(_base_model(config, graph).state_dict())
    if config.evidence.use:
        base = {f"base.{name}": form for name, form in base.items()} | {EVIDENCE: Form("F32", UNKNOWN)}
    check_weights(path, forms_in(path), base)


def with_evidence_of_train(config: Config) -> Config:
    """Return the configuration under which a model learns: what is asked about must not be its evidence."""
    evidence = config.evidence.model_copy(update={"splits": ["train"]})
    return config.model_copy(update={"evidence": evidence})


def _with_all_evidence(model: Model, config: Config, graph: Graph, rules: Rules | None) -> Model:
    """Return the same model, whose evidence is that of the configured splits: it learns from that of train alone."""
    if config.evidence.splits == ["train"] or not isinstance(model, WithEvidence):
        return model
    return model.on(build_index(graph, config.evidence, rules))


def build_optimizer(config: TrainingConfig, model: Model) -> torch.optim.Optimizer:
    """Return the configured optimiser, in its fused form: one pass over the weights instead of five.

    Elsewhere than on the CPU it takes all tables at once, each where it is.
    """
    kind = torch.optim.Adam if config.optimizer == "adam" else torch.optim.Adagrad
    on_cpu = model.device == CPU
    return kind(model.parameters(), lr=config.learning_rate, fused=on_cpu, foreach=not on_cpu)


def evidence_loss(model: Model, batch: Batch) -> Tensor:
    """Return the mean loss of a batch under the evidence alone, ()."""
    assert isinstance(model, EvidenceComponent)
    return model.loss(batch.queries, batch.row, batch.objects)


class Trainer:
    """Fits one model in one run folder. `fit` may be called again in another process after any interruption."""

    def __init__(
        self,
        run: TrainingFiles,
        config: Config,
        graph: Graph,
        callback: Callback,
        facts: Facts | None = None,
        rules: Rules | None = None,
        origin: Origin | None = None,
        team: Team = ALONE,
    ) -> None:
        """Prepare to train on all of train, or on those of its facts that are given.

        `origin` is what the checkpoints will say that they were trained as. All processes of a team do the same, but
        only the first one reads and writes files.
        """
        if len(graph.train) == 0:
            raise DataError("the training split is empty; check the files with foretime data describe")
        check_team(config, len(graph.entities), team)
        if team.is_first and run.last_file.exists():
            check_checkpoint(run.last_file, config, graph)
        torch.set_num_threads(threads_of(team, config.training.threads))
        self.run, self.config, self.graph, self.callback, self.team = run, config, graph, callback, team
        self.device = find_device(config.training.device)
        self.model = new_model(with_evidence_of_train(config), graph, rules).to(self.device)
        self._ranked = _with_all_evidence(self.model, config, graph, rules)
        self.optimizer = build_optimizer(config.training, self.model)
        self.progress = Progress(origin=origin or {})
        asked = (facts or graph.train).with_inverses(len(graph.predicates))
        events = asked.events(self.model.end_offset)
        self._frequent = most_frequent(events.object, len(graph.entities), config.training.candidates // 2)
        each = config.training.softmax == "each"
        self._components = self.model.components() if each else [Component("", 1.0, self.model)]
        # what knows no time learns from facts without one too; what does never sees them
        timeless = graph.background.with_inverses(len(graph.predicates))
        every = join_events(events, timeless_events(timeless)) if len(timeless) else events
        self._pools = [
            QuestionPool(events if component.model.uses_time else every, component.model.uses_time)
            for component in self._components
        ]
        wanted = math.ceil(self._pools[0].pairs / config.training.batch_size)
        self._of_all = max(1, min(wanted, *(pool.distinct for pool in self._pools)))
        pairs, limit = self._pools[0].pairs, config.training.epoch_limit or self._pools[0].pairs
        self.steps = max(1, min(limit, pairs) * self._of_all // pairs)
        for component, pool in zip(self._components, self._pools, strict=True):
            if isinstance(component.model, EvidenceComponent):
                check_questions(pool, self._of_all, team)

    def fit(self) -> None:
        """Train to the end and leave the best weights in the run folder."""
        if self.team.is_first:
            self._load_last()
        self.progress = Progress(**self.team.told(asdict(self.progress)))
        divide(self.model, self.optimizer, self.team)
        self._saved_at = time.monotonic()
        self.callback.begin(self._plan())
        try:
            with memory_kept():
                while not self.progress.finished:
                    self._train_epoch()
                    self._finish_epoch()
                    self._save_if(due=False)
        finally:
            self.callback.end()

    def _load_last(self) -> None:
        """Continue from the last checkpoint, if there is one."""
        if self.run.last_file.exists():
            found = load_checkpoint(self.run.last_file, self.model, self.optimizer)
            self.progress = replace(found, origin=self.progress.origin)  # the first weights may come from another run
            _check_best(self.run, self.progress)
        self.run.rewind_trace(self.progress.epochs_done + 1)

    def _plan(self) -> TrainingPlan:
        best = self.progress.best_mrr if self.progress.best_epoch and len(self.graph.valid) else None
        pairs = self._pools[0].pairs * self.steps // self._of_all
        return TrainingPlan(
            self.config.training.epochs, self.steps, pairs, self.progress.epoch, self.progress.step, best
        )

    def _train_epoch(self) -> None:
        """Do the rest of the epoch's steps."""
        epoch, began, before = self.progress.epoch, time.monotonic(), self.progress.seconds
        self.model.begin_epoch(epoch)
        orders = [pool.order(self.config.training.seed, epoch) for pool in self._pools]
        for step in range(self.progress.step, self.steps):
            named = self._step(orders, step)
            sums = {name: self.progress.sums.get(name, 0.0) + float(value) for name, value in named.items()}
            seconds = before + time.monotonic() - began
            self.progress = replace(self.progress, step=step + 1, sums=sums, seconds=seconds)
            self.callback.step(epoch, step + 1, sum(v for k, v in sums.items() if k.endswith("loss")) / (step + 1))
            self._save_if(time.monotonic() - self._saved_at > self.config.training.checkpoint_seconds)

    def _step(self, orders: list[np.ndarray[Any, Any]], step: int) -> dict[str, Tensor]:
        """Do a step, and return its losses and penalties by name.

        One component after the other, the evidence last: the CPU looks it up, and makes its batch, while another device
        still works on the products of the others and on their gradients.
        """
        learning, named = self._learning_components(), dict[str, Tensor]()
        pools = [own for own in zip(self._components, self._pools, orders, strict=True) if own[0] in learning]
        self.optimizer.zero_grad(set_to_none=True)
        for number, (component, pool, order) in enumerate(pools):
            rows, divided = step_rows(order, step, self._of_all), isinstance(component.model, EvidenceComponent)
            batch = pool.batch(own_questions(rows, self.team) if divided else rows, self._of_all)
            with products_in(self.config.training.precision, self.device):
                own = self._own_loss(component, number, step)
                loss = loss_each([component], [batch], self.config.penalties, [own])
            loss.total.backward()  # type: ignore[no-untyped-call]
            named |= add_up(loss.named, batch.scale, component.model, self.team) if divided else loss.named
        self.optimizer.step()
        self.model.constrain_()
        return named

    def _own_loss(self, component: Component, number: int, step: int) -> OwnLoss | None:
        """Return the function that computes a component's loss; None for the cross entropy of all scores.

        Entities are drawn by seed, epoch, step and number.
        """
        training, (loss, margin) = self.config.training, loss_settings(self.config)
        entities = len(self.graph.entities)
        if isinstance(component.model, EvidenceComponent):
            return evidence_loss
        if loss == "softmax" and not 0 < training.candidates < entities:
            return DividedSoftmax(self.team, entities) if self.team.size > 1 else None
        generator = np.random.default_rng([training.seed, self.progress.epoch, step, number])
        if loss == "softmax":
            drawn = training.candidates - len(self._frequent)
            return SampledSoftmax(self._frequent, drawn, entities, generator, self.team)
        return SampledLoss(loss, margin, training.negatives, training.temperature, entities, generator)

    def _learning_components(self) -> list[Component]:
        """Return the components that learn in this epoch: the evidence has its own, smaller number of epochs."""
        if self.progress.epoch <= self.config.evidence.epochs:
            return self._components
        others = [component for component in self._components if not isinstance(component.model, EvidenceComponent)]
        return others or self._components

    def _save_if(self, due: bool) -> None:
        """Save the state if it is due, or if training is to stop: then stop it."""
        due, stop = self.team.any_want(due, self.callback.stop_wanted())
        if due or stop:
            self._save_last()
        if stop:
            raise Interrupted("stopped")

    def _finish_epoch(self) -> None:
        """Evaluate if it is time, write the trace, and move on to the next epoch or to the end."""
        epoch, training = self.progress.epoch, self.config.training
        means = {name: value / self.steps for name, value in self.progress.sums.items()}
        if not all(math.isfinite(value) for value in means.values()):
            raise ForetimeError(
                f"the loss is no longer a number after epoch {epoch}; lower training.learning_rate and train again"
            )
        align(self.model, self.optimizer, self.team)
        record: dict[str, Any] = {"epoch": epoch, "seconds": round(self.progress.seconds, 3), **means}
        last = epoch == training.epochs
        if last or epoch % training.valid_every == 0:
            record |= self._evaluate()
        out_of_patience = self.progress.evaluations_since_best >= training.patience
        self.progress = replace(self.progress, epoch=epoch + 1, step=0, sums={}, finished=last or out_of_patience)
        if self.progress.finished:
            self.progress = replace(self.progress, epoch=epoch)
        if self.team.is_first:
            self.run.append_trace(record)
        self._save_last()
        self.callback.epoch(record)

    def _evaluate(self) -> dict[str, float]:
        """Return what the trace says of valid, and keep the weights if they are the best so far.

        Without a valid split there is nothing to rank, and the weights are kept.
        """
        if len(self.graph.valid) == 0:
            self._keep_weights(self.progress.best_mrr)
            return {}
        self.callback.announce("ranking valid")
        with whole_tables(self.model, None, self.team):
            first = self.team.is_first
            mrr = self.team.told(valid_mrr(self._ranked, self.graph, self.config.training) if first else None)
        if mrr > self.progress.best_mrr:
            self._keep_weights(mrr)
        else:
            count = self.progress.evaluations_since_best + 1
            self.progress = replace(self.progress, evaluations_since_best=count)
        return {"valid_mrr": mrr}

    def _keep_weights(self, mrr: float) -> None:
        self.progress = replace(self.progress, best_epoch=self.progress.epoch, best_mrr=mrr, evaluations_since_best=0)
        self._save(self.run.best_file, None)

    def _save_last(self) -> None:
        self._save(self.run.last_file, self.optimizer)
        self._saved_at = time.monotonic()

    def _save(self, path: Path, optimizer: torch.optim.Optimizer | None) -> None:
        with whole_tables(self.model, optimizer, self.team):
            if self.team.is_first:
                save_checkpoint(path, self.model, optimizer, self.progress)


def load_weights(run: TrainingFiles, model: Model) -> Model:
    """Return the model with the best weights of a run, or with its last ones if valid has not been ranked yet."""
    load_checkpoint(weights_file(run), model)
    return model.eval()


def weights_file(run: TrainingFiles) -> Path:
    """Return the file of the best weights of a run, or of its last ones if valid has not been ranked yet."""
    if not run.best_file.exists() and not run.last_file.exists():
        raise RunError(f"{run.path}: nothing is trained yet; resume it with foretime train --resume {run.path}")
    if not run.best_file.exists():
        _check_best(run, read_progress(run.last_file))
    # checked once more: a training that is still running may have written it meanwhile
    return run.best_file if run.best_file.exists() else run.last_file


def _check_best(run: TrainingFiles, progress: Progress) -> None:
    """Raise `RunError` if a training has kept the weights of its best epoch and they are gone."""
    if progress.best_epoch and not run.best_file.exists():
        raise RunError(
            f"{run.best_file}: no such file, and the weights that the run had chosen, of epoch {progress.best_epoch}, "
            "were in it; restore it, or train again in another folder"
        )


def valid_mrr(model: Model, graph: Graph, training: TrainingConfig) -> float:
    """Return the MRR on valid, or on the configured number of its facts."""
    facts = _sample(graph.valid, training.valid_limit, training.seed)
    questions = questions_of(facts, len(graph.predicates), training.filter)
    ranks = rank(
        model_scorer(model), questions, AnswerIndex.of(graph, training.filter), questions_at_once(len(graph.entities))
    )
    return Metrics.of(ranks.realistic).mrr


def _sample(facts: Facts, limit: int, seed: int) -> Facts:
    if limit == 0 or len(facts) <= limit:
        return facts
    return facts.take(np.sort(np.random.default_rng(seed).choice(len(facts), limit, replace=False)))
