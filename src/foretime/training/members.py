"""The first stage of a run: one model, or the mean of several that differ by their seed.

What one seed has learned by chance another one has not, so their mean is a better model than each of them. Evidence has
hardly any chance in it and is learned once, by the first.
"""

from __future__ import annotations

from foretime.config import Config
from foretime.data.dataset import Dataset
from foretime.data.facts import Facts
from foretime.errors import ConfigError, RunError
from foretime.models import Mean, Model, WithEvidence
from foretime.rules.rule import RuleTable
from foretime.training.listeners import Listener
from foretime.training.runs import RunFolder
from foretime.training.trainer import Trainer, evidence_penalties, load_weights, new_model

SEEDS_APART = 1000
"""How far the seeds of two members lie apart: runs whose seeds are neighbours have no member in common."""


def check_members(config: Config) -> None:
    """Raise `ConfigError` if the configured members cannot be."""
    if config.training.members == 1:
        return
    if config.model.name == "rules":
        raise ConfigError("training.members: rules has no embeddings, so its members would all be the same; leave it 1")
    if config.evidence.use and config.training.softmax == "joint":
        raise ConfigError(
            "training.members: members learn without the evidence, which has its own softmax only under "
            'training.softmax = "each"; choose that, or leave training.members 1'
        )


def train_first_stage(
    run: RunFolder, config: Config, dataset: Dataset, listener: Listener, facts: Facts, rules: RuleTable | None
) -> None:
    """Train every member on the facts, the first in the folder itself and the others in folders of their own."""
    Trainer(run, config, dataset, listener, facts, rules).fit()
    for number in range(1, config.training.members):
        listener.stage(f"member {number + 1} of {config.training.members}")
        member = run.member(number)
        member.path.mkdir(exist_ok=True)
        Trainer(member, member_config(config, number), dataset, listener, facts, rules).fit()


def load_first_stage(run: RunFolder, config: Config, dataset: Dataset, rules: RuleTable | None) -> Model:
    """Return the model with the best weights of each of its members, or the last ones if valid has not been ranked."""
    first = load_weights(run, new_model(config, dataset, rules))
    others = []
    for number in range(1, config.training.members):
        member = run.member(number)
        if not member.last_file.exists():
            raise RunError(
                f"{run.path}: only {number} of its {config.training.members} members are trained; "
                f"go on with foretime train --resume {run.path}"
            )
        others.append(load_weights(member, new_model(member_config(config, number), dataset, rules)))
    if not others:
        return first
    if not isinstance(first, WithEvidence):
        return Mean([first, *others]).eval()
    first.base = Mean([first.base, *others])
    return first.eval()


def member_config(config: Config, number: int) -> Config:
    """Return the configuration of a member but the first: another seed, and no evidence."""
    without = evidence_penalties(config)
    return config.model_copy(
        update={
            "evidence": config.evidence.model_copy(update={"use": False}),
            "penalties": {name: weight for name, weight in config.penalties.items() if name not in without},
            "training": config.training.model_copy(update={"seed": config.training.seed + SEEDS_APART * number}),
        }
    )
