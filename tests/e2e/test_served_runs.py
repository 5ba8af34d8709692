"""What the page makes of runs that come, change, or were fitted on the facts that they are judged by."""

from typing import Any

import pytest
from explorer_service import Explorer

NOT_READY = {"error": {"code": "not_ready", "message": "the runs are being loaded; ask again", "fields": []}}


@pytest.fixture
def fitted(explorer: Explorer, run: str) -> dict[str, Any]:
    """The figures on valid, as if a second stage had been fitted on it; there are two such runs."""
    valid = explorer.json(f"/runs/{run}")["report"]["valid"]
    first = {"all": valid["all"] | {"mrr": 0.1234}, "mrr_interval": [0.111, 0.133], "kinds": {}}
    told = valid | {"all": valid["all"] | {"mrr": 0.9876}, "base_model": first}
    changes = {"valid_fitted": True, "reranker": True, "valid_mrr": 0.9876}
    explorer.alter(
        "/runs",
        lambda runs: runs | {"runs": [one | changes | {"name": n} for one in runs["runs"] for n in (run, "two")]},
    )
    explorer.alter(f"/runs/{run}/report", lambda found: found | {"report": found["report"] | {"valid": told}})
    return told


def test_figures_of_facts_that_were_fitted_on_are_on_no_card(explorer: Explorer, fitted: Any, run: str) -> None:
    page = explorer.open("/")
    assert "MRR on test" in page.locator(".run-card").first.inner_text()
    assert "MRR on valid" not in page.locator("main").inner_text()
    assert "fitted on valid" in page.locator(".run-card").first.inner_text()
    explorer.picture("runs-fitted")
    page.locator(".run-card").first.click()
    page.wait_for_selector(".tiles")
    assert "0.988" not in page.locator("main").inner_text()


def test_report_says_what_was_fitted_on_valid(explorer: Explorer, fitted: Any, run: str) -> None:
    page = explorer.open(f"/runs/{run}/report")
    told = page.locator(".card", has_text="these are not unseen facts").inner_text()
    assert "0.1234" in told
    assert "0.111 and 0.133" in told
    low, high = (f"{end:.3f}" for end in fitted["mrr_interval"])
    assert f"{low} and {high}" not in told
    assert "valid (fitted on it)" in page.get_by_label("Split").inner_text()
    assert page.get_by_text("calibration error of objects, fitted on it").count() == 1
    explorer.picture("report-fitted")


def test_starting_service_is_waited_for(explorer: Explorer, run: str) -> None:
    page = explorer.page
    page.route("**/api/v1/runs", lambda route: route.fulfill(status=503, headers={"Retry-After": "1"}, json=NOT_READY))
    explorer.open("/")
    assert "The service is starting" in page.locator("main").inner_text()
    page.unroute("**/api/v1/runs")
    page.wait_for_url(f"**/runs/{run}")


def test_first_run_appears_by_itself(explorer: Explorer, run: str) -> None:
    page = explorer.page
    page.route("**/api/v1/runs", lambda route: route.fulfill(json={"runs": [], "problems": []}))
    explorer.open("/")
    assert "No run is there yet" in page.locator("main").inner_text()
    page.unroute("**/api/v1/runs")
    page.wait_for_url(f"**/runs/{run}")


def test_what_a_run_said_is_kept_until_it_is_loaded_anew(explorer: Explorer, run: str) -> None:
    asked: list[str] = []
    explorer.page.on("request", lambda request: asked.append(request.url.partition("/api/v1")[2]))
    explorer.alter_run(loaded="1")
    page = explorer.open(f"/runs/{run}/report")

    def go_away_and_back() -> None:
        for name, title in (("Rules", "Rules"), ("Report", f"Report of {run}")):
            page.locator("#places").get_by_role("link", name=name).click()
            page.get_by_role("heading", name=title, exact=True).wait_for()
            explorer.settle()

    go_away_and_back()
    assert asked.count(f"/runs/{run}/report") == 1
    page.unroute("**/api/v1/runs")
    explorer.alter_run(loaded="2")
    go_away_and_back()
    assert asked.count(f"/runs/{run}/report") == 2


def test_late_view_does_not_replace_the_one_gone_to_since(explorer: Explorer, run: str) -> None:
    page = explorer.open(f"/runs/{run}")
    held: list[Any] = []
    page.route("**/api/v1/runs", lambda route: held.append(route), times=1)
    page.locator("#places").get_by_role("link", name="Report").click()
    page.wait_for_selector("main > .skeleton")
    page.locator("#places").get_by_role("link", name="Rules").click()
    page.get_by_role("heading", name="Rules", exact=True).wait_for()
    for route in held:
        route.abort()
    page.wait_for_timeout(400)
    assert page.locator("h1").all_inner_texts() == ["Rules"]
    assert page.get_by_role("alert").count() == 0


def test_address_that_escapes_nothing_names_no_run(explorer: Explorer) -> None:
    page = explorer.open("/runs/%E0%A4%A")
    assert "no run" in page.get_by_role("alert").inner_text()
