"""The files of the page, read once from the package: a request can reach nothing else."""

from __future__ import annotations

import hashlib
import json
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

from fastapi import APIRouter, Request, Response

from foretime.service.problems import Problem

TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
}
INDEX, VIEWS = "index.html", "views.json"


class PageFile(NamedTuple):
    """A file of the page."""

    content: bytes
    kind: str
    tag: str


def read_page() -> dict[str, PageFile]:
    """Return the files of the page by name."""
    return dict(_read(files("foretime.service") / "page", ""))


def _read(folder: Traversable, prefix: str) -> list[tuple[str, PageFile]]:
    found: list[tuple[str, PageFile]] = []
    for entry in folder.iterdir():
        name = f"{prefix}{entry.name}"
        if entry.is_dir():
            found += _read(entry, f"{name}/")
        elif entry.name.rpartition(".")[2] in TYPES:
            content = entry.read_bytes()
            tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
            found.append((name, PageFile(content, TYPES[name.rpartition(".")[2]], tag)))
    return found


def page_routes(page: dict[str, PageFile]) -> APIRouter:
    """Return the routes of the page: every view in its table, all the same file, and its files."""
    router = APIRouter(include_in_schema=False)

    def send(name: str, request: Request) -> Response:
        found = page.get(name)
        if found is None:
            raise Problem(404, "not_found", "the page has no such file")
        headers = {"ETag": found.tag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == found.tag:
            return Response(status_code=304, headers=headers)
        return Response(found.content, headers=headers, media_type=found.kind)

    async def index(request: Request) -> Response:
        return send(INDEX, request)

    for view in json.loads(page[VIEWS].content):
        router.add_api_route(view["path"], index, methods=["GET", "HEAD"])

    @router.get("/static/{name:path}")
    async def static(name: str, request: Request) -> Response:
        return send(name, request)

    return router
