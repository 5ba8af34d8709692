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
    module = importlib.import_module(name.removesuffix(".__init__"))
    assert module.__doc__
    if hasattr(module, "main"):
        assert f"python -m {name.removesuffix('.__main__')} " in f"{module.__doc__} ".replace("\n", " \n")
