"""The files of the page: read once from the package into a table of names, which is all that a request can reach."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

from fastapi import APIRouter, Request, Response

from foretime.service.problems import Problem

TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "mjs": "text/javascript; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
    "png": "image/png",
    "ico": "image/x-icon",
    "woff2": "font/woff2",
}
VIEWS = ("complete", "explain", "rules", "facts", "timeline", "neighbours", "report")
PLACEHOLDER = (
    b"<!doctype html><html lang=en><meta charset=utf-8><title>foretime</title><h1>foretime</h1>"
    b"<p>The service is running. <a href=/api/v1/docs>What it can be asked</a></html>"
)
INDEX = "index.html"


class PageFile(NamedTuple):
    """A file of the page."""

    content: bytes
    kind: str
    tag: str


def read_page() -> dict[str, PageFile]:
    """Return the files of the page by name; a minimal page if there is none."""
    root = files("foretime.service") / "page"
    found = dict(_read(root, "")) if root.is_dir() else {}
    return {INDEX: _page_file(INDEX, PLACEHOLDER), **found}


def _read(folder: Traversable, prefix: str) -> list[tuple[str, PageFile]]:
    found: list[tuple[str, PageFile]] = []
    for entry in folder.iterdir():
        name = f"{prefix}{entry.name}"
        if entry.is_dir():
            found += _read(entry, f"{name}/")
        elif entry.name.rpartition(".")[2] in TYPES:
            found.append((name, _page_file(name, entry.read_bytes())))
    return found


def _page_file(name: str, content: bytes) -> PageFile:
    digest = hashlib.sha256(content).hexdigest()[:16]
    return PageFile(content, TYPES[name.rpartition(".")[2]], f'"{digest}"')


def page_routes(page: dict[str, PageFile]) -> APIRouter:
    """Return the routes of the page: its views, which are all the same file, and its files."""
    router = APIRouter(include_in_schema=False)

    def send(name: str, request: Request) -> Response:
        found = page.get(name)
        if found is None:
            raise Problem(404, "not_found", "the page has no such file")
        headers = {"ETag": found.tag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == found.tag:
            return Response(status_code=304, headers=headers)
        return Response(found.content, headers=headers, media_type=found.kind)

    @router.api_route("/", methods=["GET", "HEAD"])
    @router.get("/compare")
    @router.get("/runs/{run}")
    async def index(request: Request) -> Response:
        return send(INDEX, request)

    @router.get("/runs/{run}/{view}")
    async def view(view: str, request: Request) -> Response:
        if view not in VIEWS:
            raise Problem(404, "not_found", f"there is no such view; the views are {', '.join(VIEWS)}")
        return send(INDEX, request)

    @router.get("/static/{name:path}")
    async def static(name: str, request: Request) -> Response:
        return send(name, request)

    return router
