"""The example notebook runs from its first cell to its last, and shows what it makes."""

import ast
import json
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[1] / "docs" / "notebook.ipynb"


def test_every_cell_runs_and_its_last_value_shows_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    names: dict[str, object] = {}
    shown = []
    for source in ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"):
        *statements, last = ast.parse(source).body
        exec(compile(ast.Module(statements, []), "cell", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # every cell ends with a value
        shown.append(value._repr_html_())
    assert len(shown) == 7
    assert all("<table" in html or "<h" in html for html in shown)
    assert "world" in shown[0]
    assert "MRR" in shown[2]
