"""How kernels are compiled, and where numba keeps them: beside the source, in the cache of the user, or a new folder.

Without a folder that it may write numba refuses to compile at all. A cache holds machine code that is loaded as it is,
so that a folder which others may write, such as the temporary one, must not be it.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

UNCOUNTED: Final[dict[str, Any]] = {"_nrt": False}
"""An option of `njit` for a kernel that makes no array and returns none. Numba counts references to each array that a
function is given, once more on every call: atomic operations, which cost many times what a short function does.
"""
COUNTED: Final[dict[str, Any]] = {"_nrt": True}
"""For one that does: without it a kernel is compiled as the first that calls it, and so might not count."""
VARIABLE = "NUMBA_CACHE_DIR"


def provide_cache() -> None:
    """Name a new folder, which only this user may enter, as that of the kernels, if no other could be written.

    It goes when the process ends. Until then the processes that it starts use the kernels too.
    """
    if os.environ.get(VARIABLE) or any(map(_may_write, _usual_folders())):
        return
    try:
        folder = tempfile.mkdtemp(prefix="foretime-kernels-")  # with the mode 700, and a name that was free
    except OSError:
        return  # whoever compiles a kernel will say what is wrong
    os.environ[VARIABLE] = folder
    if "numba" in sys.modules:  # it has read its variables already
        vars(sys.modules["numba"].config)["CACHE_DIR"] = folder
    atexit.register(_remove, Path(folder), os.getpid())


def _usual_folders() -> tuple[Path, Path]:
    """Return the folder of the package, and the one of the user that numba takes where that is read-only."""
    caches = os.environ.get("XDG_CACHE_HOME")
    return Path(__file__).parent / "__pycache__", Path(caches or os.path.expanduser("~/.cache")) / "numba"


def _may_write(folder: Path) -> bool:
    """Return whether a folder may be written, or made."""
    nearest = next((place for place in (folder, *folder.parents) if place.exists()), folder)
    return nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)


def _remove(folder: Path, maker: int) -> None:
    """Remove the folder, unless this is a process that was forked from the one that made it."""
    if os.getpid() == maker:
        shutil.rmtree(folder, ignore_errors=True)
