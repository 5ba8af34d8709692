"""Temporal knowledge graphs: reading, checking, splitting and storing them. Nothing here needs torch."""

from foretime.data.facts import UNKNOWN, Events, Facts, inverse
from foretime.data.graph import Graph, load, read_graph
from foretime.data.summary import Summary
from foretime.data.timeline import Timeline
from foretime.data.vocabulary import Vocabulary

__all__ = ["UNKNOWN", "Events", "Facts", "Graph", "Summary", "Timeline", "Vocabulary", "inverse", "load", "read_graph"]
