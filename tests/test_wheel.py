"""The wheel installs into an empty environment, and what it installs does the main job there."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(*words: object, cwd: Path) -> str:
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, cwd=cwd, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.install
def test_the_wheel_trains_and_answers_in_an_empty_environment(tmp_path: Path):
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path, ROOT, cwd=tmp_path)
    (wheel,) = tmp_path.glob("foretime-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {
        "foretime",
        wheel.name.removesuffix("-py3-none-any.whl") + ".dist-info",
    }
    run(sys.executable, "-m", "venv", tmp_path / "empty", cwd=tmp_path)
    binary = tmp_path / "empty" / "bin"
    run(
        binary / "python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--constraint",
        ROOT / "constraints.txt",
        wheel,
        cwd=tmp_path,
    )
    printed = run(binary / "foretime", "demo", "--events", 2000, cwd=tmp_path)
    assert "why the first of them" in printed
    script = "import foretime as ft; run = ft.open_run('demo/run'); print(run.metrics); assert len(run.metrics)"
    assert "mrr" in run(binary / "python", "-c", script, cwd=tmp_path).lower()
