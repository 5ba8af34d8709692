"""The first Python example of README.md does what README.md says."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np

README = Path(__file__).parents[1] / "README.md"


def example() -> str:
    """The first fenced Python block."""
    return README.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]


def names_in(code: str, slot: str, default: str) -> str:
    """What the example gives for a slot of its question, so that the file of events has it too."""
    found = re.search(rf"\b{slot}=[\"']([^\"']+)[\"']", code)
    return found[1] if found else default


def write_events(path: Path, code: str) -> None:
    subject, predicate = names_in(code, "subject", "Ada"), names_in(code, "predicate", "visits")
    object_, time = names_in(code, "object", "Bea"), names_in(code, "time", "2024-03-01")
    day = np.datetime64(time[:10], "D")
    people = [subject, object_, "Cleo", "Dora"]
    rows = {
        (people[i % 4], (predicate, "praises")[i % 2], people[(i // 4 + i) % 4], str(day + i % 60 - 30)): None
        for i in range(200)
    }
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


def test_the_example_of_the_readme_prints_an_answer(tmp_path: Path):
    code = example()
    write_events(tmp_path / "events.tsv", code)
    (tmp_path / "example.py").write_text(code, encoding="utf-8")
    source = str(Path(__file__).parents[1] / "src")
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {source!r}); exec(open('example.py').read())"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert (tmp_path / "runs" / "first" / "report.json").exists()
