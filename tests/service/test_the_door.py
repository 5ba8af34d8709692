"""Bounds, errors, tokens and headers: what a request must be, and what every response carries."""

import socket
from pathlib import Path

import httpx
import pytest
import typer
from live_service import Live

from foretime.cli import app
from foretime.service import guard
from foretime.service.guard import POLICY
from foretime.service.models import RequestBody, ResponseBody
from foretime.service.settings import BODY_BYTES

TOKEN = "a-token-for-the-tests-0123456789"
QUESTION = {"subject": "state 0", "predicate": "visits", "time": "2020-05-01"}
SMALL = "/runs/small"
JSON, TEXT = {"Content-Type": "application/json"}, {"Content-Type": "text/plain"}


def error_of(response: httpx.Response) -> dict:
    found = response.json()
    assert list(found) == ["error"]
    assert list(found["error"]) == ["code", "message", "fields"]
    assert found["error"]["message"]
    return found["error"]


@pytest.mark.parametrize(
    ("path", "parameters", "field"),
    [
        ("complete", {**QUESTION, "top": 0}, "top"),
        ("complete", {**QUESTION, "top": 101}, "top"),
        ("complete", {**QUESTION, "top": "many"}, "top"),
        ("complete", {**QUESTION, "subject": "x" * 501}, "subject"),
        ("complete", {**QUESTION, "time": "1" * 65}, "time"),
        ("complete", {**QUESTION, "already_known": "no"}, "already_known"),
        ("complete", {**QUESTION, "tpo": 3}, "tpo"),
        ("explain", {**QUESTION, "top": 51}, "top"),
        ("explain", {**QUESTION, "slot": "all"}, "slot"),
        ("entities", {"limit": 201}, "limit"),
        ("entities", {"offset": -1}, "offset"),
        ("rules", {"min_confidence": 2}, "min_confidence"),
        ("rules", {"pattern": "none"}, "pattern"),
        ("facts", {"limit": 501}, "limit"),
        ("timeline", {"bins": 401}, "bins"),
        ("neighbours", {}, "entity"),
        ("rules/-1/groundings", {}, "rule"),
    ],
)
def test_a_field_out_of_its_bounds_is_named(live: Live, path: str, parameters: dict, field: str):
    response = live.get(f"{SMALL}/{path}", **parameters)
    assert response.status_code == 422
    error = error_of(response)
    assert error["code"] == "invalid"
    assert [one["field"] for one in error["fields"]] == [field]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({**QUESTION, "object": "state 1"}, "nothing is left open"),
        ({"subject": "state 0"}, "left open"),
        ({**QUESTION, "subject": "state zero"}, "unknown entity 'state zero'"),
        ({**QUESTION, "subject": "stat 0"}, "did you mean"),
        ({**QUESTION, "predicate": "visit"}, "did you mean 'visits'"),
        ({**QUESTION, "time": "soon"}, "is not a time"),
        ({**QUESTION, "time": "1999-01-01"}, "not on the timeline"),
        ({**QUESTION, "start": "2020-05-01"}, "either a time, or a start"),
    ],
)
def test_a_question_that_cannot_be_answered_says_why(live: Live, parameters: dict, words: str):
    response = live.get(f"{SMALL}/complete", **parameters)
    assert response.status_code == 422
    error = error_of(response)
    assert error["code"] == "unanswerable"
    assert words in error["message"]


@pytest.mark.parametrize("competitor", ["nobody", "state 0", "1999-01-01"])
def test_a_competitor_that_is_none_says_why(live: Live, competitor: str):
    best = live.found(f"{SMALL}/complete", **QUESTION, top=1)["answers"][0]["name"]
    response = live.get(f"{SMALL}/explain", **QUESTION, competitor=best if competitor == "state 0" else competitor)
    assert response.status_code == 422
    assert error_of(response)["code"] == "unanswerable"


