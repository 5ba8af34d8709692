"""The documents fit the code and each other: the reference page is the script's, and links lead somewhere."""

import importlib.util
import re
from pathlib import Path

import pytest

from foretime.models import MODELS

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])


def test_the_configuration_page_is_what_the_code_makes():
    spec = importlib.util.spec_from_file_location("make_reference", ROOT / "docs" / "make_reference.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert page == script.reference(), "run: python docs/make_reference.py"


def test_the_example_of_a_model_is_the_file_of_that_model():
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    assert f"```python\n{(ROOT / 'src/foretime/models/distmult.py').read_text(encoding='utf-8')}```" in page
    assert "\n".join(re.findall(r"```python\n(def test_.*?)```", page, re.DOTALL)) in (
        (ROOT / "tests" / "models" / "test_golden.py").read_text(encoding="utf-8")
    )


def test_every_model_has_its_row_and_its_loss_in_the_page_of_models():
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([\w-]+)` \|.*\| `(\w+)` \|$", page, re.MULTILINE))
    assert rows == {name: model.default_loss for name, model in MODELS.items()}, (
        "the table of docs/models.md wants a row for every model, with its loss in the last cell"
    )


def test_every_model_is_told_of_in_the_lists_of_the_pages():
    models, forecasting = (
        (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8") for page in ("models", "forecasting")
    )
    told = set(re.findall(r"^- \*\*(\w+)\*\* \(", models, re.MULTILINE))
    assert told == {model.__name__ for name, model in MODELS.items() if name != "rules"}
    assert set(re.findall(r"\*\*`(\w+)`\*\*", forecasting)) == set(MODELS)


def test_the_readme_has_the_place_that_the_figures_fill():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme.index("<!-- figures:begin -->") < readme.index("<!-- figures:end -->")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_of_the_project_leads_somewhere(page: Path):
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    local = [target for target in targets if "://" not in target]
    assert [target for target in local if not (page.parent / target).exists()] == []
