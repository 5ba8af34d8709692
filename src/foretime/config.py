"""Configuration: frozen, typed, closed sections that are read from TOML and written back to it.

A configuration has seven sections. `[data]` says where the graph is and how to read it, `[rules]` which temporal rules
guide the model, `[model]` names a model and its own options, `[evidence]` says whether grounded rules score beside it,
`[penalties]` weighs the model's penalties by name, `[training]` says how to fit it, and `[reranker]` whether trees
order the best candidates anew. Every key is listed here or in the options of a model; any other key is an error.
"""

from __future__ import annotations

import re
import tomllib
from datetime import date
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, TypeVar

import tomli_w
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from foretime.errors import ConfigError, suggestion
from foretime.files import TOO_DEEP, read_text

LARGEST_SEED = 2**32 - 1
"""The largest seed: torch, NumPy and LightGBM all take it, also with what ensemble members add to it."""
MOST_EPOCHS: Final = 1_000_000
MOST_COUNT: Final = 1_000_000_000
"""The most of what is only compared with a number of facts: it fits into 32 bits."""
MOST_WINDOW: Final = 1_000_000
"""The most steps that are looked back: a timeline has no more."""
MOST_WALKED: Final = 10_000
"""The most steps that are gone one by one, for every question."""
MOST_THREADS: Final = 256
MOST_SECONDS: Final = 1e9
MOST_WEIGHT: Final = 1e6
"""The greatest weight of a term: its square is far from what single precision ends at."""
MOST_COLUMNS: Final = 100_000
LONGEST_SHOWN: Final = 200
MOST_CONFIG_BYTES: Final = 1 << 20
"""The largest configuration file."""
RENAMED: Final = {
    "combiner": "reranker",
    "combiner.parts": "reranker.fitted_folds",
    "combiner.column_share": "reranker.feature_share",
    "training.members": "training.ensemble_size",
    "training.ends": "training.boundary_relations",
    "training.ends=alike": "training.boundary_relations=shared",
    "training.ends=apart": "training.boundary_relations=separate",
    "data.split=chronological": "data.split=time",
}
"""Sections, keys and values of earlier versions, and what they are called now."""


class Section(BaseModel):
    """A group of settings: closed, typed and frozen."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)


SectionType = TypeVar("SectionType", bound=Section)


def _check_column(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise PydanticCustomError("column", "Input should be the name of a column, or its number from 1")
    if isinstance(value, int) and value > MOST_COLUMNS:
        raise PydanticCustomError("column", f"Input should be the number of a column, at most {MOST_COLUMNS:,}")
    return value


Column = Annotated[str | int, BeforeValidator(_check_column)]
Weight = Annotated[float, Field(ge=-MOST_WEIGHT, le=MOST_WEIGHT)]


def _time_text(value: object) -> object:
    """Return a time as text: TOML and the command line read a bare 2014-11-01 as a date and 178 as an integer."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, int) and abs(value) >= 10**18:
        raise PydanticCustomError("time", "Input should be a time; an integer has up to 18 digits")
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


TimeText = Annotated[str, BeforeValidator(_time_text)]

FILE_DATABASES: Final = ("duckdb", "sqlite")
"""The databases that are one file: `duckdb:events.db`."""
_SECRET_PARAMETERS = ("password", "sslpassword")


def without_password(address: str) -> str:
    """Return the address of a database without its password: `postgresql://ann@host/db` for `postgresql://ann:x@host/db`.

    Of an address that is malformed it leaves out rather more than that.
    """
    found = re.fullmatch(r"([\w+.-]+:/+)(.*)", address, re.DOTALL)
    if found is None:
        return address
    user, at, place = found[2].rpartition("@")
    place, question, parameters = place.partition("?")
    kept = [text for text in parameters.split("&") if text.partition("=")[0].lower() not in _SECRET_PARAMETERS]
    return f"{found[1]}{user.partition(':')[0]}{at}{place}{question if any(kept) else ''}{'&'.join(kept)}"


