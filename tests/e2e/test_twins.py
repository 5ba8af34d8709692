"""Links: between the parts of a view, to the same as JSON, and to what the API is."""

from pathlib import Path
from typing import Any

from explorer_service import Explorer, served


def test_parts_of_browse_keep_what_each_can_be_asked(explorer: Explorer, run: str, fact: dict[str, str]) -> None:
    page = explorer.open(f"/runs/{run}/facts", entity=fact["subject"], role="any", order="latest", limit="5")
    for name in ("Timeline", "Neighbours", "Facts", "Neighbours", "Timeline"):
        page.locator(".tabs").get_by_role("link", name=name).click()
        page.wait_for_url(f"**/{name.lower()}?**")
        explorer.settle()
        assert page.locator(".tabs [aria-current]").inner_text() == name
        assert page.get_by_role("alert").count() == 0
        assert explorer.twin()["total"] > 0
        assert f"entity={fact['subject'].split()[0]}" in page.url
    page.locator(".histogram a").first.click()
    page.wait_for_selector(".facts li")


def test_twin_of_groundings_is_what_is_shown(explorer: Explorer, run: str) -> None:
    page = explorer.open(f"/runs/{run}/rules", sort="support")
    assert "counted on the facts of train" in page.locator("main").inner_text()
    rule = page.locator(".rule").first
    rule.locator("summary").first.click()
    page.wait_for_selector(".groundings > li")
    assert rule.locator(".json").get_attribute("href").endswith("groundings?limit=5")
    rule.get_by_label("Show").select_option("misses")
    page.wait_for_selector(".groundings > li >> text=nothing of the kind")
    assert rule.locator(".json").get_attribute("href").endswith("groundings?limit=5&misses=true")


def test_open_slot_is_the_one_that_is_marked(explorer: Explorer, run: str, fact: dict[str, str]) -> None:
    asked = {name: value for name, value in fact.items() if name != "subject"}
    page = explorer.open(f"/runs/{run}/explain", **asked)
    assert page.locator("h1 .answer-slot").all_inner_texts() == [explorer.twin()["answer"]]
    page = explorer.open(f"/runs/{run}/explain", **fact, slot="time")
    assert page.locator("h1 .when .answer-slot").count() == 1


def test_comparison_names_both_runs_in_its_address(explorer: Explorer, run: str, fact: dict[str, str]) -> None:
    explorer.alter(
        "/runs", lambda found: found | {"runs": [one | {"name": n} for one in found["runs"] for n in (run, "b")]}
    )
    asked = {name: value for name, value in fact.items() if name != "object"}
    page = explorer.open(f"/runs/{run}/complete", **asked, top="5", already_known="hide")
    href = page.get_by_role("link", name="Ask another run too").get_attribute("href")
    assert "top=5" in href
    assert "already_known=hide" in href
    explorer.page.route("**/api/v1/compare*", lambda route: route.abort())
    page = explorer.open("/compare", **asked, top="5", left=run)
    page.wait_for_url("**right=b**")
    assert "top=5" in page.url


def test_service_documents_what_it_can_be_asked(explorer: Explorer, run: str) -> None:
    page = explorer.open(f"/runs/{run}")
    page.locator(".bar").get_by_role("link", name="API").click()
    page.wait_for_url("**/api/v1/docs")
    assert "/api/v1/runs/{run}/complete" in page.locator("body").inner_text()


def test_token_is_asked_for_and_opens_twins(browser: Any, evidence_run: Path) -> None:
    token = "a-token-of-enough-letters"
    with served(evidence_run, FORETIME_TOKEN=token) as url:
        page = browser.new_page()
        page.goto(f"{url}/runs/{evidence_run.name}/report")
        page.get_by_label("Ask whoever started it").fill(token)
        page.get_by_role("button", name="Continue").click()
        page.wait_for_selector(".curve", timeout=20_000)
        with page.expect_popup() as opened:
            page.locator(".view-head .json").click()
        opened.value.wait_for_url("blob:**")
        assert f'"name":"{evidence_run.name}"' in opened.value.locator("body").inner_text()
        page.context.close()
