"""The rules that a training begins with: none, those of a file, or those mined from the graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from foretime.config import Config
from foretime.data.graph import Graph
from foretime.errors import ConfigError
from foretime.models import model_class
from foretime.rules.files import read_rules
from foretime.rules.rule import STATIC
from foretime.rules.table import Rules
from foretime.training.callbacks import Callback

RULES_OF_A_FILE = "the rules were read from a file, and what they were mined from is not known"
"""What is reported wherever such rules may have seen the facts that are asked about."""


def rules_for(config: Config, graph: Graph, callback: Callback) -> Rules | None:
    """Return the rules that guide the configured model or that its evidence has paths of, if there is either."""
    grounded = config.evidence.use and "path" in config.evidence.families and config.evidence.path_rules > 0
    if not wants_rules(config) and not grounded:
        if config.rules.file:
            raise ConfigError(
                f"rules.file = {config.rules.file!r} would not be used: choose a model that takes rules, such as lcge, "
                "and give its rules a weight in [penalties], as in event_rules = 1.0"
            )
        return None
    if "test" in config.rules.splits:
        raise ConfigError("rules.splits has test: rules that guide a model must not have seen the test facts")
    from foretime.rules.mining import mine_rules

    callback.announce(f"reading rules from {config.rules.file}" if config.rules.file else "mining temporal rules")
    rules = _from_file(config, graph) if config.rules.file else mine_rules(graph, config.rules)
    if len(rules) == 0 and wants_rules(config):
        raise ConfigError(
            "no temporal rule reaches the thresholds: lower rules.confidence or rules.head_coverage, "
            "or set the weight of the rules in [penalties] to 0"
        )
    return rules


def wants_rules(config: Config) -> bool:
    """Return whether the configured model takes rules and their penalty has a weight."""
    weights = [weight for name, weight in config.penalties.items() if name.endswith("rules")]
    return model_class(config.model).takes_rules and any(weights)


def _from_file(config: Config, graph: Graph) -> Rules:
    """Return the rules of a file; those without measures are counted on the graph."""
    from foretime.rules.mining import recount

    rules = read_rules(Path(config.rules.file), graph)
    static = np.flatnonzero(rules.pattern == STATIC)
    if len(static):
        raise ConfigError(
            f"{config.rules.file}: {len(static)} of {len(rules)} rules have no times; only temporal rules guide a "
            "model: write each atom's time, as in p(x, y, t+t1) <= q(x, y, t)"
        )
    blank = np.flatnonzero(rules.body_count == 0)
    return rules.replaced(blank, recount(rules.take(blank), graph, config.rules)) if len(blank) else rules
