"""One file over HTTP, resumed where an earlier attempt stopped."""

from __future__ import annotations

import http.client
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from foretime.errors import DownloadError

CHUNK = 1 << 16
ATTEMPTS = 3
TIMEOUT_SECONDS = 30.0
PAUSE_SECONDS = 1.0

Report = Callable[[int, int | None], None]
"""Called with the bytes that are there and those that there will be, if known."""


class _CutShortError(Exception):
    """The connection broke; what came is kept, and another attempt may resume it."""


def fetch(address: str, part: Path, report: Report) -> None:
    """Fetch a whole file into `part`, resuming what is there already.

    A broken connection is tried again after a pause; anything else raises `DownloadError` and keeps the part.
    """
    if not address.startswith(("https://", "http://")):
        raise DownloadError(f"{address}: not an address that can be fetched; it should begin with https://")
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return _attempt(address, part, report)
        except _CutShortError as error:
            if attempt == ATTEMPTS:
                raise DownloadError(f"{address}: {error}, {ATTEMPTS} times in a row") from error
            time.sleep(PAUSE_SECONDS)


def _attempt(address: str, part: Path, report: Report) -> None:
    begun = part.stat().st_size if part.exists() else 0
    try:
        with closing(_open(address, begun)) as response:
            # A server that does not know ranges answers 200 and sends the whole file: then we start over.
            resumed = response.status == http.HTTPStatus.PARTIAL_CONTENT
            _save(response, part, begun if resumed else 0, report)
    except urllib.error.HTTPError as error:
        if error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE or not begun:
            raise DownloadError(f"{address}: the server answered {error.code} {error.reason}") from error
        _settle_range(part, error)
    except (TimeoutError, ConnectionError, ssl.SSLError, http.client.HTTPException) as error:
        raise _CutShortError(f"the connection broke off ({error or type(error).__name__})") from error
    except urllib.error.URLError as error:
        raise DownloadError(f"{address}: cannot be reached ({error.reason})") from error


def _open(address: str, begun: int) -> http.client.HTTPResponse:
    # A packed answer could not be resumed byte by byte, so we ask for the file as it is.
    headers = {"User-Agent": "foretime", "Accept-Encoding": "identity"}
    if begun:
        headers["Range"] = f"bytes={begun}-"
    request = urllib.request.Request(address, headers=headers)
    response: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS)
    return response


def _save(response: http.client.HTTPResponse, part: Path, begun: int, report: Report) -> None:
    length = response.headers.get("Content-Length")
    total = begun + int(length) if length else None
    done = begun
    with part.open("r+b" if begun else "wb") as file:
        file.seek(begun)
        report(done, total)
        while chunk := response.read(CHUNK):
            file.write(chunk)
            done += len(chunk)
            report(done, total)
    if total is not None and done < total:
        raise _CutShortError(f"the connection broke off after {done} of {total} bytes")


def _settle_range(part: Path, error: urllib.error.HTTPError) -> None:
    """Keep a part that is already whole; one that is longer than the file is dropped, to start over."""
    total = error.headers.get("Content-Range", "").rpartition("/")[2]
    if total == str(part.stat().st_size):
        return
    part.unlink()
    raise _CutShortError("the part that was there did not fit the file at the address")