def test_too_many_questions_are_refused(live: Live):
    assert live.post(f"{SMALL}/batch", {"questions": [QUESTION] * 100, "top": 1}).status_code == 200
    assert error_of(live.post(f"{SMALL}/batch", {"questions": [QUESTION] * 101}))["code"] == "invalid"
    assert error_of(live.post(f"{SMALL}/batch", {"questions": []}))["code"] == "invalid"


@pytest.mark.parametrize(
    ("method", "path", "options", "status", "code"),
    [
        ("GET", "/api/v1/runs/nothing", {}, 404, "not_found"),
        ("GET", "/api/v1/runs/smal/complete", {"params": QUESTION}, 404, "not_found"),
        ("GET", "/api/v2/runs", {}, 404, "not_found"),
        ("GET", "/static/../../settings.py", {}, 404, "not_found"),
        ("GET", "/static/%2e%2e/settings.py", {}, 404, "not_found"),
        ("GET", "/runs/small/nothing", {}, 404, "not_found"),
        ("DELETE", "/api/v1/runs/small", {}, 405, "method_not_allowed"),
        ("GET", "/api/v1/runs/small/batch", {}, 405, "method_not_allowed"),
        ("POST", "/api/v1/runs/small/complete", {"content": b"{", "headers": JSON}, 400, "malformed"),
        ("POST", "/api/v1/runs/small/complete", {"content": b"{}", "headers": TEXT}, 415, "not_json"),
        ("POST", "/api/v1/runs/small/complete", {"content": b" " * (BODY_BYTES + 1)}, 413, "too_large"),
        ("GET", "/api/v1/runs/small/entities", {"params": {"prefix": "x" * 9000}}, 414, "too_large"),
        ("GET", "/api/v1/runs", {"headers": {"Host": "elsewhere.example"}}, 421, "wrong_host"),
    ],
)  # fmt: skip
def test_errors_of_http_have_the_same_shape(live: Live, method: str, path: str, options: dict, status: int, code: str):
    response = live.client.request(method, path, **options)
    assert response.status_code == status
    assert error_of(response)["code"] == code


def test_a_body_without_a_declared_length_is_bounded_too(live: Live):
    chunks = (b"x" * 65536 for _ in range(100))
    response = live.client.post("/api/v1/runs/small/complete", content=chunks)
    assert response.status_code == 413


def test_a_body_that_does_not_come_is_not_waited_for(live: Live, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.2)
    head = f"POST /api/v1/runs/small/complete HTTP/1.1\r\nHost: 127.0.0.1:{live.port}\r\nContent-Length: 9\r\n\r\n"
    with socket.create_connection(("127.0.0.1", live.port), timeout=120) as connection:
        connection.sendall(head.encode() + b"{")
        assert live.client.get("/healthz").status_code == 200
        assert connection.recv(4096).startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize("path", ["/", "/api/v1/runs", "/api/v1/nothing", "/healthz", "/metrics", "/api/v1/docs"])
def test_every_response_is_guarded(live: Live, path: str):
    headers = live.client.get(path, headers={"Origin": "https://elsewhere.example"}).headers
    assert headers["Content-Security-Policy"] == POLICY
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert len(headers["X-Request-ID"]) == 16
    assert "Access-Control-Allow-Origin" not in headers
    assert "Server" not in headers


