"""Services that run while a test does."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from foretime.service.app import Service
from foretime.service.lanes import Lane, _Job
from foretime.service.server import server_config
from foretime.service.settings import API, Settings


def wait_for(happened: Callable[[], bool], seconds: float = 120.0) -> None:
    until = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.02)


class Live:
    """A service behind a real socket, in a thread of this process."""

    def __init__(self, folders: list[Path], settings: Settings) -> None:
        self.service = Service(folders, settings)
        config = server_config(self.service)
        config.port = 0
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)

    def __enter__(self) -> "Live":
        self._thread.start()
        wait_for(lambda: self._server.started)
        self.port = self._server.servers[0].sockets[0].getsockname()[1]
        token = self.service.settings.token
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{self.port}", headers=headers, timeout=120)
        wait_for(lambda: self.service.catalog._looked)
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self._server.should_exit = True
        self._thread.join(120)

    def get(self, path: str, **parameters: Any) -> httpx.Response:
        return self.client.get(f"{API}{path}", params=parameters)

    def found(self, path: str, **parameters: Any) -> Any:
        response = self.get(path, **parameters)
        assert response.status_code == 200, response.text
        return response.json()

    def post(self, path: str, body: Any) -> httpx.Response:
        return self.client.post(f"{API}{path}", json=body)

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Keeps the lane of the models from doing anything else."""
        with held(self.service.models):
            yield


@contextmanager
def held(lane: Lane) -> Iterator[None]:
    begun, end = threading.Event(), threading.Event()

    def wait(_: list[Any]) -> list[bool]:
        begun.set()
        return [end.wait(300)]

    lane._put(_Job("held", None, None, wait), bounded=False)
    assert begun.wait(60)
    try:
        yield
    finally:
        end.set()


class Process:
    """`foretime serve` in a process of its own."""

    def __init__(self, folder: Path, *flags: object, **environment: str) -> None:
        words = [sys.executable, "-m", "foretime", "serve", str(folder), "--port", "0", *map(str, flags)]
        own = {key: value for key, value in os.environ.items() if key != "FORETIME_TOKEN"}
        self.running = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=own | environment)
        assert self.running.stderr is not None
        first = self.running.stderr.readline()
        assert "listens on" in first, first + self.running.stderr.read()
        self.url = first.split()[-1]
        self.lines: list[str] = []
        self._reader = threading.Thread(target=lambda: self.lines.extend(self.running.stderr), daemon=True)  # type: ignore[arg-type]
        self._reader.start()
        wait_for(lambda: httpx.get(f"{self.url}/readyz").status_code == 200, 300)

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def resident(self) -> float:
        """Return how many bytes the process holds, by its own metrics."""
        lines = httpx.get(f"{self.url}/metrics").text.splitlines()
        return float(next(line.split()[1] for line in lines if line.startswith("process_resident_memory_bytes")))

    def stop(self) -> int:
        self.running.send_signal(signal.SIGTERM)
        code = self.running.wait(120)
        self._reader.join(60)
        return code

    def end(self) -> None:
        if self.running.poll() is None:
            self.running.kill()
            self.running.wait()