def _check_path(path: str) -> str:
    """Return where a graph is, unless that has a password: a configuration is kept in files and shown."""
    if without_password(path) != path:
        message = "holds a password, and a configuration is kept; leave it out, and set PGPASSWORD or write ~/.pgpass"
        raise PydanticCustomError("password", message)
    return path


class DataConfig(Section):
    """`[data]`: where the graph is and how to read it."""

    timeless: ClassVar[bool] = False
    """Whether the facts of a table have no time, and so no column for it."""

    path: Annotated[str, AfterValidator(_check_path)] = ""
    """A folder with train, valid and test files; one file; a name that `foretime data get` has fetched; or a database:
    `duckdb:FILE`, `sqlite:FILE` or `postgresql://USER@HOST/DATABASE`, whose password comes from the environment."""
    query: str | None = None
    """What to read from a database: one SELECT."""
    table: str | None = None
    """The table of a database to read, instead of a query."""
    columns: dict[str, Column] = Field(default_factory=dict)
    """Which column is which: `subject`, `predicate`, `object` and `time`, or `start` and `end`; by name or by number
    from 1. Empty: in that order."""
    header: bool | None = None
    """Whether the first row names the columns; not given: seen from the row itself."""
    delimiter: str | None = None
    """What separates the columns of a text file; not given: seen from the first row."""
    names: Literal["auto", "as-is"] = "auto"
    """`auto` replaces ids by the names of `entity2id.txt` and `relation2id.txt` where these lie beside the data;
    `as-is` keeps what the files say."""
    date_format: str = "auto"
    """How dates are written where that is not plain: by parts such as `%d/%m/%Y`, or `integer`, `year`, `unix` (seconds
    since 1970) or `unix-ms`. `auto`: seen from all times together; what is ambiguous is an error."""
    bad_rows: Literal["stop", "skip"] = "stop"
    """`stop`: a row that cannot be read is an error; `skip`: it is left out, reported, and written to a file."""
    entities: str = "auto"
    """A file with the attributes of entities: a column `name`, and any others. `auto`: `entities.tsv` (or `.csv`,
    `.jsonl`, `.parquet`) beside the data, if it is there; `none`: no file."""
    granularity: str = "auto"
    """One step of the timeline: `second`, `minute`, `hour`, `day`, `week`, `month`, `year`, `step` (integers), or
    `bins:N` for N bins with equally many training events. `auto`: the day, the month or the year if most
    times are no more precise than that, and `step` for integers."""
    regular: bool = True
    """Whether every step between the first and the last is on the timeline; false keeps those with an event only."""
    split: Literal["auto", "random", "time", "quantile"] = "auto"
    """`auto`: as given by the files of a folder, `random` for a single file; `time`: train before valid before test,
    no step cut; `quantile`: the same, cut at quantiles of the times as the Temporal Graph Benchmark does it."""
    valid_share: float = Field(default=0.1, ge=0.0, lt=1.0)
    """The share of facts that a made split puts into valid."""
    test_share: float = Field(default=0.1, ge=0.0, lt=1.0)
    """The share of facts that a made split puts into test."""
    split_seed: int = Field(default=0, ge=0, le=LARGEST_SEED)
    """The seed of a random split."""
    valid_from: TimeText | None = None
    """The time at which valid begins: all facts are pooled, and train is what comes before it."""
    test_from: TimeText | None = None
    """The time at which test begins; not given, with `valid_from`: there is no test."""

    @property
    def location(self) -> str:
        """The path without the kind of a database that is a file."""
        kind, _, file = self.path.partition(":")
        return file if kind in FILE_DATABASES else self.path


class ModelConfig(Section):
    """`[model]`: the name of a model; every other key is an option of that model."""

    model_config = ConfigDict(frozen=True, extra="allow")

    name: str = "lcge"
    """One of the registered models."""

    @property
    def options(self) -> dict[str, Any]:
        """The options of the model, not yet checked: the model's own file declares them."""
        return dict(self.model_extra or {})


LossName = Literal["softmax", "negatives", "margin"]


DEVICE_NAMES: Final = "auto, cpu, cuda, cuda:N (as in cuda:1) or mps"