def test_with_a_token_nothing_is_answered_without_it(live_with):
    live = live_with(token=TOKEN)
    assert live.get("/runs").status_code == 200
    for given in ("", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer \xff"):
        response = httpx.get(
            f"http://127.0.0.1:{live.port}/api/v1/runs", headers={"Authorization": given.encode("latin-1")}
        )
        assert response.status_code == 401
        assert response.headers["WWW-Authenticate"] == "Bearer"
        assert error_of(response)["code"] == "unauthorized"
    url = f"http://127.0.0.1:{live.port}"
    assert httpx.get(f"{url}/metrics").status_code == 401
    for path in ("/", "/healthz", "/readyz", "/api/v1/docs", "/api/v1/openapi.json"):
        assert httpx.get(f"{url}{path}").status_code == 200
    for path in ("/api/v1/docs/", "/api/v1/openapi.json/x", "/api/v1/runs/docs"):
        assert httpx.get(f"{url}{path}").status_code == 401
    assert live.client.get("/api/v1/runs", headers={"Host": "foretime.example"}).status_code == 200
    assert live.found("/openapi.json")["security"] == [{"token": []}]


@pytest.mark.parametrize(
    ("site", "mode", "status"),
    [
        ("cross-site", "cors", 403),
        ("cross-site", "no-cors", 403),
        ("cross-site", "navigate", 200),
        ("same-origin", "cors", 200),
        ("none", "navigate", 200),
    ],
)
def test_a_page_of_another_site_may_not_ask(live: Live, site: str, mode: str, status: int):
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode}
    response = live.client.get("/api/v1/runs", headers=headers)
    assert response.status_code == status
    if status == 403:
        assert error_of(response)["code"] == "cross_site"
    assert live.client.get("/healthz", headers=headers).status_code == 200
    assert live.client.get("/", headers=headers).status_code == 200


def subclasses(base: type) -> list[type]:
    return [found for one in base.__subclasses__() for found in (one, *subclasses(one))]


def test_every_example_is_what_it_is_an_example_of(live: Live):
    models = {model.__name__: model for base in (RequestBody, ResponseBody) for model in subclasses(base)}
    examples = {name: shape["examples"] for name, shape in live.found("/openapi.json")["components"]["schemas"].items()}
    assert len(examples) > 30
    for name, found in examples.items():
        for example in found:
            models[name].model_validate(example)
    schema = live.found("/openapi.json")
    for path, operations in schema["paths"].items():
        for parameter in operations.get("get", {}).get("parameters", []):
            assert parameter["schema"].get("examples") or parameter.get("examples"), (path, parameter["name"])
    assert "For example <code>Nelivia</code>." in live.get("/docs").text


def test_every_view_in_the_table_is_the_page_and_has_a_module_and_a_twin(live: Live):
    page = live.client.get("/")
    assert page.headers["Content-Type"].startswith("text/html")
    api = live.found("/openapi.json")["paths"]
    for view in live.client.get("/static/views.json").json():
        assert live.client.get(view["path"].replace("{run}", "small")).content == page.content
        assert "\nexport function view(" in live.client.get(f"/static/views/{view['module']}.js").text
        assert "get" in api["/api/v1" + view["path"].replace("/", "/runs", view["path"] == "/")]
    again = live.client.get("/", headers={"If-None-Match": page.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_the_schema_has_examples_and_a_page_that_loads_nothing_from_elsewhere(live: Live):
    schema = live.found("/openapi.json")
    assert schema["openapi"].startswith("3.1")
    assert schema["components"]["schemas"]["CompleteIn"]["examples"]
    page = live.get("/docs").text
    for path in schema["paths"]:
        assert f"<code>{path}</code>" in page
    assert "<script" not in page
    assert "https://" not in page
    for operations in schema["paths"].values():
        for operation in operations.values():
            assert operation["description"]


def test_the_document_has_every_path_and_every_flag(live: Live):
    page = (Path(__file__).parents[2] / "docs" / "service.md").read_text(encoding="utf-8")
    for path in live.found("/openapi.json")["paths"]:
        assert f"{path.replace('{rule}', '{id}')}`" in page, path
    serve = typer.main.get_command(app).commands["serve"]
    for option in serve.params:
        if option.param_type_name == "option" and option.name != "help":
            assert f"| `{option.opts[0]}` |" in page


def test_health_readiness_and_metrics(live: Live):
    assert live.client.get("/healthz").json() == {"status": "ok"}
    assert live.client.get("/readyz").json() == {"status": "ready", "runs": 2}
    live.found(f"{SMALL}/complete", **QUESTION)
    text = live.client.get("/metrics").text
    assert 'foretime_requests_total{method="GET",route="/api/v1/runs/{run}/complete",status="200"}' in text
    assert "foretime_runs 2.0" in text
    assert "foretime_work_seconds_count" in text
