"""Fetching, against a real server on this machine that can be told to misbehave."""

import hashlib
import http.server
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from foretime.data import catalog as catalog_module
from foretime.data import http as http_module
from foretime.data.catalog import CATALOG, PublicData, RemoteFile, download
from foretime.data.dated_cuts import DateCut
from foretime.errors import DataError, DownloadError

TEXT = "".join(f"Avaria\tMake a visit\tState {i}\t2024-01-01\n" for i in range(4000)).encode()
TABLE = b"entity\tid\tlabel\nQ1\t0\tone\nQ2\t1\ttwo\n"


@dataclass
class Server:
    """What the server has and does, and what it was asked."""

    files: dict[str, bytes]
    address: str = ""
    knows_ranges: bool = True
    cuts: list[int] = field(default_factory=list)
    """After how many bytes to drop the next connections."""
    requests: list[tuple[str, str | None]] = field(default_factory=list)


class Handler(http.server.BaseHTTPRequestHandler):
    server_state: Server

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        state, wanted = self.server_state, self.headers.get("Range")
        state.requests.append((self.path, wanted))
        content = state.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        begin = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and state.knows_ranges else 0
        if begin >= len(content):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(content)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if begin else 200)
        self.send_header("Content-Length", str(len(content) - begin))
        self.end_headers()
        body = content[begin:]
        self.wfile.write(body[: state.cuts.pop(0)] if state.cuts else body)


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server({"/small/train.txt": TEXT, "/there/names.txt": TABLE, "/there/train.txt": TEXT})
    handler = type("BoundHandler", (Handler,), {"server_state": state})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        state.address = f"http://127.0.0.1:{running.server_port}"
        thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield state
        running.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def quick_and_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_module, "PAUSE_SECONDS", 0.0)
    monkeypatch.delenv("FORETIME_SOURCE", raising=False)


def small(address: str = "http://unused.invalid", content: bytes = TEXT) -> dict[str, PublicData]:
    """A catalogue of one data set of one file."""
    digest = hashlib.sha256(content).hexdigest()
    return {"small": PublicData("a test", "https://example.org", (RemoteFile("train.txt", address, digest),))}


def test_a_data_set_is_fetched_whole_and_no_part_is_left(server, tmp_path):
    folder = download("small", tmp_path, catalog=small(f"{server.address}/there/train.txt"))
    assert folder == tmp_path / "small"
    assert [(file.name, file.read_bytes()) for file in folder.iterdir()] == [("train.txt", TEXT)]


def test_what_is_there_and_right_is_not_fetched_again(server, tmp_path):
    for _ in range(2):
        download("small", tmp_path, source=server.address, catalog=small())
    assert server.requests == [("/small/train.txt", None)]


def test_a_file_that_is_there_and_wrong_is_fetched_again(server, tmp_path):
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "train.txt").write_bytes(b"damaged")
    download("small", tmp_path, source=server.address, catalog=small())
    assert (tmp_path / "small" / "train.txt").read_bytes() == TEXT


def test_a_connection_that_is_cut_goes_on_where_it_stopped(server, tmp_path):
    server.cuts = [70_000]
    download("small", tmp_path, source=server.address, catalog=small())
    assert (tmp_path / "small" / "train.txt").read_bytes() == TEXT
    assert [wanted for _, wanted in server.requests] == [None, "bytes=70000-"]


def test_a_rerun_resumes_what_repeated_cuts_left(server, tmp_path):
    server.cuts = [1000, 500, 250]
    with pytest.raises(DownloadError, match=r"broke off after 1750 of .*\n.*again to resume"):
        download("small", tmp_path, source=server.address, catalog=small())
    assert (tmp_path / "small" / "train.txt.part").read_bytes() == TEXT[:1750]
    download("small", tmp_path, source=server.address, catalog=small())
    assert (tmp_path / "small" / "train.txt").read_bytes() == TEXT
    assert server.requests[-1] == ("/small/train.txt", "bytes=1750-")


def test_a_server_without_ranges_sends_the_file_from_the_start(server, tmp_path):
    server.knows_ranges = False
    server.cuts = [1000]
    download("small", tmp_path, source=server.address, catalog=small())
    assert (tmp_path / "small" / "train.txt").read_bytes() == TEXT


@pytest.mark.parametrize("part", [TEXT, TEXT + b"more"], ids=["whole", "too long"])
def test_a_part_that_is_whole_or_too_long_ends_as_the_file(server, tmp_path, part):
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "train.txt.part").write_bytes(part)
    download("small", tmp_path, source=server.address, catalog=small())
    assert (tmp_path / "small" / "train.txt").read_bytes() == TEXT
    assert len(server.requests) == (1 if part == TEXT else 2)


def test_a_wrong_checksum_puts_the_file_aside_and_says_what_to_do(server, tmp_path):
    folder = tmp_path / "small"
    with pytest.raises(
        DownloadError, match=r"not the published one.*sha256.*\n.*by hand.*https://example.org"
    ) as caught:
        download("small", tmp_path, source=server.address, catalog=small(content=b"other"))
    assert str(folder) in str(caught.value)
    assert [file.name for file in folder.iterdir()] == ["train.txt.wrong"]


def test_a_missing_file_names_the_address_the_folder_and_the_page(server, tmp_path):
    del server.files["/small/train.txt"]
    with pytest.raises(DownloadError, match="404") as caught:
        download("small", tmp_path, source=server.address, catalog=small())
    for part in (f"{server.address}/small/train.txt", str(tmp_path / "small"), "https://example.org", "again"):
        assert part in str(caught.value)


