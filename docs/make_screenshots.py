"""Makes the screenshots of the README: the answers to a question, and why the first of them.

    python docs/make_screenshots.py runs/icews14-lcge-evidence-oof \
        --subject "Barack Obama" --predicate "Make a visit" --time 2014-11-10

serves the run, opens the page in Chromium, and writes docs/explorer-answers.png and docs/explorer-why.png. Without a
question, that which the run itself offers is asked. Without a run, a small one is trained on the built-in world first.
It needs `foretime[serve]`, `playwright` and Chromium, as the tests in tests/e2e do.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent / "tests" / "e2e"))

from explorer_service import Explorer, chromium, served  # noqa: E402

SLOTS = ("subject", "predicate", "time")
SETTINGS = {
    "model.rank": 20,
    "training.epochs": 4,
    "training.batch_size": 500,
    "training.valid_every": 2,
    "training.softmax": "joint",
    "evidence.use": True,
}
EVENTS = 5_000
WIDTH, ANSWERS_HEIGHT, WHY_HEIGHT = 1200, 860, 1500


def main() -> None:
    """Take the screenshots that the command line asks for."""
    parser = argparse.ArgumentParser(description="Makes the screenshots of the README.")
    parser.add_argument(
        "run", type=Path, nargs="?", help="a run with evidence; a small one is trained if none is named"
    )
    for slot in SLOTS:
        parser.add_argument(f"--{slot}")
    parser.add_argument("--out", type=Path, default=DOCS, help="the folder of the pictures")
    given = parser.parse_args()
    question = {slot: getattr(given, slot) for slot in SLOTS if getattr(given, slot)}
    with tempfile.TemporaryDirectory() as folder:
        take(given.run or trained(Path(folder)), question, given.out)


def trained(folder: Path) -> Path:
    """Return a small run with evidence on the built-in world."""
    from foretime.config import Config, override
    from foretime.data.graph import read_graph
    from foretime.data.synthetic import generate_world
    from foretime.runs.life import train

    world = generate_world(EVENTS).write(folder / "world")
    return train(read_graph(world), override(Config(), SETTINGS), folder / "run").path


def take(run: Path, question: dict[str, str], out: Path) -> None:
    """Write the pictures of a question's answers, and of why the first one."""
    with served(run) as url, chromium() as browser:
        page = browser.new_page(viewport={"width": WIDTH, "height": ANSWERS_HEIGHT})
        explorer = Explorer(page, url, out)
        if not question:
            question = {slot: explorer.json(f"/runs/{run.name}")["example"][slot] for slot in SLOTS}
        explorer.open(f"/runs/{run.name}/complete", **question)
        page.screenshot(path=str(out / "explorer-answers.png"))
        page.locator(".answer").first.click()
        page.wait_for_selector(".reason")
        explorer.settle()
        page.set_viewport_size({"width": WIDTH, "height": WHY_HEIGHT})
        page.screenshot(path=str(out / "explorer-why.png"))


if __name__ == "__main__":
    main()
