"""A generated world of states, people and groups, with temporal rules of known confidence planted in it.

The world is invented by a seed, so nothing has to be downloaded, and its rules are known, so a miner can be checked.
"""

from foretime.data.synthetic.schema import PlantedRule
from foretime.data.synthetic.world import World, generate_world

__all__ = ["PlantedRule", "World", "generate_world"]