def test_a_refused_connection_names_the_address(tmp_path):
    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as closed:
        address = f"http://127.0.0.1:{closed.server_port}"
    with pytest.raises(DownloadError, match="cannot be reached") as caught:
        download("small", tmp_path, source=address, catalog=small())
    assert f"{address}/small/train.txt" in str(caught.value)


def test_a_silent_server_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(http_module, "TIMEOUT_SECONDS", 0.05)
    # A listening socket that nobody answers: connections are accepted by the system and stay silent.
    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as silent:
        address = f"http://127.0.0.1:{silent.server_port}"
        with pytest.raises(DownloadError, match=r"broke off \(timed out\), 3 times"):
            download("small", tmp_path, source=address, catalog=small())


def test_an_address_that_is_no_web_address_is_refused(tmp_path):
    with pytest.raises(DownloadError, match="should begin with https://"):
        download("small", tmp_path, source="file:///etc", catalog=small())


def test_the_environment_may_name_a_mirror(server, tmp_path, monkeypatch):
    monkeypatch.setenv("FORETIME_SOURCE", server.address + "/")
    download("small", tmp_path, catalog=small())
    assert server.requests == [("/small/train.txt", None)]


def test_the_header_and_further_columns_of_a_copy_are_left_out(server, tmp_path):
    kept = b"Q1\t0\nQ2\t1\n"
    file = RemoteFile("names.txt", f"{server.address}/there/names.txt", hashlib.sha256(kept).hexdigest(), columns=2)
    download("small", tmp_path, catalog={"small": PublicData("a test", "https://example.org", (file,))})
    assert (tmp_path / "small" / "names.txt").read_bytes() == kept


def test_a_mirror_has_the_files_as_they_are_kept(server, tmp_path):
    kept = server.files["/small/names.txt"] = b"Q1\t0\nQ2\t1\n"
    file = RemoteFile("names.txt", "https://unused.invalid", hashlib.sha256(kept).hexdigest(), columns=2)
    data = {"small": PublicData("a test", "https://example.org", (file,))}
    download("small", tmp_path, source=server.address, catalog=data)
    assert (tmp_path / "small" / "names.txt").read_bytes() == kept


def test_progress_ends_with_the_size_of_the_file(server, tmp_path):
    seen = []
    download("small", tmp_path, source=server.address, catalog=small(), progress=lambda *step: seen.append(step))
    assert seen[0] == ("train.txt", 0, len(TEXT))
    assert seen[-1] == ("train.txt", len(TEXT), len(TEXT))


def test_an_unknown_name_is_met_with_the_nearest(tmp_path):
    with pytest.raises(DataError, match="did you mean 'icews14'"):
        download("icews-14", tmp_path)


def test_a_folder_that_cannot_be_made_is_an_error_with_its_name(server, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DownloadError, match="cannot be written"):
        download("small", tmp_path / "file", source=server.address, catalog=small())


@pytest.mark.parametrize("name", CATALOG)
def test_every_entry_has_the_three_splits_over_https_and_a_checksum(name):
    files = CATALOG[name].files
    assert {"train.txt", "valid.txt", "test.txt"} <= {file.name for file in files}
    assert all(file.address.startswith("https://") and len(file.sha256) == 64 for file in files)


def test_the_folder_of_data_sets_follows_the_environment(monkeypatch):
    monkeypatch.setenv("FORETIME_DATA", "/some/where")
    assert str(catalog_module.data_folder()) == "/some/where"
    monkeypatch.delenv("FORETIME_DATA")
    assert str(catalog_module.data_folder()) == "data"


def test_a_forecasting_split_is_cut_out_of_the_dataset_that_it_is_made_of(server, tmp_path):
    rows = [f"a\tp\tb{day}\t2014-0{day}-01\n" for day in range(1, 7)]
    shuffled = {"train": rows[3:], "valid": rows[:1], "test": rows[1:3]}
    wanted = {"train": "".join(rows[3:4] + rows[:1] + rows[1:3]), "valid": rows[4], "test": rows[5]}
    server.files |= {f"/whole/{split}.txt": "".join(part).encode() for split, part in shuffled.items()}

    def files(content):
        sums = {split: hashlib.sha256(text.encode()).hexdigest() for split, text in content.items()}
        return tuple(RemoteFile(f"{split}.txt", "https://unused.invalid", digest) for split, digest in sums.items())

    data = {
        "whole": PublicData("", "https://example.org", files({k: "".join(v) for k, v in shuffled.items()})),
        "cut": PublicData("", "https://example.org", files(wanted), DateCut("whole", "2014-05-01", "2014-06-01")),
    }
    for _ in range(2):
        folder = download("cut", tmp_path, source=server.address, catalog=data)
    assert {split: (folder / f"{split}.txt").read_text() for split in wanted} == wanted
    assert len(server.requests) == 3


@pytest.mark.real
@pytest.mark.parametrize("name", [name for name, data in CATALOG.items() if data.cut])
def test_the_published_cuts_have_their_checksums(real_data, tmp_path, name):
    cut = CATALOG[name].cut
    catalog_module.cut_by_date(real_data / cut.dataset, tmp_path, cut)
    assert all(
        hashlib.sha256((tmp_path / file.name).read_bytes()).hexdigest() == file.sha256 for file in CATALOG[name].files
    )
