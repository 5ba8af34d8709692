"""The process: listens, and finishes requests in progress before it ends."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import uvicorn

from foretime.devices import find_device
from foretime.errors import ConfigError
from foretime.service.app import Service
from foretime.service.folders import check_folders
from foretime.service.logs import log_to_stderr
from foretime.service.protocol import bounded_protocol
from foretime.service.settings import KEEP_ALIVE_SECONDS, MOST, SECONDS_TO_FINISH, Settings, is_loopback
from foretime.service.watchdog import Watchdog

BACKLOG = 2048
SWITCH_SECONDS = 0.0005
"""How long the thread of the models may keep that of the connections waiting while it runs Python."""
SHORTEST_TOKEN = 16


def check_settings(settings: Settings) -> None:
    """Raise `ConfigError` if the service would be open to others without a token, or with one that can be guessed.

    And if a number is out of its bounds.
    """
    for name, most in MOST.items():
        value = getattr(settings, name)
        if not 0 <= value <= most:  # also catches nan
            raise ConfigError(f"{name} is {value}; it goes from 0 to {most:g}")
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


def listen_and_serve(
    folders: list[Path], settings: Settings, listening: Callable[[str], None], warn: Callable[[str], None]
) -> None:
    """Serve runs until the process is asked to stop; `listening` is called with the address.

    `warn` is called with what is wrong with the folders. If a thread hangs, the whole process ends.
    """
    import torch

    check_settings(settings)
    if settings.device is not None:
        find_device(settings.device)
    warnings = check_folders(folders)
    if settings.threads:
        torch.set_num_threads(settings.threads)
    opened = _listen(settings)
    sys.setswitchinterval(SWITCH_SECONDS)
    service = Service(folders, settings)
    server = uvicorn.Server(server_config(service))

    def stop(*_: object) -> None:
        server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        # until the server has its own handler, and after its end, when it raises the signal once more
        signal.signal(number, stop)
    host, port = opened.getsockname()[:2]
    listening(f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}")
    for warning in warnings:
        warn(warning)
    with log_to_stderr() as finish_log:
        watchdog = Watchdog(service, lambda: server.should_exit, finish_log)
        watchdog.start()
        try:
            server.run([opened])
        finally:
            watchdog.finish()


def server_config(service: Service) -> uvicorn.Config:
    """Return how the service is spoken to."""
    protocol = bounded_protocol(service.metrics, service.settings.connections)
    return uvicorn.Config(
        service.app, http=protocol, log_config=None, access_log=False, server_header=False, proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS, timeout_graceful_shutdown=SECONDS_TO_FINISH, lifespan="on", ws="none",
    )  # fmt: skip


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # the protocol is named, or else asyncio lets small packets wait for each other, 40 ms at a time
    opened = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((settings.host.strip("[]"), settings.port))
        opened.listen(BACKLOG)  # now, so that nobody who knows the address is refused
    except OSError as error:
        opened.close()
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        raise ConfigError(
            f"{settings.host}:{settings.port} cannot be listened on: {reason}; choose another --port or --host"
        ) from None
    return opened
