"""What a checkpoint was trained as: its job, the graph and the rules of its run, and the settings that it depends on.

Every checkpoint says so, and one that says anything else than its folder and its run do is refused: weights of another
member, of another fold or of another run would fit, and settings that were changed on the way would go unseen.
"""

from __future__ import annotations

from pathlib import Path

from foretime.config import Config
from foretime.data.graph import Graph
from foretime.errors import RunError
from foretime.files import sha256_of
from foretime.runs.folder import RunFolder
from foretime.training.checkpoint import Origin, Progress, read_checkpoint

SECTIONS = ("model", "training", "penalties", "evidence", "reranker")
"""Those of the configuration that count. What was read and mined stands in the folder, and is compared itself."""
FREE = ("training.epochs", "training.threads", "training.device", "training.checkpoint_seconds")
"""Settings that may change on the way: a run is given more epochs, goes on elsewhere, or shares the threads."""
SHOWN = 40
"""Characters of a value that a message shows."""


def origin_of(run: RunFolder, config: Config, graph: Graph, fold: int | None, member: int) -> Origin:
    """Return what the checkpoints of a job of a run are trained as."""
    values = config.model_dump(mode="json", exclude_none=True)
    settings = {f"{section}.{key}": value for section in SECTIONS for key, value in values[section].items()}
    found = {key: str(value) for key, value in settings.items() if key not in FREE}
    found["the graph"] = graph.fingerprint()
    found["the rules"] = sha256_of(run.rules_file) if run.rules_file.exists() else "none"
    return found | {"the fold": str(fold), "the member": str(member)}


def check_origin(run: RunFolder, folder: RunFolder, origin: Origin) -> None:
    """Raise `RunError` if a checkpoint in the folder of a job is damaged, of another training, or of another epoch."""
    last, best = (_checked(run, file, origin) for file in (folder.last_file, folder.best_file))
    if best is not None and (best.epoch != best.best_epoch or (last is not None and best.epoch < last.best_epoch)):
        raise RunError(
            f"{folder.best_file}: has the weights of another epoch than the best; restore the file, or train again in "
            "another folder"
        )


def _checked(run: RunFolder, file: Path, origin: Origin) -> Progress | None:
    """Return the progress of a checkpoint, if there is one."""
    if not file.exists():
        return None
    _, progress = read_checkpoint(file)
    for what, value in progress.origin.items():
        if origin.get(what, value) != value:  # what only one of them has is of another version
            raise RunError(
                f"{file}: was trained with {what} {_short(value)}, and its run has {_short(origin[what])}; restore it, "
                f"or {run.config_file.name}, as it was, or train again in another folder"
            )
    return progress


def _short(value: str) -> str:
    return value if len(value) <= SHOWN else f"{value[:SHOWN]}…"
