"""Every script of the benchmarks can be run: what it imports is there, and it says what it does."""

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in sorted((ROOT / "benchmarks").rglob("*.py"))
]


@pytest.mark.parametrize("name", MODULES)
def test_a_script_imports_only_names_that_exist(name: str):
    if name.startswith("benchmarks.fuzz."):
        pytest.importorskip("atheris", reason="make check-fuzz installs it")
    module = importlib.import_module(name.removesuffix(".__init__"))
    assert module.__doc__
    if hasattr(module, "main"):
        words = {f"python -m {name.removesuffix('.__main__')} ", "make check-fuzz "}
        assert any(one in f"{module.__doc__} ".replace("\n", " \n") for one in words)