def is_device(name: str) -> bool:
    """Return whether a device may have such a name, here or on another machine."""
    return re.fullmatch(r"auto|cpu|cuda(:[0-9]{1,3})?|mps", name) is not None


def _check_device(name: str) -> str:
    if not is_device(name):
        raise PydanticCustomError("device", f"Input should be {DEVICE_NAMES}")
    return name


Device = Annotated[str, AfterValidator(_check_device)]


class TrainingConfig(Section):
    """`[training]`: how the model is fitted."""

    epochs: int = Field(default=50, ge=1, le=MOST_EPOCHS)
    """Passes over the training questions at the most."""
    batch_size: int = Field(default=1000, ge=1, le=10_000_000)
    """Questions in a step, on average (equal questions are scored once)."""
    epoch_limit: int = Field(default=0, ge=0, le=MOST_COUNT)
    """Questions of an epoch at the most, but those of one step at the least, drawn by seed for each epoch anew; 0 for
    all."""
    optimizer: Literal["adagrad", "adam"] = "adagrad"
    """Adagrad is what every strong result of the field uses; Adam is what the paper names."""
    learning_rate: float = Field(default=0.1, gt=0.0, le=1e30)
    """The step size of the optimiser; a training that it makes diverge is an error."""
    loss: LossName | None = None
    """`softmax`: cross entropy of the answer among all entities, or among `candidates`. `negatives`: the answer against
    wrong ones that are drawn, −log σ(γ − d) − Σ wᵢ log σ(dᵢ − γ), the hardest weighing most. `margin`: the same as
    max(0, γ + d − dᵢ). d is the negative score: a distance. Not given: that of the model."""
    candidates: int = Field(default=0, ge=0, le=MOST_COUNT)
    """Entities that `softmax` chooses from in a step, beside the answers of that step; 0 for all. Half of them answer
    most often in training; the others are drawn anew for every step, and each stands for several that were not. Fewer
    make a step faster, and its gradient less exact."""
    margin: float | None = Field(default=None, ge=0.0, le=MOST_WEIGHT)
    """γ of `negatives` and `margin`. Not given: that of the model."""
    negatives: int = Field(default=64, ge=1, le=100_000)
    """Wrong answers that are drawn for each answer, under `negatives` and `margin`."""
    temperature: float = Field(default=1.0, ge=0.0, le=MOST_WEIGHT)
    """How much the hardest wrong answers weigh under `negatives`: wᵢ is the softmax of their scores times this; with 0
    all weigh the same."""
    precision: Literal["single", "bfloat16"] = "single"
    """Of the products with all entities in training, and of their gradients. `bfloat16` is faster where the
    processor has instructions for it, and slower elsewhere. Weights, ranking and answers are always `single`."""
    softmax: Literal["each", "joint"] = "each"
    """`each`: every component of the model has its own softmax and the losses are added with its weights, as in the
    paper; `joint`: one softmax over the weighted sum of all terms."""
    boundary_relations: Literal["shared", "separate"] = "shared"
    """The relations under which a model with time learns the two ends of an interval: `shared` for one relation,
    `separate` for two, one for the start and one for the end. It has no effect on a graph without intervals."""
    valid_every: int = Field(default=5, ge=1, le=MOST_EPOCHS)
    """Epochs between two evaluations on valid."""
    patience: int = Field(default=3, ge=1, le=MOST_EPOCHS)
    """Evaluations on valid without a better MRR after which training stops."""
    valid_limit: int = Field(default=0, ge=0, le=MOST_COUNT)
    """Valid facts that are ranked to choose the best epoch, drawn by seed; 0 for all."""
    filter: Literal["exact", "valid-at", "points"] = "exact"
    """The filter of known answers under which valid and test are ranked."""
    ensemble_size: int = Field(default=1, ge=1, le=100)
    """How many models are trained, each with its own seed; the score is the mean of theirs. Evidence is learned once,
    by the first."""
    seed: int = Field(default=0, ge=0, le=LARGEST_SEED)
    """The seed of the initial weights, of the order of questions and of the entities that are drawn."""
    device: Device = "auto"
    """Where embeddings, losses, ranking and calibration are computed: `cpu`, `cuda`, `cuda:1` or `mps`; `auto` takes
    CUDA if torch has a device of it, then MPS, then the CPU. Evidence and trees are always on the CPU."""
    threads: int = Field(default=0, ge=0, le=MOST_THREADS)
    """Threads of the matrix products; 0 for one for each core. A resumed run uses the number it began with."""
    checkpoint_seconds: float = Field(default=60.0, ge=0.0, le=MOST_SECONDS)
    """Seconds between two checkpoints within an epoch; one is also written after every epoch."""


