"""What people do on the page: ask, read why, compare, browse; and what happens when something is wrong."""

import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from explorer_service import Explorer, served


def question(fact: dict[str, str], slot: str = "object") -> dict[str, str]:
    return {name: value for name, value in fact.items() if name != slot}


def views(explorer: Explorer, run: str, fact: dict[str, str]) -> dict[str, tuple[str, dict[str, str]]]:
    """Every view of a run by name: its path, and what it is asked."""
    explained, entity = {**fact, "slot": "object"}, {"entity": fact["subject"]}
    answers = explorer.json(f"/runs/{run}/complete", **question(fact), top="2")["answers"]
    competitor = next(answer["name"] for answer in answers if answer["name"] != fact["object"])
    asked = {
        "overview": ("", {}),
        "complete": ("/complete", question(fact)),
        "explain": ("/explain", explained),
        "competitor": ("/explain", {**explained, "competitor": competitor}),
        **{name: (f"/{name}", entity) for name in ("timeline", "neighbours", "facts")},
        "graph": ("/timeline", {}),
        "rules": ("/rules", {}),
        "report": ("/report", {}),
    }
    return {name: (f"/runs/{run}{path}", parameters) for name, (path, parameters) in asked.items()}


def field(page: Any, name: str) -> Any:
    return page.locator(f"input[name={name}]")


def names(page: Any) -> list[str]:
    return [
        text.strip()
        for text in page.locator(".answer .name").evaluate_all("all => all.map(one => one.firstChild.textContent)")
    ]


def test_one_run_is_shown_at_once_with_questions_to_try(explorer: Explorer, run: str) -> None:
    page = explorer.open("/")
    page.wait_for_url(f"**/runs/{run}")
    explorer.settle()
    explorer.picture("overview")
    page.locator(".examples li").first.get_by_text("To whom?").click()
    page.wait_for_selector(".answer")
    assert len(names(page)) == 10


def test_question_is_asked_by_keyboard_alone(explorer: Explorer, run: str, fact: dict[str, str]) -> None:
    page = explorer.open(f"/runs/{run}")
    field(page, "subject").focus()
    page.keyboard.type(fact["subject"][:4])
    page.wait_for_selector("[role=option]")
    assert page.get_by_role("combobox", name="Subject").get_attribute("aria-expanded") == "true"
    while page.locator("[role=option][aria-selected=true] span").all_text_contents() != [fact["subject"]]:
        page.keyboard.press("ArrowDown")
    explorer.picture("autocomplete")
    page.keyboard.press("Enter")
    assert field(page, "subject").input_value() == fact["subject"]
    field(page, "predicate").fill(fact["predicate"])
    field(page, "time").fill(fact["time"])
    field(page, "time").press("Enter")
    page.wait_for_selector(".answer")
    answers = explorer.twin()["answers"]
    assert names(page) == [answer["name"] for answer in answers]
    assert page.locator(".answer .meter").count() == sum(answer["probability"] is not None for answer in answers)
    page.wait_for_function("() => document.querySelector('.first-reason').textContent !== ''")
    first = explorer.json(f"/runs/{run}/explain", **question(fact), object=answers[0]["name"], slot="object")
    said = page.locator(".answer .first-reason").first.inner_text()
    assert said.split(" because ")[0] == first["sentences"][0].split(" because ")[0]
    explorer.picture("answers")


def test_dates_are_limited_to_the_graph(explorer: Explorer, run: str) -> None:
    about = explorer.json("/runs")["runs"][0]
    date = field(explorer.open(f"/runs/{run}"), "time")
    assert (date.get_attribute("min"), date.get_attribute("max")) == (about["first"], about["last"])


def test_too_little_of_a_question_is_said_where_it_is_asked(explorer: Explorer, run: str) -> None:
    page = explorer.open(f"/runs/{run}")
    page.get_by_role("button", name="Ask").click()
    assert "Fill in all but one" in page.locator(".hint").inner_text()
    assert page.evaluate("() => document.activeElement.name") == "subject"


