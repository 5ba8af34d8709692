"""A generated world of states, people and groups, with temporal rules of known confidence planted in it.

The world is invented by a seed, so nothing has to be downloaded, and its rules are known, so a miner can be checked.
"""

from foretime.data.synthetic.generation import World, generate
from foretime.data.synthetic.schema import Atom, PlantedRule
from foretime.data.synthetic.writing import split, write

__all__ = ["Atom", "PlantedRule", "World", "generate", "split", "write"]
