"""`foretime serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import foretime as ft
from foretime.cli.options import Device
from foretime.cli.output import note


def serve(  # noqa: PLR0913, each is a flag
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs, or folders with runs in them.")],
    host: Annotated[str, typer.Option(help="The address; another than loopback demands a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.", min=0, max=65535)] = 8420,
    token: Annotated[
        str | None, typer.Option(envvar="FORETIME_TOKEN", help="What requests must bring.", show_default=False)
    ] = None,
    look_again: Annotated[
        float, typer.Option(help="Seconds until folders are looked at again.", min=0.1, max=86_400)
    ] = 5.0,
    queue: Annotated[int, typer.Option(help="Questions that may wait; others are refused.", min=1, max=10_000)] = 64,
    gather_ms: Annotated[
        float, typer.Option(help="Milliseconds in which questions are gathered; 0: one by one.", min=0, max=1000)
    ] = 2.0,
    deadline: Annotated[float, typer.Option(help="Seconds until a question is given up.", min=0.1, max=600)] = 10.0,
    grace: Annotated[
        float,
        typer.Option(help="Seconds beyond the deadline until a question makes it not ready.", min=0.1, max=86_400),
    ] = 30.0,
    give_up: Annotated[
        float,
        typer.Option(help="Seconds after that until the process ends, with exit code 70.", min=0.1, max=86_400),
    ] = 300.0,
    load_seconds: Annotated[
        float,
        typer.Option(help="Seconds for trying a run in a process of its own; 0: not tried.", min=0, max=86_400),
    ] = 120.0,
    load_memory: Annotated[
        float, typer.Option(help="GiB of memory that this process may take; 0: any number.", min=0, max=65_536)
    ] = 8.0,
    connections: Annotated[int, typer.Option(help="Connections that one address may hold.", min=1, max=100_000)] = 200,
    threads: Annotated[int, typer.Option(help="Threads of the matrix products; 0: all cores.", min=0, max=256)] = 0,
    device: Device = None,
) -> None:
    """Serve the answers of runs over HTTP, with a page to explore them."""
    ft.serve(
        runs, host=host, port=port, token=token or None, look_again=look_again, queue=queue,
        gather_seconds=gather_ms / 1000, deadline=deadline, grace=grace, give_up=give_up,
        load_seconds=load_seconds, load_memory=load_memory, connections=connections, threads=threads, device=device,
        ready=lambda address: note(f"foretime listens on {address}"), warn=note,
    )  # fmt: skip
