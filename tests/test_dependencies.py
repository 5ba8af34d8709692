"""What is depended on: the lock satisfies the ranges of the package, and what we know from the inside has a bound."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCK = (ROOT / "constraints.txt").read_text(encoding="utf-8")
INSIDES = {
    "torch": "the state of its optimisers by name, and the words of an allocation that fails",
    "pyarrow": "the headers of its messages and of Parquet, which are measured before they are unpacked",
    "pydantic": "the fields of its models and their metadata, where bounds are looked up",
    "safetensors": "the header of its files, which is read beside it",
    "numba": "its configuration as a dictionary, where it keeps kernels, and its option not to count references",
    "lightgbm": "the text of its trees, version v4",
    "typer": "the group that runs commands, which is subclassed",
    "orjson": "that it refuses what is nested deeply, and numbers of any length",
    "duckdb": "the words of its errors",
    "adbc-driver-sqlite": "the words of its errors",
    "adbc-driver-postgresql": "the words of its errors, and its address with a timeout",
    "ray": "the variable that keeps it on 127.0.0.1, and that its errors begin with one line about a node",
    "pyoxigraph": "the words of its errors, and its classes of RDF 1.2",
    "fastapi": "the errors that it makes of a request, and its lifespan",
    "starlette": "what it raises when a client has gone",
    "uvicorn": "its protocol, which is subclassed",
    "httptools": "that its parser gives a header only when it is complete",
}
"""The packages of which more than the public interface is relied on, and what: a new version of one is tried first."""


def wanted() -> Iterator[Requirement]:
    every = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    for text in (text for part in every for text in part):
        requirement = Requirement(text)
        if requirement.name != PROJECT["name"] and (requirement.marker is None or requirement.marker.evaluate()):
            yield requirement


def locked() -> dict[str, str]:
    lines = [line for line in LOCK.splitlines() if line and not line.startswith("#")]
    found = dict(line.split("==") for line in lines)
    assert len(found) == len(lines), "a package is there twice"
    return {canonicalize_name(name): version for name, version in found.items()}


@pytest.mark.parametrize("requirement", list(wanted()), ids=str)
def test_the_lock_has_a_version_that_the_package_takes(requirement: Requirement):
    version = locked().get(canonicalize_name(requirement.name))
    assert version is not None, f"make lock: {requirement.name} is not in constraints.txt"
    assert requirement.specifier.contains(version), f"make lock: constraints.txt has {requirement.name} {version}"


def test_the_lock_has_plain_versions_that_any_index_has():
    assert len(locked()) > 60
    for name, version in locked().items():
        assert Version(version).local is None, f"{name} {version} is of one index only"


def test_whatever_is_known_from_the_inside_has_an_upper_bound_and_nothing_else_has():
    bounded: dict[str, set[bool]] = {}
    for requirement in wanted():
        exact = any(one.operator == "==" for one in requirement.specifier)  # the tools that check the code
        if not exact:
            has = any(one.operator == "<" for one in requirement.specifier)
            bounded.setdefault(requirement.name, set()).add(has)
    assert {name for name, has in bounded.items() if has != {False}} == INSIDES.keys()
    assert all(bounded[name] == {True} for name in INSIDES), "bounded in one list and not in another"


@pytest.mark.parametrize("name", INSIDES)
def test_what_is_known_from_the_inside_is_used(name: str):
    module = re.sub("^(adbc)-", r"\1_", name).replace("-", "_")
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    assert any(re.search(rf"\b{module}\b", source) for source in sources)
