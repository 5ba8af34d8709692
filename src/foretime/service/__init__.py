"""The service: the answers of runs over HTTP, for programs and for the page. See `docs/service.md`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from foretime.errors import ConfigError

EXTRA = ("fastapi", "starlette", "uvicorn", "httptools", "prometheus_client")
"""What the extra `serve` installs."""


def serve(  # noqa: PLR0913, each is a choice of its own
    runs: Sequence[Path | str] | Path | str,
    *,
    host: str = "127.0.0.1",
    port: int = 8420,
    token: str | None = None,
    look_again: float = 5.0,
    queue: int = 64,
    gather_seconds: float = 0.002,
    deadline: float = 10.0,
    grace: float = 30.0,
    give_up: float = 300.0,
    load_seconds: float = 120.0,
    load_memory: float = 8.0,
    connections: int = 200,
    threads: int = 0,
    device: str | None = None,
    ready: Callable[[str], None] | None = None,
    warn: Callable[[str], None] | None = None,
) -> None:
    """Serve the answers of runs over HTTP, with a page to explore them, until the process is asked to stop.

    Parameters:
        runs: folders of runs, or folders with runs in them.
        host: the address; any other than loopback demands a token.
        port: the port; 0 takes a free one.
        token: what requests must bring.
        look_again: seconds until the folders are looked at again.
        queue: questions that may wait; others are refused.
        gather_seconds: for how long questions are gathered into one matrix product; with 0 each is asked alone.
        deadline: seconds until a question is given up.
        grace: seconds after its deadline until a question that still runs makes the service not ready.
        give_up: seconds after that until it ends the process, with exit code 70; a supervisor should restart it.
        load_seconds: seconds that a run may take to be opened in a process of its own, before it is served; 0 for runs
            that are trusted, which are loaded at once.
        load_memory: GiB of memory that this process may take; 0 for any number.
        connections: connections that one address may hold.
        threads: threads of the matrix products; 0 for all cores.
        device: where the models compute, as in `open_run`; by default where each run does.
        ready: is called with the address once the service listens.
        warn: is called with a text for each name that several runs have, of which only one is served.

    Raises `ConfigError` if the extra `serve` is not installed, or the address cannot be listened on.

        foretime.serve("runs", port=0, ready=print)
    """
    try:
        from foretime.service.server import listen_and_serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in EXTRA:
            raise
        raise ConfigError(f"{error.name} is not installed; pip install 'foretime[serve]'") from None
    from foretime.service.settings import Settings

    folders = [Path(runs)] if isinstance(runs, str | Path) else [Path(run) for run in runs]
    settings = Settings(
        host, port, token, look_again, queue, gather_seconds, deadline, grace, give_up, load_seconds, load_memory,
        connections, threads, device,
    )  # fmt: skip
    listen_and_serve(folders, settings, ready or (lambda address: None), warn or (lambda warning: None))
