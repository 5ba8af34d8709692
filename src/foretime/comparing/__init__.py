"""Two runs asked the same questions: which is better, by how much, how surely, and where."""

from foretime.comparing.asked import Asked, write_asked
from foretime.comparing.comparison import Comparison, Difference, Group, compare
from foretime.comparing.ranked import RankedRun, rank_both, rank_run

__all__ = [
    "Asked",
    "Comparison",
    "Difference",
    "Group",
    "RankedRun",
    "compare",
    "rank_both",
    "rank_run",
    "write_asked",
]