@pytest.mark.parametrize("slot", ["subject", "predicate", "object", "time"])
def test_any_slot_may_be_left_open(explorer: Explorer, run: str, fact: dict[str, str], slot: str) -> None:
    page = explorer.open(f"/runs/{run}/complete", **question(fact, slot))
    shown = page.locator(".answer").count()
    assert shown == len(explorer.twin()["answers"]) > 0


def test_two_slots_may_be_left_open_in_the_form(explorer: Explorer, run: str, fact: dict[str, str]) -> None:
    page = explorer.open(f"/runs/{run}")
    field(page, "subject").fill(fact["subject"])
    page.keyboard.press("Escape")
    field(page, "time").fill(fact["time"])
    assert "anything anyone" in page.locator(".hint").inner_text()
    page.get_by_role("button", name="Ask").click()
    page.wait_for_selector(".answer")
    explorer.settle()
    found = explorer.twin()
    assert found["slot"] == "predicate and object"
    assert names(page) == [answer["name"] for answer in found["answers"]]
    assert "All other answers together: " in page.locator("main .note").last.inner_text()
    first = found["answers"][0]
    assert [text.split(" %")[0][-1:].isdigit() for text in first_line(page).split(", then ")] == [True, True]
    explorer.picture("two-slots")
    page.locator(".answer").first.click()
    page.wait_for_selector(".reason")
    explorer.settle()
    why = explorer.twin()
    assert [why["answer"], *(step["answer"] for step in why["steps"])] == [first["name"], *first["names"].values()]
    assert page.locator("h1 .answer-slot").all_inner_texts() == list(first["names"].values())
    assert page.locator(".lead p").count() == len(why["sentences"])
    assert page.locator(".topic").count() == sum(len(step["topics"]) for step in why["steps"])
    page.get_by_text("The full table").first.click()
    page.wait_for_selector(".full table")
    explorer.picture("why-two-slots")


def first_line(page: Any) -> str:
    return page.locator(".answer .first-reason").first.inner_text()


@pytest.mark.parametrize("given", ["object", "predicate"])
def test_any_two_slots_but_the_time_may_be_left_open(
    explorer: Explorer, run: str, fact: dict[str, str], given: str
) -> None:
    page = explorer.open(f"/runs/{run}/complete", time=fact["time"], **{given: fact[given]})
    assert page.locator(".answer").count() == len(explorer.twin()["answers"]) > 0
    explorer.open(f"/runs/{run}/explain", time=fact["time"], **{given: fact[given]})
    assert page.locator("h1 .answer-slot").all_inner_texts() != []
    page.get_by_role("link", name="All answers").first.click()
    page.wait_for_selector(".answer")


def test_known_answers_are_marked_and_can_be_left_out(explorer: Explorer, run: str) -> None:
    known = explorer.json(f"/runs/{run}/facts", split="train", limit="1")["facts"][0]
    asked = {name: known[name] for name in ("subject", "predicate", "time")}
    page = explorer.open(f"/runs/{run}/complete", **asked, top="100")
    assert page.locator(".badge.in-train").count() > 0
    page.get_by_label("Already known").select_option("hide")
    page.wait_for_url("**already_known=hide**")
    explorer.settle()
    assert page.locator(".badge.in-train").count() == 0


def test_answers_are_restricted_to_a_type(explorer: Explorer, run: str, fact: dict[str, str]) -> None:
    page = explorer.open(f"/runs/{run}/complete", **question(fact))
    page.get_by_label("Only").select_option("state")
    page.wait_for_url("**type=state**")
    explorer.settle()
    assert "only answers with type state" in page.locator(".note").first.inner_text()
    assert page.locator(".answer").count() == len(explorer.twin()["answers"]) > 0
    page.locator(".answer").first.click()
    page.wait_for_selector(".reason")
    assert "type=state" in page.url


