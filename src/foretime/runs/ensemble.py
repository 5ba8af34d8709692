"""The first stage of a run: one model, or the mean of several that differ by their seed.

What one seed has learned by chance another one has not, and their mean has less of it. Evidence has hardly any chance
in it and is learned once, by the first.
"""

from __future__ import annotations

from foretime.config import Config
from foretime.data.graph import Graph
from foretime.errors import RunError
from foretime.evidence.module import WithEvidence
from foretime.models import Ensemble, Model
from foretime.rules.table import Rules
from foretime.runs.folder import RunFolder
from foretime.training.settings import evidence_penalties
from foretime.training.trainer import load_weights, new_model

SEEDS_APART = 1000
"""How far the seeds of two members lie apart: runs whose seeds are neighbours have no member in common."""


def load_base_model(run: RunFolder, config: Config, graph: Graph, rules: Rules | None) -> Model:
    """Return the model with the best weights of each of its members, or the last ones if valid has not been ranked."""
    members = members_of(run, config)
    missing = [member.path.name for member in members[1:] if not member.last_file.exists()]
    if missing and run.last_file.exists():
        remedy = (
            f"put it back, or remove {run.report_file.name} and train it anew with foretime train --resume {run.path}"
            if run.report_file.exists()
            else f"go on with foretime train --resume {run.path}"
        )
        raise RunError(f"{run.path}: there is nothing in {missing[0]}, one of its {len(members)} members; {remedy}")
    first, *others = (
        load_weights(member, new_model(member_config(config, number), graph, rules))
        for number, member in enumerate(members)
    )
    if not others:
        return first
    if not isinstance(first, WithEvidence):
        return Ensemble([first, *others]).eval()
    first.base = Ensemble([first.base, *others])
    return first.eval()


def members_of(run: RunFolder, config: Config) -> list[RunFolder]:
    """Return the folders of all members: the run's own, and those within it."""
    return [run, *(run.member(number) for number in range(1, config.training.ensemble_size))]


def member_config(config: Config, number: int) -> Config:
    """Return the configuration of a member: the first has the run's own, the others another seed and no evidence."""
    if number == 0:
        return config
    without = evidence_penalties(config)
    return config.model_copy(
        update={
            "evidence": config.evidence.model_copy(update={"use": False}),
            "penalties": {name: weight for name, weight in config.penalties.items() if name not in without},
            "training": config.training.model_copy(update={"seed": config.training.seed + SEEDS_APART * number}),
        }
    )
