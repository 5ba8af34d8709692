"""Kernels compile wherever the package lies, also where nothing beside it and no home can be written."""

import ast
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import njit
from numba.core.errors import NumbaError

import foretime
from foretime.kernels import UNCOUNTED

# root may write everywhere, so that what the system would refuse is refused here
SCRIPT = """
import os, sys, tempfile
allowed = tempfile.gettempdir()
may = os.access
os.access = lambda path, mode: str(path).startswith(allowed) and may(path, mode)
{first}
import numba.core.caching as caching
for name in dir(caching):
    kind = getattr(caching, name)
    if isinstance(kind, type) and "ensure_cache_path" in vars(kind):
        def ensure(self, real=kind.ensure_cache_path):
            if not self.get_cache_path().startswith(allowed):
                raise OSError("read-only")
            real(self)
        kind.ensure_cache_path = ensure

from numba import njit
import numpy as np
from foretime.evidence.lookups import lower_bound

@njit
def asked(values):
    return lower_bound(values, 0, 3, 2)

assert asked(np.array([1, 2, 3])) == 1
folder = os.environ["NUMBA_CACHE_DIR"]
kept = any(name.endswith(".nbi") for _, _, names in os.walk(folder) for name in names)
print(folder, oct(os.stat(folder).st_mode & 0o777), kept)
"""


@pytest.mark.parametrize("first", ["import foretime", ""], ids=["numba later", "numba before"])
def test_without_any_usual_folder_kernels_are_kept_in_a_private_one_that_goes(tmp_path: Path, first: str):
    environment = {**os.environ, "HOME": "/nonexistent", "TMPDIR": str(tmp_path)}
    environment = {
        name: value for name, value in environment.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(first=first)], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    folder, mode, kept = done.stdout.split()
    assert Path(folder).parent == tmp_path
    assert (mode, kept) == ("0o700", "True")
    assert not Path(folder).exists()


def test_a_folder_that_is_named_or_can_be_written_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from foretime import kernels

    monkeypatch.setattr(kernels.tempfile, "mkdtemp", lambda **_: pytest.fail("a new folder was made"))
    monkeypatch.setenv(kernels.VARIABLE, str(tmp_path))
    monkeypatch.setattr(kernels, "_may_write", lambda folder: False)
    kernels.provide_cache()
    assert os.environ[kernels.VARIABLE] == str(tmp_path)
    monkeypatch.delenv(kernels.VARIABLE)
    monkeypatch.setattr(kernels, "_may_write", lambda folder: True)
    kernels.provide_cache()
    assert kernels.VARIABLE not in os.environ


def test_a_folder_that_is_not_there_yet_may_be_written_if_the_one_above_may(tmp_path: Path):
    from foretime.kernels import _may_write

    assert _may_write(tmp_path / "a" / "b")
    (tmp_path / "file").write_text("")
    assert not _may_write(tmp_path / "file" / "b")
    if os.geteuid() != 0:
        tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
        assert not _may_write(tmp_path / "a")


def kernels() -> list[tuple[str, ast.FunctionDef]]:
    """Return every function that is compiled without counting references, with the name of its module."""
    found = []
    for file in sorted(Path(foretime.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                marks = {ast.unparse(mark) for mark in node.decorator_list}
                if any(mark == "compiled" or "UNCOUNTED" in mark for mark in marks):
                    found.append((file.stem, node))
    return found


def test_who_counts_no_references_returns_no_array():
    found = kernels()
    assert len(found) > 80
    for module, kernel in found:
        indexed = {ast.unparse(node.value) for node in ast.walk(kernel) if isinstance(node, ast.Subscript)}
        for node in ast.walk(kernel):
            if not isinstance(node, ast.Return) or node.value is None:
                continue
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            for value in values:
                name = f"{module}.{kernel.name}"
                assert ast.unparse(value) not in indexed, f"{name} returns an array"
                assert not (isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice)), name
                made = isinstance(value, ast.Call) and ast.unparse(value.func)[0].isupper()
                assert not made, f"{name} returns a record of arrays"


def test_who_counts_no_references_calls_nobody_who_makes_arrays():
    """Compiled for it first, that one would not count either."""
    files = sorted(Path(foretime.__file__).parent.rglob("*.py"))
    functions = [
        node
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    ]
    making = {one.name for one in functions if "making_arrays" in map(ast.unparse, one.decorator_list)}
    assert {"make_scratch", "make_hits"} <= making
    for module, kernel in kernels():
        called = {ast.unparse(node.func) for node in ast.walk(kernel) if isinstance(node, ast.Call)}
        assert not called & making, f"{module}.{kernel.name}"


def test_who_counts_no_references_cannot_make_an_array():
    @njit(**UNCOUNTED)
    def total(values, place):
        return values[place] + values[1:].sum()

    @njit(**UNCOUNTED)
    def fresh(size):
        return np.zeros(size)[0]

    @njit
    def each(values):
        found = 0.0
        for place in range(len(values)):
            found += total(values, place)
        return found

    assert each(np.arange(4.0)) == 30.0
    assert "NRT_incref" not in total.inspect_llvm(total.signatures[0]).split("define")[1]
    with pytest.raises(NumbaError, match="Only accept returning of array passed into the function"):
        fresh(3)