class RulesConfig(Section):
    """`[rules]`: the temporal rules that guide a model which takes rules, and that evidence has paths of."""

    file: str = ""
    """A file of rules (text, JSON Lines or Parquet) to use as it is; empty: rules are mined from the graph."""
    splits: list[Literal["train", "valid", "test"]] = Field(default=["train"], min_length=1)
    """The splits that rules are mined from and counted on."""
    window: int = Field(default=19, ge=1, le=MOST_WALKED)
    """The paper's W: how many steps after its body a head may come."""
    counting: Literal["windowed", "literal"] = "windowed"
    """`windowed`: a body counts once if its head comes at all; `literal`: the paper's equations as printed."""
    support: int = Field(default=5, ge=0, le=MOST_COUNT)
    """The least number of body groundings whose head came, under the counting `windowed`: one case is no rule."""
    confidence: float = Field(default=0.1, ge=0.0, le=1.0)
    """The least standard confidence (SC) of a temporal rule."""
    head_coverage: float = Field(default=0.1, ge=0.0, le=1.0)
    """The least head coverage (HC) of a temporal rule."""
    best_pattern_only: bool = False
    """Keep only the most confident pattern of each body and head, as the released code does."""
    static_support: int = Field(default=10, ge=1, le=MOST_COUNT)
    """The least support of the static rule behind a temporal one."""
    static_head_coverage: float = Field(default=0.01, ge=0.0, le=1.0)
    """The least head coverage of the static rule."""
    static_confidence: float = Field(default=0.0, ge=0.0, le=1.0)
    """The least standard confidence of the static rule. It does not bound that of the temporal one: pairs recur."""
    static_pca_confidence: float = Field(default=0.0, ge=0.0, le=1.0)
    """The least PCA confidence of the static rule."""


FamilyName = Literal["pair", "object", "active", "affinity", "path", "recurrence", "contact", "popularity"]


class EvidenceConfig(Section):
    """`[evidence]`: grounded rules that score candidates beside the embeddings, and explain them."""

    use: bool = False
    """Whether evidence is a term of the score."""
    epochs: int = Field(default=6, ge=1, le=MOST_EPOCHS)
    """Epochs after which the weights of the evidence stay as they are: with a softmax of its own (`each`) it has
    learned its rules long before the embeddings have, and would only learn the training facts by heart."""
    families: list[FamilyName] = Field(default=["pair", "object", "active", "affinity", "path"], min_length=1)
    """What supports a candidate: `pair`, events between it and the subject; `object`, events of the same predicate
    that others have with it; `active`, anything that it does with others near that time; `affinity`, partners that it
    shares with the subject; `path`, mined rules over two events. Of the past alone, and made for forecasts, each event
    counting less the older it is: `recurrence`, the same event before; `contact`, any events between the two;
    `popularity`, events of the same predicate that others have with it."""
    background: bool = True
    """Whether facts without a time are evidence, and features of the re-ranker, in a graph that has some."""
    splits: list[Literal["train", "valid", "test"]] = Field(default=["train"], min_length=1)
    """The splits whose facts may be evidence. With `valid`, valid facts support answers on test; by default they
    never do. All three are single-step forecasting: with `past_only` a question sees every event before its time, those
    of test too. Weights and rules are made of train alone, whatever is here."""
    past_only: bool = False
    """Whether only events before the time asked about may be evidence: forecasting."""
    pair_support: int = Field(default=2, ge=1, le=MOST_COUNT)
    """The least number of pairs that a pair rule has met; rarer ones fall back on the weights of their family."""
    path_rules: int = Field(default=20_000, ge=0, le=MOST_COUNT)
    """How many mined path rules have a weight, the most confident first."""
    object_window: int = Field(default=90, ge=0, le=MOST_WINDOW)
    """How many steps around the question `object` looks for the nearest event."""
    active_window: int = Field(default=7, ge=0, le=MOST_WALKED)
    """How many steps around the question `active` looks."""
    path_window: int = Field(default=7, ge=0, le=MOST_WALKED)
    """How many steps around the question both events of a path lie."""
    path_events: int = Field(default=200, ge=1, le=MOST_COUNT)
    """After how many events of an entity, the nearest first, `path` looks no farther."""


