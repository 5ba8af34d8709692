"""Damages of a file: its bits, its length, its place, what it is, and values that are changed as an editor would."""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

BLOCK = 64
HUGE = 6 << 30
"""The length of a file that takes no room on a disk: more than is ever read."""


class Damaged(NamedTuple):
    """A file that is damaged, and the others that it may be exchanged with."""

    file: Path
    others: list[Path]
    """The other files of its run."""
    twin: Path
    """The same file of another run, if that has it."""


Damage = Callable[[Damaged, random.Random], bool]
"""Damages a file; returns whether it could."""


def damage_of_bytes(change: Callable[[bytes, random.Random], bytes]) -> Damage:
    """Return the damage that changes the content of a file."""

    def damage(one: Damaged, draw: random.Random) -> bool:
        content = one.file.read_bytes()
        found = change(content, draw) if content else content
        one.file.write_bytes(found)
        return found != content

    return damage


def flip_a_bit(content: bytes, draw: random.Random) -> bytes:
    """Return the content with one bit changed."""
    place = draw.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << draw.randrange(8)]) + content[place + 1 :]


def change_a_byte(content: bytes, draw: random.Random) -> bytes:
    """Return the content with another byte of those that it has in the place of one."""
    place = draw.randrange(len(content))
    return content[:place] + bytes([draw.choice(content)]) + content[place + 1 :]


def cut_off(content: bytes, draw: random.Random) -> bytes:
    """Return the beginning of the content."""
    return content[: draw.randrange(len(content))]


def fill_with_zeros(content: bytes, draw: random.Random) -> bytes:
    """Return the content with zeros in the place of a block, as a power cut leaves it."""
    place = draw.randrange(len(content))
    end = min(len(content), place + draw.choice((1, BLOCK, 4096)))
    return content[:place] + bytes(end - place) + content[end:]


def repeat_a_block(content: bytes, draw: random.Random) -> bytes:
    """Return the content with one of its blocks twice."""
    place = draw.randrange(len(content))
    return content[: place + BLOCK] + content[place:]


def make_longer(content: bytes, draw: random.Random) -> bytes:
    """Return the content with something behind it."""
    return content + draw.choice((b"\n", b"\0", b"{}", content))


def change_a_value(content: bytes, draw: random.Random) -> bytes:
    """Return JSON, lines of it, or TOML with another value somewhere; anything else as it is."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return content
    for change in (_change_json, _change_lines, _change_toml):
        found = change(text, draw)
        if found is not None:
            return found.encode("utf-8")
    return content


def drop_a_line(content: bytes, draw: random.Random) -> bytes:
    """Return a text without one of its lines."""
    lines = content.splitlines(keepends=True)
    del lines[draw.randrange(len(lines))]
    return b"".join(lines)


def exchange_lines(content: bytes, draw: random.Random) -> bytes:
    """Return a text with two of its lines in each other's place."""
    lines = content.splitlines(keepends=True)
    first, second = draw.randrange(len(lines)), draw.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]
    return b"".join(lines)


def nest_deeply(_: bytes, draw: random.Random) -> bytes:
    """Return brackets within brackets."""
    return b"[" * draw.choice((2_000, 200_000))


def _change_json(text: str, draw: random.Random) -> str | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return json.dumps(_changed(found, draw), indent=2, ensure_ascii=False) + "\n"


def _change_lines(text: str, draw: random.Random) -> str | None:
    lines = text.splitlines()
    try:
        values = [json.loads(line) for line in lines]
    except ValueError:
        return None
    place = draw.randrange(len(lines))
    lines[place] = json.dumps(_changed(values[place], draw), ensure_ascii=False)
    return "\n".join(lines) + "\n"


def _change_toml(text: str, draw: random.Random) -> str | None:
    settings = list(re.finditer(r"(?m)^\w+ = (.*)$", text))
    if not settings:
        return None
    chosen = draw.choice(settings)
    old = chosen[1]
    number = re.fullmatch(r"-?\d+(\.\d+)?", old)
    new = {"true": "false", "false": "true"}.get(old, draw.choice(('"other"', "[]", "7", "0.5")))
    if number:
        new = str(draw.choice((json.loads(old) + 1, json.loads(old) * 2, -1, 2**63 - 1)))
    return text[: chosen.start(1)] + new + text[chosen.end(1) :]


def _changed(value: Any, draw: random.Random) -> Any:
    """Return a value of JSON with something in it changed."""
    if isinstance(value, dict) and value:
        key = draw.choice(list(value))
        if draw.random() < 0.2:
            return {name: inner for name, inner in value.items() if name != key}
        return {**value, key: _changed(value[key], draw)}
    if isinstance(value, list) and value:
        place = draw.randrange(len(value))
        return [*value[:place], _changed(value[place], draw), *value[place + 1 :]]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return draw.choice((value + 1, -value, value * 2, 10**18, None, str(value)))
    if isinstance(value, str):
        return draw.choice((f"{value}x", "", value[::-1], 3, None))
    return draw.choice((0, "x", [], {}))


def _delete(one: Damaged, _: random.Random) -> bool:
    one.file.unlink()
    return True


def _become(make: Callable[[Path], object]) -> Damage:
    def damage(one: Damaged, _: random.Random) -> bool:
        one.file.unlink()
        make(one.file)
        return True

    return damage


def _empty(one: Damaged, _: random.Random) -> bool:
    one.file.write_bytes(b"")
    return True


def _take_another(one: Damaged, draw: random.Random) -> bool:
    before = one.file.read_bytes()
    one.file.write_bytes(draw.choice(one.others).read_bytes())
    return one.file.read_bytes() != before


def _take_of_another_run(one: Damaged, _: random.Random) -> bool:
    if not one.twin.is_file() or one.twin.read_bytes() == one.file.read_bytes():
        return False
    one.file.write_bytes(one.twin.read_bytes())
    return True


def _swap(one: Damaged, draw: random.Random) -> bool:
    """Exchange a file with another of its kind, if there is one."""
    same = [other for other in one.others if other.suffix == one.file.suffix] or one.others
    other = draw.choice(same)
    first, second = one.file.read_bytes(), other.read_bytes()
    one.file.write_bytes(second)
    other.write_bytes(first)
    return first != second


def _grow(path: Path) -> None:
    path.touch()
    os.truncate(path, HUGE)


DAMAGES: dict[str, Damage] = {
    "a bit flipped": damage_of_bytes(flip_a_bit),
    "a byte changed": damage_of_bytes(change_a_byte),
    "cut off": damage_of_bytes(cut_off),
    "zeros in it": damage_of_bytes(fill_with_zeros),
    "a block twice": damage_of_bytes(repeat_a_block),
    "longer": damage_of_bytes(make_longer),
    "a value changed": damage_of_bytes(change_a_value),
    "a line dropped": damage_of_bytes(drop_a_line),
    "lines exchanged": damage_of_bytes(exchange_lines),
    "nested deeply": damage_of_bytes(nest_deeply),
    "deleted": _delete,
    "empty": _empty,
    "another file of the run": _take_another,
    "the file of another run": _take_of_another_run,
    "exchanged with another": _swap,
    "a folder": _become(Path.mkdir),
    "a named pipe": _become(os.mkfifo),
    "a link to itself": _become(lambda path: path.symlink_to(path.name)),
    "a device": _become(lambda path: path.symlink_to("/dev/zero")),
    "6 GiB of nothing": _become(_grow),
}
OFTEN = ("a bit flipped", "a byte changed", "cut off", "a value changed", "the file of another run")
"""Those with many forms, which are drawn more often."""
