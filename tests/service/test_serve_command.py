"""`foretime serve`: what it refuses to do, and how it says so."""

import re
import shutil
import sys
from pathlib import Path

import pytest

from foretime.errors import ConfigError
from foretime.service import server
from foretime.service.folders import check_folders, find_runs
from foretime.service.server import check_settings
from foretime.service.settings import Settings, is_loopback


def run_serve(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[object, str]:
    from foretime.cli import main

    monkeypatch.setattr(sys, "argv", ["foretime", "serve", *words])
    with pytest.raises(SystemExit) as stopped:
        main()
    return stopped.value.code, capsys.readouterr().err


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.4", "::", "example.org"])
def test_another_address_than_loopback_demands_a_token(host: str, monkeypatch, capsys, runs_folder: Path):
    monkeypatch.delenv("FORETIME_TOKEN", raising=False)
    code, words = run_serve(monkeypatch, capsys, str(runs_folder), "--host", host)
    assert code == 2
    assert f"{host} can be reached from elsewhere; give a token" in words


def test_a_token_must_not_be_guessable():
    with pytest.raises(ConfigError, match="at least 16 random characters"):
        check_settings(Settings(token="secret"))
    check_settings(Settings(host="0.0.0.0", token="0123456789abcdef"))


@pytest.mark.parametrize(
    ("host", "local"),
    [
        *((host, True) for host in ("127.0.0.1", "localhost", "::1", "[::1]", "127.8.8.8")),
        *((host, False) for host in ("0.0.0.0", "localhost.x", "::", "")),
    ],
)
def test_loopback_is_what_only_this_machine_can_reach(host: str, local: bool):
    assert is_loopback(host) is local


def test_folders_must_be_there_and_names_differ(tmp_path: Path, runs_folder: Path, monkeypatch, capsys):
    code, words = run_serve(monkeypatch, capsys, str(tmp_path / "none"))
    assert code == 2
    assert "no such folder" in words
    (tmp_path / "small").symlink_to(runs_folder / "small")
    assert check_folders([runs_folder, runs_folder / "small", tmp_path]) == []  # the same run, by three ways
    (tmp_path / "other" / "small").mkdir(parents=True)
    for name in ("config.toml", "report.json"):
        (tmp_path / "other" / "small" / name).write_text("")
    [warning] = check_folders([runs_folder, tmp_path / "other"])
    assert f"{runs_folder / 'small'} and {tmp_path / 'other' / 'small'} have the same name" in warning
    assert f"only {runs_folder / 'small'} is served" in warning


def test_two_runs_of_one_name_in_one_folder_are_found(tmp_path: Path, runs_folder: Path):
    (tmp_path / "elsewhere").mkdir()
    shutil.copytree(runs_folder / "small", tmp_path / "elsewhere" / "small")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "a").symlink_to(runs_folder / "small")
    (tmp_path / "runs" / "b").symlink_to(tmp_path / "elsewhere" / "small")
    assert find_runs([tmp_path / "runs"]).doubles == {"small": [tmp_path / "runs" / "a", tmp_path / "runs" / "b"]}
    assert len(check_folders([tmp_path / "runs"])) == 1


def test_a_port_in_use_is_an_error(live, runs_folder: Path, monkeypatch, capsys):
    code, words = run_serve(monkeypatch, capsys, str(runs_folder), "--port", str(live.port))
    assert code == 2
    assert "choose another --port" in words


def test_without_the_extra_it_says_how_to_install_it(runs_folder: Path, monkeypatch, capsys):
    for name in [name for name in sys.modules if name.startswith("foretime.service")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    code, words = run_serve(monkeypatch, capsys, str(runs_folder))
    assert code == 2
    assert "uvicorn is not installed; pip install 'foretime[serve]'" in words


def test_it_needs_nothing_that_only_posix_has():
    sources = [path.read_text(encoding="utf-8") for path in Path(server.__file__).parent.glob("*.py")]
    assert not [text for text in sources if re.search(r"^(import|from) (uvloop|resource|fcntl)\b", text, re.MULTILINE)]