class RerankerConfig(Section):
    """`[reranker]`: boosted trees that re-rank the best candidates, fitted on facts unseen by the base model."""

    use: bool = False
    """Whether there is a re-ranker."""
    fit: Literal["fold", "refit", "out-of-fold", "valid"] = "fold"
    """The facts that it is fitted on, which its base model has never trained on. `fold`: one of the `folds` of train,
    which the base model leaves out for good. `refit`: the same fold, scored by a model that leaves it out, after which
    the base model trains on all of train. `out-of-fold`: `fitted_folds` folds, each scored by a model that leaves it
    out, and a base model on all of train. `valid`: the valid facts, which are then no longer unseen; the report says
    so."""
    slots: bool = True
    """Whether an open predicate and an open time have models of their own; without them the base model answers."""
    folds: int = Field(default=10, ge=2, le=100)
    """Into how many folds train is cut."""
    cut: Literal["random", "time"] = "random"
    """How train is cut into folds: `random`, drawn by the seed of the training; `time`, the newest facts first, so that
    the first fold is the end of train."""
    fitted_folds: int = Field(default=0, ge=0, le=100)
    """How many of the folds `out-of-fold` is fitted on; 0 for all. Each costs one more training of the base model."""
    with_valid: bool = False
    """Whether it is fitted again at the end, on the valid facts too. Valid is reported by the one that has not seen it;
    probabilities are calibrated on the second half of valid, by one fitted on the first. The report says so."""
    top: int = Field(default=100, ge=2, le=10_000)
    """How many of the best candidates are re-ranked; the others keep their order behind them."""
    trees: int = Field(default=150, ge=1, le=100_000)
    """Trees of the gradient boosting."""
    leaves: int = Field(default=31, ge=2, le=10_000)
    """Leaves of a tree at the most."""
    learning_rate: float = Field(default=0.1, gt=0.0, le=10.0)
    """How much of each tree is taken."""
    leaf_candidates: int = Field(default=50, ge=1, le=MOST_COUNT)
    """The least number of candidates in a leaf."""
    feature_share: float = Field(default=0.5, gt=0.0, le=1.0)
    """The share of the features that each tree may use."""


class Config(Section):
    """A whole configuration."""

    data: DataConfig = Field(default_factory=DataConfig)
    rules: RulesConfig = Field(default_factory=RulesConfig)
    model: ModelConfig = Field(default_factory=ModelConfig)
    evidence: EvidenceConfig = Field(default_factory=EvidenceConfig)
    penalties: dict[str, Weight] = Field(default_factory=dict)
    training: TrainingConfig = Field(default_factory=TrainingConfig)
    reranker: RerankerConfig = Field(default_factory=RerankerConfig)


def check_section(section: type[SectionType], values: dict[str, Any], place: str, prefix: str = "") -> SectionType:
    """Return the section built from the values; raise `ConfigError` with every wrong key and value, by its full name.

    `place` is what stands before each message, such as `icews14.toml: `; `prefix` what stands before each key.
    """
    try:
        return section.model_validate(values)
    except ValidationError as error:
        raise ConfigError("\n".join(_explain(section, problem, place, prefix) for problem in error.errors())) from None


def read_config(path: Path | str) -> Config:
    """Return the configuration in a TOML file.

    Raise `ConfigError` if it cannot be read, if a key or a value is wrong, or if an earlier version wrote it.
    """
    values = read_toml(Path(path))
    if renamed := with_new_names(values)[1]:
        raise ConfigError(f"{path}: {'; '.join(renamed)}; foretime upgrade {path} rewrites it")
    return check_section(Config, values, f"{path}: ")


