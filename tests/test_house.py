"""The house stands as it was planned: who may import whom, and what nobody does."""

import ast
import importlib
import inspect
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import foretime

SOURCE = Path(foretime.__file__).parent
ROOMS = [
    ("errors", "files", "kernels"),
    ("tables",),
    ("config",),
    ("devices",),
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
LEVEL = {name: level for level, names in enumerate(ROOMS) for name in names}
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCE.rglob("*.py"))}
FORBIDDEN_NAMES = {"eval", "exec", "compile"}
FORBIDDEN_CALLS = {("torch", "load"), ("torch", "save"), ("numpy", "load"), ("np", "load")}
FORBIDDEN_MODULES = {"pickle", "marshal", "shelve", "dill", "joblib", "cloudpickle"}
NOT_EVERYWHERE = {"resource", "fcntl", "uvloop"}
"""Modules that some systems lack: they are imported where they are used, and only there."""


def room(path: Path) -> str:
    """The module or package of the house that a file belongs to; `__init__` and `__main__` are its two doors."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(tree: ast.AST) -> Iterator[str]:
    """Every module that a file imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a relative import"
            yield node.module or ""
            if node.module == "foretime":
                yield from (f"foretime.{alias.name}" for alias in node.names)


def wrong_imports(own: str, modules: list[str]) -> list[str]:
    """Those of the modules that a file in the room `own` may not import."""
    rooms = [module.split(".")[1] for module in modules if module.startswith("foretime.")]
    if own == "cli":  # it speaks to the public interface, and to nothing behind it
        return [name for name in rooms if name in LEVEL and name != "cli"]
    return [name for name in rooms if name in LEVEL and name != own and LEVEL[name] >= LEVEL[own]]


def test_every_file_is_in_a_room_and_imports_point_down_the_list():
    found = {
        path: wrong_imports(room(path), list(imported(tree))) for path, tree in TREES.items() if room(path) in LEVEL
    }
    assert {path: names for path, names in found.items() if names} == {}
    assert {room(path) for path in TREES} == {*LEVEL, "__init__", "__main__"}


def test_a_wrong_import_is_found():
    assert wrong_imports("data", ["numpy", "foretime.errors", "foretime.models.base"]) == ["models"]
    assert wrong_imports("inference", ["foretime.service.app"]) == ["service"]
    assert wrong_imports("models", ["foretime.models.algebra", "foretime.config"]) == []
    assert wrong_imports("cli", ["foretime", "foretime.cli.output", "foretime.errors"]) == ["errors"]


def test_nothing_that_a_file_says_is_ever_executed_and_only_the_command_line_prints():
    for path, tree in TREES.items():
        assert not {module.split(".")[0] for module in imported(tree)} & FORBIDDEN_MODULES, path
        for called in (node.func for node in ast.walk(tree) if isinstance(node, ast.Call)):
            if isinstance(called, ast.Name):
                assert called.id not in FORBIDDEN_NAMES, path
                assert called.id != "print" or room(path) == "cli", path
            elif isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
                assert (called.value.id, called.attr) not in FORBIDDEN_CALLS, path


def test_tensors_change_their_device_in_one_module():
    moved = {"cpu", "cuda", "pin_memory"}
    for path, tree in TREES.items():
        called = {
            node.func.attr for node in ast.walk(tree) if isinstance(node, ast.Call) and hasattr(node.func, "attr")
        }
        assert not called & moved or room(path) == "devices", path


def test_every_class_has_a_name_of_its_own_every_module_says_what_it_is_and_imports_what_every_system_has():
    names = Counter(node.name for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert [name for name, count in names.items() if count > 1] == []
    for path, tree in TREES.items():
        assert ast.get_docstring(tree) or path.name == "__main__.py", path
        top = ast.Module([node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)], [])
        assert not {module.split(".")[0] for module in imported(top)} & NOT_EVERYWHERE, path


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


@pytest.mark.parametrize("room", ["data", "rules"])
def test_data_and_rules_need_no_torch(room: str):
    modules = set((SOURCE / room).rglob("*.py")) - {SOURCE / room / "__init__.py"}
    assert run_python(WITHOUT_TORCH.replace("{room}", room)) == str(len(modules))


def test_importing_foretime_loads_nothing_heavy_and_shows_the_public_names_alone():
    script = "import sys, foretime; print(sorted({'torch', 'numpy', 'pyarrow'} & set(sys.modules)), dir(foretime))"
    assert run_python(script) == f"[] {sorted([*foretime.__all__, '__version__'])}"


def test_explaining_loads_no_numba_before_there_is_a_question():
    assert run_python("import sys, foretime.inference.explainer; print('numba' in sys.modules)") == "False"


def test_every_public_name_can_be_reached_and_is_documented():
    for name in foretime.__all__:
        found = getattr(foretime, name)
        if callable(found):
            assert inspect.getdoc(found), name
        if inspect.isclass(found):
            methods = {key: value for key, value in vars(found).items() if not key.startswith("_") and callable(value)}
            assert [key for key, value in methods.items() if not inspect.getdoc(value)] == [], name
    with pytest.raises(AttributeError, match="module 'foretime' has no attribute 'lod'"):
        foretime.lod  # noqa: B018


def test_every_type_in_a_public_signature_is_public():
    """What a public function takes or returns can be named by its caller."""
    for name in foretime.__all__:
        found = getattr(foretime, name)
        members = vars(found).items() if inspect.isclass(found) else [(name, found)]
        for function in (member for key, member in members if inspect.isfunction(member) and not key.startswith("_")):
            home = vars(inspect.getmodule(function))
            used = {word for text in function.__annotations__.values() for word in names_in(str(text))}
            assert {word for word in used if is_ours(home.get(word))} <= set(foretime.__all__), function.__qualname__


def names_in(annotation: str) -> Iterator[str]:
    yield from (node.id for node in ast.walk(ast.parse(annotation, mode="eval")) if isinstance(node, ast.Name))


def is_ours(found: object) -> bool:
    """Whether something is a class of this package."""
    return inspect.isclass(found) and found.__module__.startswith("foretime")


def test_every_module_can_be_imported():
    paths = [path for path in TREES if path.name not in ("__main__.py", "worker.py")]
    names = [".".join(("foretime", *path.relative_to(SOURCE).with_suffix("").parts)) for path in paths]
    modules = [importlib.import_module(name.removesuffix(".__init__")) for name in names]
    assert [Path(module.__file__ or "") for module in modules] == paths
