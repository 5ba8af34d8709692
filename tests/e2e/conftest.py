"""The page of a real service in a real Chromium: `make check-page`."""

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from explorer_service import CHROMIUM, Explorer, chromium, served

SIZES = {"desktop": (1280, 800), "tablet": (820, 1100), "phone": (360, 780)}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


def _missing() -> str | None:
    if importlib.util.find_spec("playwright") is None:
        return "playwright is not installed: pip install playwright"
    if importlib.util.find_spec("fastapi") is None:
        return "the service is not installed: pip install 'foretime[serve]'"
    if CHROMIUM is None:
        return "no Chromium was found: apt-get install chromium, or name it in FORETIME_CHROMIUM"
    return None


@pytest.fixture(scope="session")
def service(evidence_run: Path) -> Iterator[str]:
    with served(evidence_run) as url:
        yield url


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    missing = _missing()
    if missing:
        pytest.fail(missing, pytrace=False)
    with chromium() as running:
        yield running


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder for screenshots: that of FORETIME_SCREENSHOTS, else a temporary one."""
    named = os.environ.get("FORETIME_SCREENSHOTS")
    folder = Path(named) if named else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def explorer(request: pytest.FixtureRequest, browser: Any, service: str, pictures: Path) -> Iterator[Explorer]:
    """A tab of the size and the colours that a test is parametrised with, on a desktop in light ones otherwise."""
    size, colours = getattr(request, "param", ("desktop", "light"))
    width, height = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=colours)
    found = Explorer(context.new_page(), service, pictures)
    yield found
    context.close()
    assert found.complaints == []
    assert found.elsewhere == []


@pytest.fixture(scope="session")
def run(evidence_run: Path) -> str:
    """The name of the run that is served."""
    return evidence_run.name


@pytest.fixture
def fact(explorer: Explorer, run: str) -> dict[str, str]:
    """A fact of the run that it has not been trained on."""
    return {name: value for name, value in explorer.json(f"/runs/{run}")["example"].items() if value}