def test_answer_is_explained_by_rules_timeline_and_graph(explorer: Explorer, run: str, fact: dict[str, str]) -> None:
    page = explorer.open(f"/runs/{run}/complete", **question(fact))
    name = names(page)[0]
    page.locator(".answer").first.click()
    page.wait_for_selector(".reason")
    explorer.settle()
    why = explorer.twin()
    assert page.locator("h1 .answer-slot").inner_text() == name == why["answer"]
    assert page.locator(".topic").count() == len(why["topics"])
    reasons = [reason for topic in why["topics"] for reason in topic["reasons"]]
    assert page.locator(".reason").count() == len(reasons) == 5
    order = page.locator("main .probability, main .lead, main .topic").evaluate_all("all => all.map(e => e.className)")
    assert [name.split()[0] for name in order[:3]] == ["probability", "lead", "topic"]
    assert page.locator(".reason[open] .graph .node").count() > 0
    numbered = page.locator(".reason[open] .events li").count()
    assert page.locator(".reason[open] .graph .link").count() == numbered == min(6, len(reasons[0]["events"]))
    page.get_by_text("The full table").click()
    page.wait_for_selector(".full table")
    explorer.picture("why")
    page.locator(".reason").nth(1).locator("summary").first.click()
    page.wait_for_url("**#reason=2")


def test_marks_of_a_timeline_differ_in_shape_and_are_walked_by_keys(explorer: Explorer, run: str) -> None:
    page = explorer.open(f"/runs/{run}/explain", **busy_pair(explorer, run))
    assert page.locator(".timeline .asked line").count() == 1
    shapes = page.locator(".timeline .mark").evaluate_all(
        "all => all.map(one => [one.getAttribute('class'), one.tagName])"
    )
    drawn = {name.partition("mark-")[2]: tag for name, tag in shapes}
    assert {"before": "circle", "same-time": "path", "after": "rect"}.items() >= drawn.items()
    assert len(drawn) > 1
    page.locator(".timeline .event[tabindex='0']").focus()
    first = page.locator(".caption").inner_text()
    page.keyboard.press("ArrowRight")
    assert page.locator(".caption").inner_text() != first


