"""Processes that train together, as a launcher would start them: on 127.0.0.1, each with a number."""

import multiprocessing
import os
import socket
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import torch

MODULES = ["torch._dynamo", "foretime.runs.jobs", "foretime.models.distance_kernel"]
"""What all of them need, imported once."""
SECONDS = 120
"""How long the processes may take: they hang, if they do, for ever."""


def run_together(size: int, function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """What a function returns, or the error that it raises, in each of so many processes; nothing of one that died."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(MODULES)
    port = free_port()
    pipes = [context.Pipe(duplex=False) for _ in range(size)]
    processes = [
        context.Process(target=_run, args=(rank, size, port, pipe, function, arguments), daemon=True)
        for rank, (_, pipe) in enumerate(pipes)
    ]
    for process, (_, pipe) in zip(processes, pipes, strict=True):
        process.start()
        pipe.close()
    found = [_received(pipe) for pipe, _ in pipes]
    for process in processes:
        process.join(SECONDS)
        process.kill()
    return found


def address(rank: int, size: int, port: int) -> dict[str, str]:
    """What a launcher tells a process of itself and of the first one, which listens on the port."""
    named = {
        "RANK": rank,
        "WORLD_SIZE": size,
        "LOCAL_WORLD_SIZE": size,
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": port,
    }
    return {name: str(value) for name, value in named.items()} | {"GLOO_SOCKET_IFNAME": "lo"}


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _received(pipe: Connection) -> Any:
    try:
        return pipe.recv() if pipe.poll(SECONDS) else TimeoutError()
    except EOFError:
        return None


def _run(
    rank: int, size: int, port: int, pipe: Connection, function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    os.environ |= address(rank, size, port)
    torch.set_num_threads(1)
    try:
        pipe.send(function(*arguments))
    except Exception as error:
        pipe.send(error)
