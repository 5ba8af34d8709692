"""A run: a trained model with its graph, its figures, its answers and their explanations, all from one folder."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foretime.config import Config, RulesConfig, read_config, without_password
from foretime.data.bad_rows import BAD_ROWS
from foretime.data.facts import Facts
from foretime.data.graph import Graph, read_graph
from foretime.data.restrictions import OneOrMore, Where
from foretime.devices import find_device
from foretime.errors import ConfigError, DataError, RunError
from foretime.evaluation import Evaluation, FilterName, evaluations_in, metrics_table, questions_of
from foretime.evaluation.backtests import Backtest
from foretime.evaluation.explanations import ExplanationMeasures
from foretime.evaluation.protocols import ProtocolName, in_order
from foretime.evaluation.rankings import write_rankings
from foretime.inference.answers import AlreadyKnown, Answers, Question, Target, Time
from foretime.inference.backtesting import Backtester
from foretime.inference.changes import Addition, Removal
from foretime.inference.evidence_source import EvidenceSource
from foretime.inference.explanation.explanation import Explanation
from foretime.inference.forecast import Forecast
from foretime.inference.living import LivingState, UpdateReport
from foretime.inference.measuring import ExplanationMeter, measure_explanations
from foretime.inference.named_events import planted_file
from foretime.inference.predictor import Predictor
from foretime.inference.question_parts import answer_in_parts
from foretime.inference.questions import answer_file
from foretime.inference.views import By, RunView, view_as_of, view_on
from foretime.inference.what_if import WhatIf
from foretime.rules.mining import mine_rules
from foretime.rules.table import Rules
from foretime.runs.evaluation import evaluate_split
from foretime.runs.executor import open_executor, wants_executor
from foretime.runs.finish import note_on_backtests
from foretime.runs.folder import RunFolder
from foretime.runs.helping import join_launcher
from foretime.runs.life import create_run, plan_epochs
from foretime.runs.life import resume as _resume
from foretime.runs.presets import DEFAULT_PRESET, PresetName, check_preset, preset_config
from foretime.runs.protocols import ask
from foretime.runs.updates import Update
from foretime.runs.verify import run_folders
from foretime.runs.warm_start import WarmStart
from foretime.tables import Table
from foretime.training.callbacks import Callback, Callbacks, TensorBoard
from foretime.training.precision import precision_warning
from foretime.training.settings import changed_config, complete_config

if TYPE_CHECKING:
    from foretime.inference.agenda.maker import ForecastMaker


class Run:
    """A run folder, opened: predicts, explains, and knows its graph, configuration and figures.

    Everything is loaded when it is first needed, and kept. `path` is the folder. Raises `RunError` if the folder is
    missing or holds no run.

    >>> run = ft.open_run("runs/small")
    >>> run
    Run runs/small: lcge on events, valid MRR 0.9..., test MRR 0.9...
    >>> run.config.model.name, len(run.graph.entities), run.rules
    ('lcge', 12, None)
    >>> run.predict(subject="state 0", predicate="visits", time="2020-05-05", top=1)[0].name
    'state 1'
    """

    def __init__(self, folder: RunFolder | Path | str, device: str | None = None) -> None:
        self._folder = folder if isinstance(folder, RunFolder) else RunFolder.open(folder, device)
        self.path = self._folder.path
        self._source: EvidenceSource | None = None
        self._maker: ForecastMaker | None = None

    @cached_property
    def config(self) -> Config:
        """Every setting of the run."""
        return self._folder.config()

    @cached_property
    def graph(self) -> Graph:
        """The graph that the run was trained on."""
        return self._folder.graph()

    @cached_property
    def rules(self) -> Rules | None:
        """The rules that guide the model or that its evidence follows; None if there are none."""
        return self._folder.rules(self.graph)

    def facts(self, split: str) -> Facts:
        """Return the facts of a split of the graph; raises `DataError` if there are none."""
        found = self.graph.facts(split)
        if len(found) == 0:
            raise DataError(f"{self.path}: its graph has no {split} facts; choose another split")
        return found

    @property
    def predictor(self) -> Predictor:
        """What answers the questions: the best weights of the run, its re-ranker if it has one, and its updates."""
        return self._living.predictor

    @cached_property
    def _living(self) -> LivingState:
        return LivingState(
            self.graph, self.config.evidence.splits, self.path, lambda: Predictor.open(self._folder, self.graph)
        )

    @property
    def report(self) -> dict[str, Any]:
        """The report of the run as plain values; a run that is not finished has none, which raises `RunError`.

        `backtests` has the backtests since that have ranked facts of test, and `test_note` says how many there were.
        """
        report, backtests = self._folder.report(), self._folder.backtests()
        if not backtests:
            return report
        with self._folder.reading_report():
            return report | {"backtests": backtests, "test_note": note_on_backtests(report["test_note"], backtests)}

    @property
    def history(self) -> Table:
        """One row for each epoch: its losses, penalties, seconds, and the MRR on valid where that was measured."""
        return Table.of(self._folder.trace(), f"training of {self.path}")

    @property
    def evaluations(self) -> dict[str, Evaluation]:
        """The evaluation of each split that the report has; raises `RunError` if the run is not finished."""
        with self._folder.reading_report():
            return evaluations_in(self.report)

    @property
    def metrics(self) -> Table:
        """One row for each evaluated split, and one more for the base model where there is a re-ranker.

        Raises `RunError` if the run is not finished.
        """
        with self._folder.reading_report():
            return metrics_table(self.evaluations)

    @property
    def summary(self) -> str:
        """What was trained on what, for how long, and how often test was ranked; `RunError` if it is not finished."""
        report = self.report
        with self._folder.reading_report():
            return (
                f"{report['model']} on {report['data']}: best epoch {report['best_epoch']} of {report['epochs']}, "
                f"{report['training_seconds']:.0f} s, {report['parameters']:,} parameters; {report['test_note']}"
            )

    @property
    def uses_time(self) -> bool:
        """Whether the scores of its model depend on the time."""
        return self.predictor.model.uses_time

    @property
    def note(self) -> str | None:
        """What a reader of its answers should know: that the run is not finished, and what it lacks."""
        if self._folder.report_file.exists():
            return None
        lacking = self.config.reranker.use and not self._folder.reranker_file.exists()
        return f"the run is not finished: these are its weights so far{', without its re-ranker' if lacking else ''}"

    @property
    def explanation_note(self) -> str | None:
        """What a reader should know of all its explanations, such as that it was trained without evidence."""
        return self.predictor.explainer.note

    def predict(  # noqa: PLR0913, each is a slot or a restriction of the question
        self,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        object: str | None = None,
        time: Time | None = None,
        start: Time | None = None,
        end: Time | None = None,
        type: OneOrMore | None = None,
        where: Where | None = None,
        top: int = 10,
        already_known: AlreadyKnown = "mark",
    ) -> Answers:
        """Return the best answers to a question: all of subject, predicate, object and time but the one asked for.

        In a graph of intervals, `start` and `end` may stand in place of `time`. `top` is how many answers there are at
        the most. Answers that train or valid have are marked, or left out with `already_known="hide"`.

        `type` restricts the answers to entities of a type or of several, `where` to those with values of other
        attributes, as in `{"country": ["Iran", "Iraq"]}`. The probabilities are then given that the answer is one of
        these, and `allowed_probability` is how likely that is. A name that is not there but for one that differs only
        in case, accents or white space, or as an alias, is taken for that one: `taken` and `note` say so.

        Raises `QuestionError` for an unknown name, time or type, or if not exactly one slot is left open.

        >>> answers = run.predict(subject="state 0", predicate="visits", time="2020-05-05", top=2)
        >>> [answer.name for answer in answers], answers.target
        (['state 1', 'state 2'], 'object')
        """
        question = Question(subject, predicate, object, time, start, end, where, type)
        return self.predictor.predict_many([question], top, already_known)[0]

    def predict_many(
        self, questions: Sequence[Question], *, top: int = 10, already_known: AlreadyKnown = "mark"
    ) -> list[Answers]:
        """Return the answers to many questions, which are scored together. The parameters are those of `predict`.

        >>> asked = [ft.Question(subject="state 0", predicate="visits", object="state 1")]
        >>> run.predict_many(asked, top=3)[0].target
        'time'
        """
        return self.predictor.predict_many(questions, top, already_known)

    def answer_file(
        self,
        questions: Path | str,
        out: Path | str,
        *,
        top: int = 10,
        already_known: AlreadyKnown = "mark",
        reasons: int = 0,
        note: Callable[[str], None] = warnings.warn,
        jobs: int = 1,
        cluster: str | None = None,
    ) -> int:
        """Answer the questions of a TSV, CSV or JSON Lines file, and return how many there were.

        The answers are written to `out`, as TSV, CSV, JSON Lines or Parquet by its ending, each with its first
        `reasons` reasons. `note` is called with a text for each name that was taken for another; by default it is a
        warning. Raises `QuestionError` with every wrong line, before any question is answered.

        With several `jobs`, or on a Ray `cluster`, many processes of one thread each answer parts of the file. Each
        opens the run, so that is for tens of thousands of questions.

        >>> _ = Path("questions.tsv").write_text("subject\\tpredicate\\ttime\\nstate 0\\tvisits\\t2020-05-05\\n")
        >>> run.answer_file("questions.tsv", "answers.csv", top=3)
        1
        """
        path, target = Path(questions), Path(out)
        answer = partial(answer_file, self.predictor, path, target, top, already_known, reasons, note)
        if not wants_executor(jobs, cluster):
            return answer()
        with open_executor(jobs, cluster) as executor:
            own = (self._folder.path, self._folder.device)
            return answer(answer_in_parts(executor, own, path, target, note))

    def forecast(
        self,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        object: str | None = None,
        start: Time | None = None,
        steps: int = 7,
        top: int = 20,
    ) -> Forecast:
        """Return the most likely events of the coming steps, of the whole graph or with the given slots.

        `start` is the first step of the window, by default the one after the last event that the run knows, updates
        included; only events before it are looked at. `steps` is how many steps the window has.

        The first call fits a small model on steps of valid, and keeps it in the run folder as `agenda.json`.

        Raises `QuestionError` for an unknown name or time, and if the run was not trained with `--past-only`.

            for event in run.forecast(subject="Iran", steps=7):
                print(event.probability, event, event.explain().sentences[0])
        """
        slots = {"subject": subject, "predicate": predicate, "object": object}
        return self._forecasts.forecast(slots, start, steps, top, lambda day: self.as_of(day).predictor)

    @property
    def _forecasts(self) -> ForecastMaker:
        from foretime.inference.agenda.maker import ForecastMaker, agenda_model

        if self._maker is None:
            trained = self._living.trained
            model = agenda_model(self._folder, trained, tuple(self.config.evidence.splits))
            self._maker = ForecastMaker(self._evidence_source, model)
        elif self._maker.source is not self._evidence_source:
            self._maker = ForecastMaker(self._evidence_source, self._maker.model)
        return self._maker

    def explain(  # noqa: PLR0913, each is a slot of the question
        self,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        object: str | None = None,
        time: Time | None = None,
        start: Time | None = None,
        end: Time | None = None,
        type: OneOrMore | None = None,
        where: Where | None = None,
        competitor: str | None = None,
        slot: Target = "object",
        already_known: AlreadyKnown = "mark",
        top: int = 5,
    ) -> Explanation:
        """Return why a fact has its score; with a `competitor`, also why its answer and not that one.

        If one slot is left out, the best answer for it is explained; with `already_known="hide"`, the best that train
        and valid do not have. If all are given, `slot` names the one that is the answer. The rules of the first `top`
        reasons are counted, and so many are shown. Where two slots are the answer, `steps` has why the first, and why
        the second given the first; `slot` names both as in "predicate and object". `type` and `where` restrict the
        answers as in `predict`.

        Raises `QuestionError` for an unknown name or time, or if other slots are left out than `predict` can answer.

        >>> run.explain(subject="state 0", predicate="visits", object="state 2", time="2020-05-05").rank
        2
        >>> why = run.explain(subject="state 0", predicate="visits", time="2020-05-05", competitor="state 2")
        >>> print(why.to_text().splitlines()[0])
        why state 1 and not state 2: (state 0, visits, ?, 2020-05-05)
        """
        return self.predictor.explainer.explain(
            subject=subject, predicate=predicate, object=object, time=time, start=start, end=end,
            type=type, where=where, competitor=competitor, slot=slot, already_known=already_known, top=top,
        )  # fmt: skip

    def what_if(
        self, *, without: Sequence[Removal] = (), with_: Sequence[Addition] = (), past_only: bool = False
    ) -> WhatIf:
        """Return the run as if some events had not happened, or others had; the run itself stays as it is.

        `without` has events, rules and predicates: an event as `(subject, predicate, object, time)`, as one of an
        explanation, or as text, a rule as `foretime rules show` prints it, a predicate by its name. `with_` has events
        among known names. With `past_only`, only events before the time asked about are evidence.

        Raises `QuestionError` for unknown names, for an event that is not there, and if the run looks up no events.
        """
        return WhatIf(self._evidence_source, without, with_, past_only)

    @property
    def _evidence_source(self) -> EvidenceSource:
        living = self._living
        if self._source is None or self._source.predictor is not living.predictor:
            self._source = living.source
        return self._source

    def update(self, events: Any, *, known: str | int | None = None, **reading: Any) -> UpdateReport:
        """Add events to what the run knows, without training, and return what was new.

        Parameters:
            events: a file, a pandas, Polars or Arrow table, or rows: `(subject, predicate, object, time)`, with `start`
                and `end` in place of `time`, or dicts with these keys.
            known: the column that says when an event was known, by name or by number from 1; by default the one
                called `known`, if there is one.
            reading: keywords of `load`, such as `columns`, `delimiter` or `bad_rows`.

        New names and later times are taken in. Events that are there already change nothing. The update is kept in the
        folder of the run. Raises `DataError` with every bad row, and then nothing is changed; with
        `bad_rows="skip"` they are left out, and the report has them.

            run.update([("state 0", "visits", "state 13", "2021-01-02")])
        """
        return self._living.add(events, reading, known)

    def undo_update(self) -> Update | None:
        """Take back the last update, and return it; None if there is none."""
        return self._living.undo()

    def refresh(self) -> bool:
        """Take in the updates that another process has written or taken back; return whether there were any."""
        return self._living.refresh()

    @property
    def updates(self) -> list[Update]:
        """The updates that hold, in their order."""
        return list(self._living.updates)

    @property
    def update_note(self) -> str | None:
        """How many events updates have added, and until when; None without any."""
        return self._living.note

    @property
    def added_until(self) -> str | None:
        """The last time of the events that updates have added; None without any."""
        return self._living.added_until

    def as_of(self, day: Time, *, by: By = "happened") -> RunView:
        """Return the run as of a day: events that happened on it or later are no evidence.

        With `by="known"`, an event of an update that says when it was known counts from the day after that one.
        What was learned in training stays. Raises `QuestionError` if the day is no time of the timeline's unit, or if
        the run looks up no events.
        """
        return view_as_of(self._evidence_source, self.config, day, by)

    def on(self, graph: Graph) -> RunView:
        """Return the run on another graph with the same predicates: its rules and trees, and no embeddings.

        The facts of that graph are the evidence. Predicates are matched by name; those that the run was not trained on
        are `unmatched`. Raises `QuestionError` if none matches, or if the run looks up no events.
        """
        return view_on(self._living.trained, self.config, graph)

    def evaluate(
        self, split: str = "test", *, filter: FilterName | None = None, protocol: ProtocolName | None = None
    ) -> Evaluation:
        """Return the evaluation of the best weights on a split, under the run's own filter or the given one.

        A run trained with `--past-only` may be asked under another `protocol` than its own: `single-step` lets a
        question see every event before its time, `multi-step` those of earlier splits. Nothing is trained again.

        Raises `DataError` if the graph has no such facts, and `ConfigError` for a protocol that the run cannot follow.

        >>> run.evaluate("valid").protocol
        'completion'
        """
        self.facts(split)
        chosen, predictor = filter or self.config.training.filter, self.predictor
        asked = ask(predictor.scorer, predictor.graph, self.config.evidence, split, protocol)
        return evaluate_split(asked, predictor.graph, split, chosen, predictor.calibrations)

    def backtest(
        self,
        start: Time,
        end: Time,
        every: int = 7,
        *,
        retrain: int | None = None,
        out: Path | str | None = None,
        settings: Mapping[str, Any] | None = None,
        filter: FilterName | None = None,
        callback: Callback | None = None,
    ) -> Backtest:
        """Roll a run of forecasts through the past, and return its figures for each window of `every` steps.

        All events from `start` to `end`, both included, are asked single-step: a question sees every event before its
        time, and the weights are those of the run. With `retrain`, before each so many windows a copy is trained on
        everything that came before, from the weights of the run, and asked too. Copies are kept in the folder `out`,
        where a second call finds them, or nowhere; `settings` replace those of the run for them.

        Raises `ConfigError` if the run is not past-only, and `DataError` if nothing happened from `start` to `end`, or
        if a copy would have nothing to be calibrated on.
        """
        tester = Backtester(self._folder, self.config, self.predictor, filter)
        found = tester.ask(str(start), str(end), every)
        if retrain is None:
            return found
        span, config = tester.span(str(start), str(end), every), changed_config(self.config, dict(settings or {}))
        folder = None if out is None else Path(out)
        return tester.with_retraining(found, span, retrain, config, folder, callback or Callback())

    def write_rankings(
        self,
        file: Path | str,
        split: str = "test",
        *,
        filter: FilterName | None = None,
        protocol: ProtocolName | None = None,
        candidates: int | None = None,
    ) -> Path:
        """Write the ranking of every question of a split to a text file, for other evaluators, and return its path.

        Each ranking goes down to the true answer and all that tie with it; with `candidates` it has so many, 0 for all
        entities. The facts by id and by name are written beside it. The other parameters are those of `evaluate`.
        """
        asked = ask(self.predictor.scorer, self.graph, self.config.evidence, split, protocol)
        questions = questions_of(self.facts(split), len(self.graph.predicates), filter or self.config.training.filter)
        write_rankings(Path(file), asked.scorer.score, questions, self.graph, candidates)
        return Path(file)

    def measure_explanations(
        self,
        split: str = "test",
        *,
        questions: int = 200,
        seed: int = 0,
        planted: Path | str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> ExplanationMeasures:
        """Return how good the explanations of answers to a split are, measured on `questions` that the seed draws.

        `planted` is the file of a generated world that says which events made each planted one; by default the one
        beside the data of the run, and without one truth is not measured. `progress` hears how many are done of how
        many. Raises `QuestionError` if the run looks up no events, and `DataError` if the graph has no such facts.
        """
        facts, source, config = self.facts(split), self._evidence_source, self.config
        meter = ExplanationMeter(self.predictor, source.filter, config.training.filter, seed)
        path = planted_file(config.data.path) if planted is None else Path(planted)
        true = {} if path is None else meter.read_planted(path)
        settings: dict[str, Any] = {"run": self.path.name, "graph": self.graph.name, "split": split}
        settings |= {"questions": questions, "seed": seed}
        return measure_explanations(meter, facts, true, settings, progress)

    def __repr__(self) -> str:
        try:
            found = self.evaluations.values()
        except RunError:
            return f"Run {self.path}: {self.config.model.name} on {self.graph.name}, not finished"
        shown = "".join(f", {one.split} MRR {one.all.mrr:.4f}" for one in found)
        return f"Run {self.path}: {self.config.model.name} on {self.graph.name}{shown}"

    def _repr_html_(self) -> str:
        table = self.metrics.to_html() if self._folder.report_file.exists() else ""
        return f"<p>{escape(repr(self))}</p>{table}"


def train(  # noqa: PLR0913, each is a choice of its own
    graph: Any = None,
    *,
    preset: PresetName | None = None,
    model: str | None = None,
    folder: Path | str | None = None,
    config: Config | Path | str | None = None,
    settings: Mapping[str, Any] | None = None,
    warm_start: Run | Path | str | None = None,
    callback: Callback | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    device: str | None = None,
    test: bool = True,
    tensorboard: bool = False,
) -> Run:
    """Train on a graph in a new run folder, and return the finished run.

    Parameters:
        graph: a `Graph`, or anything that `load` reads; by default the one that the configuration names.
        preset: `quick`, `balanced`, `best` or `forecast`: settings that are chosen for the graph. Without a model and a
            configuration it is `balanced`.
        model: the name of a model. Alone it is trained as it is, without evidence and without a re-ranker; beside a
            preset it takes the place of the preset's.
        folder: where the run is kept; by default the first free one of runs/GRAPH-MODEL, runs/GRAPH-MODEL-2, …, with
            the name of the preset instead of the model's if there is one.
        config: a configuration or its TOML file; not together with a preset.
        settings: values that replace those, by their dotted names: `{"training.epochs": 20}`.
        warm_start: a run whose weights and settings this one begins with: names are matched by name, and what is new
            begins as usual. Without a graph it is trained on the graph of that run and its updates.
        callback: is called at every step and epoch.
        jobs: how many trainings run in parallel, where the run has several.
        cluster: the Ray cluster on whose nodes they run, as `auto` (docs/cluster.md).
        device: `cpu`, `cuda`, `cuda:1` or `mps`; by default that of the configuration, whose default is `auto`.
        test: whether test is ranked at the end.
        tensorboard: whether the run folder gets TensorBoard scalars.

    Raises `ConfigError` for a wrong setting, `DataError` for a graph that cannot be read, `RunError` if the folder
    holds a run already, and `Interrupted` if the callback asks to stop.

    >>> settings = {"model.rank": 4, "training.epochs": 2, "training.threads": 1}
    >>> run = ft.train(graph, model="complex", settings=settings)
    >>> run.path.name, run.metrics.columns[0], len(run.history)
    ('events-complex', 'split', 2)
    """
    join_launcher(jobs, cluster)
    if preset is not None and config is not None:
        raise ConfigError("give either a preset or a configuration; single settings may stand beside both")
    start = None if warm_start is None else WarmStart(warm_start.path if isinstance(warm_start, Run) else warm_start)
    if start is not None and (preset is not None or config is not None):
        raise ConfigError(
            "a warm start has the settings of its run; leave out preset and config, and change single ones"
        )
    if preset is None and model is None and config is None and start is None:
        preset = DEFAULT_PRESET
    changes = {**({"model.name": model} if model else {}), **(settings or {})}
    if device is not None:
        changes["training.device"] = device
    if isinstance(graph, str | Path):
        changes["data.path"] = without_password(str(graph))
    base = config if isinstance(config, Config) else read_config(config) if config is not None else Config()
    final = changed_config(base, changes) if start is None else start.changed_config(changes, graph is None)
    find_device(final.training.device)
    if preset is None:
        complete_config(final)  # a wrong setting should not wait for the graph to be read
    else:
        check_preset(preset)
    if graph is None and not final.data.path and start is None:
        raise ConfigError("name a graph: foretime train FOLDER_OR_FILE, or data.path in the configuration")
    if folder is not None:
        RunFolder.check_free(folder)
    hear = callback or Callback()
    if isinstance(graph, str) and without_password(graph) != graph:
        hear.announce("the run will not keep the password; to read the database again, set PGPASSWORD or ~/.pgpass")
    if start is not None and graph is None:
        loaded = start.grown_graph(final.data)
    elif isinstance(graph, Graph):
        loaded = graph
    else:
        loaded = read_graph(final.data.path if graph is None else graph, final.data)
    hear.announce(_outline(loaded))
    if preset == "forecast" and not in_order(loaded):
        changes["data.split"], data = "time", final.data
        loaded = loaded.split(data.valid_share, data.test_share, by="time")
        hear.announce("a forecast asks about what comes after train: the facts are split by time")
    rules: list[Rules] = []

    def mine_once(graph: Graph, config: RulesConfig) -> Rules:
        hear.announce("mining temporal rules")
        rules.append(mine_rules(graph, config))
        return rules[0]

    if preset is not None:
        final = preset_config(preset, loaded, changes, mine_once)
    for warning in filter(None, [*loaded.describe().warnings(), precision_warning(final.training)]):
        hear.warn(warning)
    chosen = Path(free_folder(loaded.name, preset or final.model.name) if folder is None else folder)
    hear.announce(f"training {preset or final.model.name} in {chosen}")
    create_run(loaded, final, chosen, hear, rules[0] if rules else None, start)
    if loaded.bad_rows:
        hear.announce(f"{loaded.bad_rows.note}; they are in {loaded.bad_rows.write(chosen / BAD_ROWS)}")
    return resume(
        chosen, callback=callback, jobs=jobs, cluster=cluster, device=device, test=test, tensorboard=tensorboard
    )


def _outline(graph: Graph) -> str:
    return (
        f"{graph.name}: {len(graph.train):,} training facts, {len(graph.entities):,} entities, "
        f"{len(graph.predicates):,} predicates, {len(graph.timeline):,} time steps"
    )


def free_folder(graph: str, label: str) -> Path:
    """Return the first free folder of runs/GRAPH-LABEL, runs/GRAPH-LABEL-2, …"""
    base = Path("runs") / f"{Path(graph).name or 'graph'}-{label}"
    folder, number = base, 1
    while folder.exists():
        number += 1
        folder = base.with_name(f"{base.name}-{number}")
    return folder


def resume(
    folder: Run | Path | str,
    *,
    epochs: int | None = None,
    callback: Callback | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    device: str | None = None,
    test: bool = True,
    tensorboard: bool = False,
) -> Run:
    """Continue a run where it was interrupted, or to more `epochs` if it is finished, and return it.

    The other parameters are those of `train`. Raises `RunError` if there is no run in the folder, or another process
    trains in it, and `ConfigError` if the run has as many epochs already.

    >>> ft.resume("runs/small")
    Run runs/small: lcge on events, valid MRR 0.9..., test MRR 0.9...
    """
    join_launcher(jobs, cluster)
    path = folder.path if isinstance(folder, Run) else folder
    RunFolder.find(path, device)  # TensorBoard would make a folder that is not there
    if epochs is not None:
        plan_epochs(path, epochs)
    heard = Callbacks([callback or Callback(), *([TensorBoard(Path(path))] if tensorboard else [])])
    return Run(_resume(path, heard, test, jobs, device, cluster))


def open_run(folder: Path | str, *, device: str | None = None) -> Run:
    """Return the run in a folder. Raises `RunError` if it is missing or holds no run.

    It answers on `device`, and raises `ConfigError` if that is not there. By default it answers on the device of its
    configuration, or where that is not there on the one that `auto` takes.

    >>> ft.open_run("runs/none")
    Traceback (most recent call last):
    foretime.errors.RunError: runs/none: no such run folder
    """
    return Run(folder, device)


def find_runs(folder: Path | str = "runs") -> list[Run]:
    """Return the run in a folder if it is one, or else all runs right below it, by name.

    Raises `RunError` if the folder is missing.

    >>> ft.find_runs("runs")
    [Run runs/small: lcge on events, valid MRR 0.9..., test MRR 0.9...]
    """
    return [Run(found) for found in run_folders(folder)]
