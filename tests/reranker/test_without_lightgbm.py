"""A run that is asked needs no LightGBM: only fitting does."""

import os
import subprocess
import sys
from pathlib import Path

from reranked_runs import Reranked

SCRIPT = """
import sys

class NoLightGBM:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "lightgbm":
            raise ModuleNotFoundError("there is no LightGBM here")

sys.meta_path.insert(0, NoLightGBM())
from pathlib import Path

import foretime as ft
from foretime.service.settings import Settings
from live_service import Live

run = ft.Run(sys.argv[1])
subject, predicate, object_, time = next(iter(run.graph.rows("test")))
fact = {"subject": subject, "predicate": predicate, "object": object_, "time": time}
asked = {name: {other: fact[other] for other in fact if other != name} for name in fact}
for slot in fact:
    assert len(run.predict(**asked[slot])) > 0
    assert run.explain(**fact, slot=slot).to_text()
with Live([Path(sys.argv[1])], Settings(port=0)) as live:
    for slot in fact:
        assert live.found(f"/runs/{run.path.name}/complete", **asked[slot])
        assert live.found(f"/runs/{run.path.name}/explain", **fact, slot=slot)
print("numba" in sys.modules, "lightgbm" in sys.modules)
"""


def test_predicting_explaining_and_serving_load_no_lightgbm(reranked: dict[str, Reranked]):
    folder: Path = reranked["fold"].run.path
    path = os.pathsep.join([str(Path(__file__).parents[1] / "service"), os.environ.get("PYTHONPATH", "")])
    command, environment = [sys.executable, "-c", SCRIPT, str(folder)], os.environ | {"PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "False"]
