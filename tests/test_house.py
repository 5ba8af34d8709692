"""The house stands as it was planned: who may import whom, and what nobody does."""

import ast
import importlib
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import foretime

SOURCE = Path(foretime.__file__).parent
LAYERS = [
    ("errors", "files"),
    ("tables",),
    ("config",),
    ("data",),
    ("rules",),
    ("models",),
    ("evidence",),
    ("evaluation",),
    ("reranker",),
    ("training",),
    ("runs",),
    ("inference",),
    ("experiments",),
    ("service",),
    ("cli",),
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
FILES = sorted(SOURCE.rglob("*.py"))
FORBIDDEN_NAMES = {"eval", "exec", "compile"}
FORBIDDEN_CALLS = {("torch", "load"), ("torch", "save"), ("numpy", "load"), ("np", "load")}
FORBIDDEN_MODULES = {"pickle", "marshal", "shelve", "dill", "joblib", "cloudpickle"}


def room(path: Path) -> str:
    """The module or package of the house that a file belongs to; `__init__` and `__main__` are its two doors."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(path: Path) -> Iterator[str]:
    """Every module that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            yield node.module or ""
            if node.module == "foretime":
                yield from (f"foretime.{alias.name}" for alias in node.names)


def wrong_imports(own: str, modules: list[str]) -> list[str]:
    """Those of the modules that a file in the room `own` may not import."""
    rooms = [module.split(".")[1] for module in modules if module.startswith("foretime.")]
    return [name for name in rooms if name in LEVEL and name != own and LEVEL[name] >= LEVEL[own]]


def test_every_module_has_its_place_in_the_order():
    assert {room(path) for path in FILES} <= {*LEVEL, "__init__", "__main__"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_left(path: Path):
    modules = list(imported(path))
    if room(path) not in ("__init__", "__main__"):
        assert wrong_imports(room(path), modules) == []


def test_an_import_that_points_right_is_found():
    assert wrong_imports("data", ["numpy", "foretime.errors", "foretime.models.base"]) == ["models"]
    assert wrong_imports("inference", ["foretime.service.app"]) == ["service"]
    assert wrong_imports("models", ["foretime.models.algebra", "foretime.config"]) == []


def calls(path: Path) -> Iterator[ast.expr]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            yield node.func


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nothing_that_a_file_says_is_ever_executed(path: Path):
    assert not {module.split(".")[0] for module in imported(path)} & FORBIDDEN_MODULES
    for called in calls(path):
        assert not (isinstance(called, ast.Name) and called.id in FORBIDDEN_NAMES)
        if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
            assert (called.value.id, called.attr) not in FORBIDDEN_CALLS


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_only_the_command_line_prints(path: Path):
    printing = any(isinstance(called, ast.Name) and called.id == "print" for called in calls(path))
    assert room(path) == "cli" or not printing


def run_python(script: str) -> str:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


WITHOUT_TORCH = """
import importlib, pkgutil, sys

class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("there is no torch here")

sys.meta_path.insert(0, NoTorch())
import foretime.{room} as room
names = [info.name for info in pkgutil.walk_packages(room.__path__, "foretime.{room}.")]
for name in names:
    importlib.import_module(name)
print(len(names))
"""


@pytest.mark.parametrize("room", [room for room in ("data", "rules") if (SOURCE / room / "__init__.py").exists()])
def test_data_and_rules_can_be_imported_where_torch_is_absent(room: str):
    modules = set((SOURCE / room).rglob("*.py")) - {SOURCE / room / "__init__.py"}
    assert run_python(WITHOUT_TORCH.replace("{room}", room)) == str(len(modules))


def test_importing_foretime_loads_no_torch():
    heavy = run_python("import sys, foretime; print(sorted({'torch', 'numpy', 'pyarrow'} & set(sys.modules)))")
    assert heavy == "[]"


def test_explaining_loads_no_numba_before_there_is_a_question():
    assert run_python("import sys, foretime.inference.explainer; print('numba' in sys.modules)") == "False"


@pytest.mark.parametrize("name", foretime.__all__)
def test_every_public_name_can_be_reached_and_is_documented(name: str):
    found = getattr(foretime, name)
    assert inspect.getdoc(found)
    assert name in dir(foretime)
    if inspect.isclass(found):
        methods = {key: value for key, value in vars(found).items() if not key.startswith("_") and callable(value)}
        assert [key for key, value in methods.items() if not inspect.getdoc(value)] == []


def test_a_name_that_is_not_public_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'foretime' has no attribute 'lod'"):
        foretime.lod  # noqa: B018


def test_every_module_says_what_it_is():
    names = [".".join(("foretime", *path.relative_to(SOURCE).with_suffix("").parts)) for path in FILES]
    modules = [importlib.import_module(name.removesuffix(".__init__")) for name in names if "__main__" not in name]
    assert [module.__name__ for module in modules if not module.__doc__] == []
