"""The process: listens, logs in JSON lines, and at the end finishes what is under way."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn

from foretime.errors import ConfigError
from foretime.service.app import Service
from foretime.service.runs import check_folders
from foretime.service.settings import Settings, is_loopback

PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}
"""What every record of a log has; anything else was added by whoever logs."""
SECONDS_TO_FINISH = 30
BACKLOG = 2048
SWITCH_SECONDS = 0.0005
"""How long the thread of the models may keep that of the connections waiting while it runs Python."""
SHORTEST_TOKEN = 16


class JsonLines(logging.Formatter):
    """Writes each record as one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as JSON."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line: dict[str, Any] = {
            "time": f"{stamp}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **{key: value for key, value in vars(record).items() if key not in PLAIN},
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=True, default=str)


def check_settings(settings: Settings) -> None:
    """Raise `ConfigError` if the service would be open to others without a token, or with one that can be guessed."""
    if settings.token is None and not is_loopback(settings.host):
        raise ConfigError(
            f"{settings.host} can be reached from elsewhere; give a token in FORETIME_TOKEN (or --token), "
            "or listen on 127.0.0.1"
        )
    if settings.token is not None and (len(settings.token) < SHORTEST_TOKEN or not settings.token.isascii()):
        raise ConfigError(
            f"the token is too short or not ASCII; take at least {SHORTEST_TOKEN} random characters, as from "
            "python -c 'import secrets; print(secrets.token_urlsafe())'"
        )


def serve(folders: list[Path], settings: Settings, listening: Callable[[str], None]) -> None:
    """Serve runs until the process is asked to stop; `listening` hears the address as soon as there is one."""
    import torch

    check_settings(settings)
    check_folders(folders)
    if settings.threads:
        torch.set_num_threads(settings.threads)
    opened = _listen(settings)
    _log_to_stderr()
    sys.setswitchinterval(SWITCH_SECONDS)
    config = uvicorn.Config(
        Service(folders, settings).app, log_config=None, access_log=False, server_header=False, proxy_headers=False,
        timeout_keep_alive=30, timeout_graceful_shutdown=SECONDS_TO_FINISH, lifespan="on", ws="none",
    )  # fmt: skip
    server = uvicorn.Server(config)
    host, port = opened.getsockname()[:2]
    listening(f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}")
    for stop in (signal.SIGTERM, signal.SIGINT):
        # the server stops by its own handler, and then raises the signal once more for ours
        signal.signal(stop, lambda *_: None)
    server.run([opened])


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # the protocol is named, or else asyncio lets small packets wait for each other, 40 ms at a time
    opened = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((settings.host.strip("[]"), settings.port))
        opened.listen(BACKLOG)  # now, so that nobody is refused who has heard of the address
    except OSError as error:
        opened.close()
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        raise ConfigError(
            f"{settings.host}:{settings.port} cannot be listened on: {reason}; choose another --port or --host"
        ) from None
    return opened


def _log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("foretime.service", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO if name == "foretime.service" else logging.WARNING)