def busy_pair(explorer: Explorer, run: str) -> dict[str, str]:
    """A fact in the middle of many events between the same two."""
    entity = explorer.json(f"/runs/{run}/entities", limit="1")["names"][0]["name"]
    other = explorer.json(f"/runs/{run}/neighbours", entity=entity, limit="1")["neighbours"][0]["name"]
    facts = explorer.json(f"/runs/{run}/facts", entity=entity, other=other)["facts"]
    middle = facts[len(facts) // 2]
    return {name: middle[name] for name in ("subject", "predicate", "object", "time")} | {"slot": "object"}


def test_two_answers_are_compared(explorer: Explorer, run: str, fact: dict[str, str]) -> None:
    page = explorer.open(f"/runs/{run}/explain", **fact, slot="object")
    page.locator(".card", has_text="Compare with another answer").locator(".chip").first.click()
    page.wait_for_selector(".differences")
    explorer.settle()
    differences = explorer.twin()["differences"]
    assert page.locator(".differences .topic-row").count() == len(differences["topics"])
    assert page.locator(".card .lead").first.inner_text().startswith(f"{fact['object']} rather than ")
    assert "competitor=" in page.url
    explorer.picture("compare")


def test_names_from_right_to_left_are_isolated_and_rules_like_this_only_offered_where_there_are_some(
    explorer: Explorer, run: str, fact: dict[str, str]
) -> None:
    def altered(why: dict[str, Any]) -> dict[str, Any]:
        rule = {"rule": "no such(x, y, t) <= nor such(x, y, t)", "sentence": "seen with \u2068محمود\u2069 2014-01-05"}
        topics = [topic | {"reasons": [reason | rule for reason in topic["reasons"]]} for topic in why["topics"]]
        return why | {"topics": topics, "sentences": ["Likely because of \u2068محمود\u2069."]}

    explorer.alter(f"/runs/{run}/explain*", altered)
    page = explorer.open(f"/runs/{run}/explain", **fact, slot="object")
    assert page.locator(".lead bdi").inner_text() == "محمود"
    assert page.locator(".reason .sentence").first.inner_text() == "seen with محمود 5 Jan 2014"
    assert page.locator(".rule-line").count() > 0
    assert page.locator(".rule-line a:visible").count() == 0


def test_entity_is_browsed(explorer: Explorer, run: str, fact: dict[str, str]) -> None:
    page = explorer.open(f"/runs/{run}/timeline")
    field(page, "entity").fill(fact["subject"])
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**entity=**")
    explorer.settle()
    assert page.locator("h1").inner_text() == fact["subject"]
    assert page.locator(".histogram .bin").count() > 1
    assert page.locator(".attributes dt").all_inner_texts() == ["type"]
    explorer.picture("entity")
    page.get_by_role("link", name="Neighbours", exact=True).click()
    page.wait_for_selector(".neighbours li")
    explorer.picture("neighbours")
    page.locator(".neighbours .figure").first.click()
    page.wait_for_selector(".facts li")
    explorer.picture("facts")
    assert page.locator(".facts li").count() == min(50, explorer.twin()["total"])


def test_rules_are_filtered_and_grounded(explorer: Explorer, run: str) -> None:
    page = explorer.open(f"/runs/{run}/rules", sort="support")
    page.get_by_label("Pattern").select_option("accompanies")
    page.wait_for_url("**pattern=accompanies**")
    explorer.settle()
    rules = explorer.twin()["rules"]
    assert page.locator(".rule").count() == len(rules) > 0
    page.locator(".rule summary").first.click()
    page.wait_for_selector(".groundings > li")
    assert f"#rule={rules[0]['id']}" in page.url
    assert "If A" in page.locator(".rule .sentence").first.inner_text()
    explorer.picture("rules")
    page.reload()
    page.wait_for_selector(".groundings > li")


def test_no_rule_fits_and_the_way_back(explorer: Explorer, run: str) -> None:
    page = explorer.open(f"/runs/{run}/rules", min_support="1000000")
    assert page.locator(".rule").count() == 0
    page.get_by_role("link", name="show all rules").click()
    page.wait_for_selector(".rule")
    assert "min_support" not in page.url


def test_report_has_metrics_by_predicate_and_curves(explorer: Explorer, run: str) -> None:
    page = explorer.open(f"/runs/{run}/report")
    assert page.locator(".curve").count() > 1
    page.get_by_role("button", name="MRR").click()
    shown = page.locator("[aria-label='Metrics by predicate'] tbody tr td:nth-child(3)").all_inner_texts()
    assert [float(text) for text in shown] == sorted((float(text) for text in shown), reverse=True)
    explorer.picture("report")


def test_misspelt_name_is_an_error_that_helps(explorer: Explorer, run: str, fact: dict[str, str]) -> None:
    wrong = question(fact) | {"subject": fact["subject"] + "x"}
    page = explorer.open(f"/runs/{run}/complete", **wrong)
    assert "did you mean" in page.get_by_role("alert").inner_text()
    explorer.picture("error")
    page.get_by_role("alert").get_by_role("link", name=fact["subject"], exact=True).click()
    page.wait_for_selector(".answer")


def test_unknown_run_is_an_error_with_the_bar_still_there(explorer: Explorer) -> None:
    page = explorer.open("/runs/nothing/report")
    assert "no run" in page.get_by_role("alert").inner_text()
    assert page.locator("#places a").count() == 4


def test_service_that_is_gone_is_reported_and_can_be_tried_again(explorer: Explorer, run: str) -> None:
    page = explorer.open(f"/runs/{run}")
    page.route("**/api/**", lambda route: route.abort())
    page.get_by_role("link", name="Report").click()
    assert "does not answer" in page.get_by_role("alert").inner_text()
    page.unroute("**/api/**")
    page.get_by_role("button", name="Try again").click()
    page.wait_for_selector(".curve")


def test_names_are_shown_and_never_run(explorer: Explorer, run: str, fact: dict[str, str]) -> None:
    name = "<img src=x onerror=alert(1)>"
    answer = {
        "rank": 1,
        "name": name,
        "score": 1.0,
        "probability": 0.5,
        "already_known": None,
        "terms": {"event": 1.0},
        "bars": {},
    }
    found = {"run": run, "question": question(fact), "slot": "object", "answers": [answer], "note": name}
    explorer.page.route("**/api/v1/runs/*/complete*", lambda route: route.fulfill(json=found))
    page = explorer.open(f"/runs/{run}/complete", **question(fact))
    assert names(page) == [name]
    assert page.locator("img").count() == 0


@pytest.mark.parametrize(
    "explorer", [("phone", "light"), ("tablet", "light"), ("phone", "dark"), ("desktop", "dark")], indirect=True
)
def test_every_view_fits_its_window(explorer: Explorer, run: str, fact: dict[str, str]) -> None:
    width = explorer.page.viewport_size["width"]
    dark = explorer.page.evaluate("() => matchMedia('(prefers-color-scheme: dark)').matches")
    for view, (path, parameters) in views(explorer, run, fact).items():
        explorer.open(path, **parameters)
        assert explorer.overflow() <= 0, view
        explorer.picture(f"{view}-{width}{'-dark' if dark else ''}")


@pytest.mark.parametrize("explorer", [("desktop", "light"), ("phone", "light")], indirect=True)
def test_nothing_jumps_while_a_view_is_loaded(explorer: Explorer, run: str, fact: dict[str, str]) -> None:
    def late(route: Any) -> None:
        time.sleep(0.1)  # long enough for what stands in the place of a part to be painted
        route.continue_()

    explorer.page.route("**/api/v1/runs/**", late)
    for view, (path, parameters) in views(explorer, run, fact).items():
        explorer.open(path, **parameters).wait_for_timeout(50)
        assert explorer.moved() < 0.1, view


def test_going_back_shows_what_was_there(explorer: Explorer, run: str, fact: dict[str, str]) -> None:
    page = explorer.open(f"/runs/{run}/complete", **question(fact))
    before = names(page)
    page.locator(".answer").first.click()
    page.wait_for_selector(".reason")
    page.go_back()
    page.wait_for_selector(".answer")
    assert names(page) == before
    assert field(page, "subject").input_value() == fact["subject"]


def test_two_runs_answer_the_same_question(browser: Any, evidence_run: Path, tmp_path: Path, pictures: Path) -> None:
    for name in ("one", "other"):
        shutil.copytree(evidence_run, tmp_path / name)
    with served(tmp_path) as url:
        explorer = Explorer(browser.new_page(), url, pictures)
        page = explorer.open("/")
        page.get_by_role("link", name="other").click()
        page.locator(".examples li").first.get_by_text("To whom?").click()
        page.get_by_role("link", name="Ask another run too").click()
        page.wait_for_selector(".answer")
        explorer.settle()
        twin = explorer.twin()
        assert twin["shared"] == 10
        assert page.locator(".answer").count() == len(twin["left"]["answers"]) + len(twin["right"]["answers"])
        assert page.locator(".answer").evaluate_all("all => all.every(one => one.scrollWidth <= one.clientWidth)")
        explorer.picture("compare-runs")
        page.get_by_label("Left").select_option("one")
        page.wait_for_url("**left=one**")
        page.set_viewport_size({"width": 360, "height": 780})
        explorer.open("/compare?" + page.url.partition("?")[2])
        assert explorer.overflow() <= 0
        assert explorer.moved() < 0.1
        explorer.picture("compare-runs-360")
        page.close()
        assert explorer.complaints == []
