"""One file over HTTP, resumed where an earlier attempt stopped."""

from __future__ import annotations

import http.client
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
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
    # A packed answer could not be resumed byte by byte, so we ask for the file as it is.
    headers = {"User-Agent": "foretime", "Accept-Encoding": "identity"} | (
        {"Range": f"bytes={begun}-"} if begun else {}
    )
    try:
        with urllib.request.urlopen(
            urllib.request.Request(address, headers=headers), timeout=TIMEOUT_SECONDS
        ) as response:
            # A server that does not know ranges answers 200 and sends the whole file: then we start over.
            _save(response, part, begun if response.status == http.HTTPStatus.PARTIAL_CONTENT else 0, report)
    except urllib.error.HTTPError as error:
        if error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE or not begun:
            raise DownloadError(f"{address}: the server answered {error.code} {error.reason}") from error
        if error.headers.get("Content-Range", "").rpartition("/")[2] != str(begun):  # else it was whole already
            part.unlink()
            raise _CutShortError("the part that was there did not fit the file at the address") from error
    except (TimeoutError, ConnectionError, ssl.SSLError, http.client.HTTPException) as error:
        raise _CutShortError(f"the connection broke off ({error or type(error).__name__})") from error
    except urllib.error.URLError as error:
        raise DownloadError(f"{address}: cannot be reached ({error.reason})") from error


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
