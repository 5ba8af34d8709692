"""The files of the page, read once from the package: a request can reach nothing else."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from fastapi import APIRouter, Request, Response

from foretime.service.problems import Problem

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
PAGE = Path(__file__).with_name("page")


def page_routes() -> APIRouter:
    """Return the routes of the page: every view in its table, all the same file, and its files."""
    router = APIRouter(include_in_schema=False)
    files = {path.relative_to(PAGE).as_posix(): path.read_bytes() for path in PAGE.rglob("*") if path.suffix in TYPES}
    tags = {name: f'"{hashlib.sha256(content).hexdigest()[:16]}"' for name, content in files.items()}

    def send(name: str, request: Request) -> Response:
        if name not in files:
            raise Problem(404, "not_found", "the page has no such file")
        headers = {"ETag": tags[name], "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == tags[name]:
            return Response(status_code=304, headers=headers)
        return Response(files[name], headers=headers, media_type=TYPES[Path(name).suffix])

    async def index(request: Request) -> Response:
        return send("index.html", request)

    for view in json.loads(files["views.json"]):
        router.add_api_route(view["path"], index, methods=["GET", "HEAD"])

    @router.get("/static/{name:path}")
    async def static(name: str, request: Request) -> Response:
        return send(name, request)

    return router