def read_toml(path: Path, missing: str = "no such configuration file") -> dict[str, Any]:
    """Return the values in a TOML file; `missing` is what the `ConfigError` says of one that is not there."""
    try:
        text = read_text(path, MOST_CONFIG_BYTES)
    except FileNotFoundError:
        raise ConfigError(f"{path}: {missing}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read as a configuration: {error}") from None
    try:
        return parse_toml(text)
    except ValueError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from None


def parse_toml(text: str) -> dict[str, Any]:
    """Return the values in a TOML text; raise `ValueError` if it is none, also for a number of too many digits."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None


def with_new_names(values: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the values of a configuration under the names of this version, and a note on each that was `RENAMED`."""
    renamed: dict[str, Any] = {}
    notes: list[str] = []
    for section, content in values.items():
        new_section = RENAMED.get(section, section)
        if new_section != section:
            notes.append(f"[{section}] is now called [{new_section}]")
        if not isinstance(content, dict):
            renamed[new_section] = content
            continue
        target = renamed.setdefault(new_section, {})
        for key, value in content.items():
            new_name = RENAMED.get(f"{section}.{key}", f"{new_section}.{key}")
            new_key = new_name.partition(".")[2]
            old_value = value if isinstance(value, str) else ""
            new_value = RENAMED.get(f"{section}.{key}={old_value}", "").partition("=")[2]
            target[new_key] = new_value or value
            if new_key != key:
                notes.append(f"{section}.{key} is now called {new_name}")
            elif new_value:
                notes.append(f"{section}.{key} = {value!r} is now called {new_value!r}")
    return renamed, notes


def config_text(config: Config) -> str:
    """Return the configuration as TOML, every key written out."""
    return tomli_w.dumps(config.model_dump(exclude_none=True))


def override(config: Config, settings: dict[str, Any], place: str = "") -> Config:
    """Return the configuration with some settings replaced; keys are dotted: `training.epochs`."""
    values = config.model_dump(exclude_none=True)
    for key, value in settings.items():
        section, dot, name = key.partition(".")
        if not dot or not name:
            raise ConfigError(f"{place}{key!r} is not a setting; write section.key=value, as in training.epochs=20")
        if key in RENAMED or section in RENAMED:
            new_name = RENAMED.get(key) or f"{RENAMED[section]}.{name}"
            raise ConfigError(f"{place}{key} is now called {new_name}")
        if section not in Config.model_fields:
            raise ConfigError(f"{place}unknown section {section!r}{suggestion(section, Config.model_fields)}")
        values.setdefault(section, {})[name] = value
    return check_section(Config, values, place)


def _explain(section: type[Section], problem: Any, place: str, prefix: str) -> str:
    path = [str(part) for part in problem["loc"]]
    key = prefix + ".".join(path)
    if problem["type"] == "extra_forbidden":
        return f"{place}unknown key {key}{suggestion(path[-1], _known_keys(section, path[:-1]))}"
    if problem["type"] in ("model_type", "dict_type"):
        return f"{place}{key} = {_shown(problem['input'])}: should be a table, [{key}]"
    if problem["type"] == "password":
        return f"{place}{key} {problem['msg']}"
    if problem["type"] == "missing":
        return f"{place}{key} is missing; write it"
    kind, found, rest = problem["msg"].partition(" should ")  # of Input, List, String …
    message = rest if found and " " not in kind else f"be {problem['msg']}"
    return f"{place}{key} = {_shown(problem['input'])}: should {message}"


def _shown(value: Any) -> str:
    """Return a value as a message shows it, cut where it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no integer of thousands of digits
        return "a number of very many digits"
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def _known_keys(section: type[Section], path: list[str]) -> list[str]:
    fields = section.model_fields
    for part in path:
        if part not in fields:
            return []
        inner = fields[part].annotation
        fields = inner.model_fields if isinstance(inner, type) and issubclass(inner, BaseModel) else {}
    return list(fields)
