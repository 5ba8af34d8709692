"""The weights of an earlier model put into a new one, name by name."""

from __future__ import annotations

from foretime.config import Config
from foretime.data.matching import EarlierIds
from foretime.errors import ConfigError
from foretime.evidence.carrying import PredicateMap, carry_weights
from foretime.evidence.module import WithEvidence
from foretime.models import Model
from foretime.models.matching import carry_tables, row_axes


def take_weights(model: Model, before: Model, config: Config, ids: EarlierIds) -> None:
    """Put the weights of an earlier model into a new one; what is new keeps its initial weights.

    Raise `ConfigError` if the tables of the two have other widths.
    """
    if isinstance(model, WithEvidence) and isinstance(before, WithEvidence):
        map_ = PredicateMap(ids.predicates, ids.predicates_before // 2)
        weights = carry_weights(before.evidence.index, before.evidence.weights, map_, model.evidence.index)
        model.evidence.weights.data.copy_(weights)
    own, earlier = (one.base if isinstance(one, WithEvidence) else one for one in (model, before))
    try:
        own.load_state_dict(carry_tables(own.state_dict(), earlier.state_dict(), row_axes(config.model), ids))
    except (KeyError, RuntimeError) as error:
        raise ConfigError(f"the weights do not fit the options of [model] ({error}); leave them as they were") from None
