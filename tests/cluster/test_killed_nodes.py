"""Work on a Ray cluster of this machine whose nodes are killed: it ends as on one machine."""

from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("ray") is None:  # it is not imported yet: first it has to be told to stay on 127.0.0.1
    pytest.skip("needs pip install 'foretime[cluster]'", allow_module_level=True)

from benchmarks.cluster import bench, questions, train

pytestmark = pytest.mark.cluster


def test_an_out_of_fold_training_ends_as_on_one_machine_whatever_is_killed(tmp_path: Path):
    found = train(tmp_path, kills=2, events=2_000)
    assert (found["kills"], found["different"]) == (2, [])
    assert found["compared"] > 10


def test_a_list_ends_as_on_one_machine_whatever_is_killed(tmp_path: Path):
    found = bench(tmp_path, seeds=4, kills=2)
    assert (found["kills"], found["different"]) == (2, [])


@pytest.mark.filterwarnings("ignore:answering part:UserWarning")
def test_a_file_of_questions_is_answered_as_by_one_process_whatever_is_killed(tmp_path: Path):
    found = questions(tmp_path, kills=1, count=20_000)
    assert (found["kills"], found["different"]) == (1, [])
