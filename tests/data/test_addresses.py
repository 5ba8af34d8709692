"""Addresses of databases: what is one, what is wrong with one, and that no password is ever shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import foretime
from foretime.config import Config, DataConfig, check_section, override, read_config, without_password
from foretime.data.databases import parse_address
from foretime.errors import ConfigError, DataError, ForetimeError

SECRET = "hush"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://ann:hush@host:5432/db", "postgresql://ann@host:5432/db"),
        ("postgres://ann:hush@host/db?sslmode=require", "postgres://ann@host/db?sslmode=require"),
        ("postgresql://ann@host/db?password=hush", "postgresql://ann@host/db"),
        ("postgresql://host/db?PASSWORD=hush&sslmode=off&sslpassword=hush", "postgresql://host/db?sslmode=off"),
        ("postgresql:///db?host=/tmp&user=ann", "postgresql:///db?host=/tmp&user=ann"),
        ("postgresql://ann:hu%40sh@[::1]:5432,b:1/db", "postgresql://ann@[::1]:5432,b:1/db"),
        ("postgresql://ann:hush?x@host/db", "postgresql://ann@host/db"),
        ("postgresql://ann:hush@host?host=/tmp", "postgresql://ann@host?host=/tmp"),
        ("postgresql://:hush@/", "postgresql://@/"),
    ],
)
def test_an_address_is_shown_without_its_password(address: str, shown: str) -> None:
    assert without_password(address) == shown
    found = parse_address(address)
    assert found is not None
    assert (found.kind, found.target, found.shown) == ("postgresql", address, shown.partition("?")[0])
    assert SECRET not in repr(found)


@pytest.mark.parametrize("text", ["duckdb:a.db", "events.tsv", "a:b.tsv", "C:/data/x.tsv", "/a/b@c:d", "", "x://a/b"])
def test_what_has_no_password_stays_as_it_is(text: str) -> None:
    assert without_password(text) == text


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("postgresql://ann:hu@hush@host/db", "an @ in the address stands where none can be; write @"),
        ("postgresql://ann:hush/x@host/db", "an @ in the address stands where none can be"),
        ("postgresql://host:hush/db", "the port in the address is no number"),
        ("postgresql://ann:5:hush", "the port in the address is no number"),
        ("postgresql:ann:hush@host/db", "the address is no URL; write postgresql://USER@HOST/DATABASE"),
        ("postgresql:/ann:hush@host/db", "the address is no URL"),
        ("postgresq://ann:hush@host/db", "postgresq: is no source that can be read; did you mean 'postgresql'"),
        (
            "mysql://ann:hush@host/db",
            "mysql: is no source that can be read; databases are duckdb:, sqlite:, postgresql:",
        ),
        ("https://ann:hush@host/events.csv", "https: is no source that can be read"),
    ],
)
def test_a_malformed_address_is_refused_without_being_shown(address: str, message: str, tmp_path: Path) -> None:
    for source in (address, {"train": address}):
        with pytest.raises(DataError, match=message) as caught:
            foretime.load(source)
        assert SECRET not in str(caught.value)
    with pytest.raises(DataError) as split:
        foretime.split_file(address, tmp_path)
    assert SECRET not in str(split.value)


@given(st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S", "Zs"])), st.booleans())
def test_no_password_of_any_form_is_shown(password: str, path: bool) -> None:
    address = f"postgresql://ann:{password}hush@127.0.0.1:1/db"
    with pytest.raises(ForetimeError) as caught:
        foretime.load(Path(address) if path else address, query="select 1")
    assert SECRET not in str(caught.value)


def test_a_configuration_holds_no_password(tmp_path: Path) -> None:
    address, told = "postgresql://ann:hush@host/db", "data.path holds a password, and a configuration is kept; leave it"
    (tmp_path / "a.toml").write_text(f'[data]\npath = "{address}"\n')
    for attempt in (
        lambda: read_config(tmp_path / "a.toml"),
        lambda: override(Config(), {"data.path": address}),
        lambda: check_section(DataConfig, {"path": address}, "", "data."),
        lambda: foretime.train(model="complex", settings={"data.path": address}),
    ):
        with pytest.raises(ConfigError, match=told) as caught:
            attempt()
        assert SECRET not in str(caught.value)


def test_an_address_in_a_mapping_is_refused_with_a_way_out() -> None:
    with pytest.raises(DataError, match="the mapping: 'train' is the address of a database; give what is selected"):
        foretime.load({"train": "postgresql://ann:hush@host/db"})
