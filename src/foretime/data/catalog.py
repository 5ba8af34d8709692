"""Public datasets that `foretime data get` fetches: what they are made of, where they are, and how they are checked.

ICEWS14 and ICEWS05-15 come from the repository mniepert/mmkb. Wikidata12k comes from malllabiisc/HyTE, which only links
an archive on a file-sharing site; here its facts come from a copy in soledad921/ATISE, and its names from one in
cs-23-mi-10-01/P10 that has a header and further columns, which are left out. Neither copy is kept by the authors of the
data, so only the checksum is trusted: a file is, byte for byte, the one that the field uses, or there is an error.

The forecasting splits of ICEWS14 (A: RE-GCN and those after it; B: TLogic, xERTE) and of ICEWS05-15 are cut by date out
of the same files. YAGO comes from nec-research/recurrency_baseline_tkg, split as RE-Net has it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from foretime.data.dated_cuts import DateCut, cut_by_date
from foretime.data.http import fetch
from foretime.data.splitting import SPLITS
from foretime.errors import DataError, DownloadError, suggestion
from foretime.files import make_folder, sha256_of
from foretime.tables import Table

SOURCE_VARIABLE = "FORETIME_SOURCE"
FOLDER_VARIABLE = "FORETIME_DATA"
RAW = "https://raw.githubusercontent.com"
MMKB = f"{RAW}/mniepert/mmkb/master/TemporalKGs"
ATISE = f"{RAW}/soledad921/ATISE/a35b57084b535d37342b29ac80e1246aee308ae3/wikidata"
YAGO = f"{RAW}/nec-research/recurrency_baseline_tkg/c8be6cc2122a7318494aeb3abc70acdba329043e/data/YAGO"
P10 = f"{RAW}/cs-23-mi-10-01/P10"
P10_ENTITIES = f"{P10}/46b668e89376052b39dbba413f79bceddec4c2e1/graphs/wikidata12k/entity2id.txt"
P10_RELATIONS = f"{P10}/16247608292a877d04ebaaa73c31764325dfe25c/graphs/wikidata12k/relation2id.txt"

Progress = Callable[[str, int, int | None], None]
"""Called with the name of a file, the bytes that are there, and those that it will have, if known."""


class RemoteFile(NamedTuple):
    """One file of a dataset: its name here, its address there, and the checksum of what is kept."""

    name: str
    address: str
    sha256: str
    columns: int | None = None
    """Only so many first columns are kept, without the header row; not given: the file is kept as it is."""


class PublicData(NamedTuple):
    """A dataset that can be fetched."""

    description: str
    home: str
    """The page where a reader finds the data and its licence."""
    files: tuple[RemoteFile, ...]
    cut: DateCut | None = None
    """Where the files are made of those of another dataset; their addresses are then the latter's."""


def _splits(address: str, *sums: str) -> tuple[RemoteFile, ...]:
    """Return the files of the three splits, whose addresses have SPLIT in place of the name of the split."""
    return tuple(
        RemoteFile(f"{split}.txt", address.replace("SPLIT", split), sha256)
        for split, sha256 in zip(SPLITS, sums, strict=True)
    )


CATALOG: dict[str, PublicData] = {
    "icews14": PublicData(
        "political events of 2014, by day",
        "https://github.com/mniepert/mmkb (TemporalKGs/icews14)",
        _splits(
            f"{MMKB}/icews14/icews_2014_SPLIT.txt",
            "a6c7922dcbe406b3e292a313b4eab191e2399c3bc4810f662bb4363043a93df6",
            "23dfa5cd6f3bb5421efcc30fc03bed0e8de4c2cf251d1765ff722d6f8b15dbe3",
            "50d53602409a3dbaca2f13d9c7e30bf7311d8c1868fac890dc0c2836118b4cb4",
        ),
    ),
    "icews05-15": PublicData(
        "political events of 2005 to 2015, by day",
        "https://github.com/mniepert/mmkb (TemporalKGs/icews05-15)",
        _splits(
            f"{MMKB}/icews05-15/icews_2005-2015_SPLIT.txt",
            "b736c7827497da10e0c51befdb0b5797f957d3bc264fa125543f729b22cd321d",
            "404516f2da966c563ab6d81f1355ec5c67a9aa77c111bf712429e65136162b23",
            "d034cd94ace08279639526cbe2ce34829562941ddd1301e6afa9e0ffa7a5b160",
        ),
    ),
    "icews14-a": PublicData(
        "ICEWS14 for forecasts: valid is November, test December",
        "https://github.com/mniepert/mmkb (TemporalKGs/icews14)",
        _splits(
            f"{MMKB}/icews14/icews_2014_SPLIT.txt",
            "074f8f261be5d92a8f0654c95261a5b31d9de4e1d3a3c11a73d62c72157d12fa",
            "239913d1cf6b025a6b1671a779415b580b26571a7bbe3998ebde7a520aaae58f",
            "2a9c146bb2def5d7f1f0ebadabda8e86a38f199cb9f3e93aaabaf29494985217",
        ),
        DateCut("icews14", "2014-11-01", "2014-12-01"),
    ),
    "icews14-b": PublicData(
        "ICEWS14 for forecasts: valid from 20 September, test from 11 November",
        "https://github.com/mniepert/mmkb (TemporalKGs/icews14)",
        _splits(
            f"{MMKB}/icews14/icews_2014_SPLIT.txt",
            "611f9d1d669c44fe900777b07ef42841cefd1b101a3cab415e9a018f15b7590d",
            "dc21759192fd4a6a1ae88a67dc136e4aad2e2a78e5981a63bf40abba5deeab48",
            "17eebfff30f660ad9b4a0d96e8151d7820a61469c688febe0c2a34fbe71560e3",
        ),
        DateCut("icews14", "2014-09-20", "2014-11-11"),
    ),
    "icews05-15-forecast": PublicData(
        "ICEWS05-15 for forecasts: valid from 18 November 2013, test from 27 December 2014",
        "https://github.com/mniepert/mmkb (TemporalKGs/icews05-15)",
        _splits(
            f"{MMKB}/icews05-15/icews_2005-2015_SPLIT.txt",
            "2632bd26b05ac58e9fa003be086695e57fd556fc2cf465b931eec86abcda8636",
            "d973ead371af4be030c4ecabaa745dd2e10bd74d4b565e5d9712bd6933610db7",
            "15a4a08f4190ca174888a6a652e5804583a4f52a00c4b3dc9055ceb5db07c806",
        ),
        DateCut("icews05-15", "2013-11-18", "2014-12-27"),
    ),
    "yago": PublicData(
        "facts of YAGO by year, for forecasts, as RE-Net splits them",
        "https://github.com/nec-research/recurrency_baseline_tkg (data/YAGO)",
        (
            *_splits(
                f"{YAGO}/SPLIT.txt",
                "31f78c30627ffe143940a5dadf06562602944e58f1c766481e894a366561f7ec",
                "c99d9d520264a9f0f8ef5774436f0d3941fbb3637181b6f2ad0dd665da9d2bb2",
                "9b2c808c89f9045ddbc92983b84e88333fa1ce695abacd4f2531d47d9df5248a",
            ),
            RemoteFile(
                "entity2id.txt",
                f"{YAGO}/entity2id.txt",
                "3a5482d19f80b3936ca735ea105db799f5c500b170c57f7a59f0ea2650231789",
            ),
            RemoteFile(
                "relation2id.txt",
                f"{YAGO}/relation2id.txt",
                "83e460205fa11720980c814aa99d70b4ec42ff9571f7ce9915390e262fc8dc34",
            ),
        ),
    ),
    "wikidata12k": PublicData(
        "facts of Wikidata with the years in which they hold",
        "https://github.com/malllabiisc/HyTE (its page links an archive with the same facts)",
        (
            *_splits(
                f"{ATISE}/SPLIT.txt",
                "90b42097c9741fada0f81fc5f1be1cb3c0eb0f8bfcf3f5de833dd252b98d069b",
                "ade5b9c50b985fcf4948b7edde69c65ff8b7c993ea545cd40dc62fc70b5e2e52",
                "f9d6b1bbeba58e94298a5655485b7ca3d1d449ba310b8755b32abafc5ec1da6f",
            ),
            RemoteFile(
                "entity2id.txt", P10_ENTITIES, "307628d198b9369b650d46bb88980b38ed0957a9e8148227c94907f9b2804f01", 2
            ),
            RemoteFile(
                "relation2id.txt", P10_RELATIONS, "50e6d3c632dde882c8a84aece1eda1f640f4a79a184033eb0941c10dad90e517", 2
            ),
        ),
    ),
}


def datasets() -> Table:
    """Return the public datasets that `download` fetches: name, description, number of files, and home page.

    print(foretime.datasets())
    """
    rows = ((name, data.description, len(data.files), data.home) for name, data in CATALOG.items())
    return Table(("name", "description", "files", "home"), tuple(rows))


def download(
    name: str,
    folder: Path | str | None = None,
    *,
    source: str | None = None,
    progress: Progress | None = None,
    catalog: Mapping[str, PublicData] = CATALOG,
) -> Path:
    """Return `folder/name`, in which every file of a public dataset now is, checked by its checksum.

    A file that is there and right is not fetched again, and one that was fetched in part is resumed. Without a folder,
    it is that of the environment variable FORETIME_DATA, or `data`; there `load` finds datasets by their names.
    `source`, or the environment variable FORETIME_SOURCE, names a mirror that has the files as they are kept here:
    `SOURCE/icews14/train.txt`. `progress` is called with a file's name, the bytes that are there, and their number.

    Raises `DataError` for an unknown name, and `DownloadError`, with what to do, if a file cannot be fetched.

        foretime.download("icews14")
        graph = foretime.load("icews14")
    """
    if name not in catalog:
        raise DataError(f"unknown dataset {name!r}; there are: {', '.join(catalog)}{suggestion(name, catalog)}")
    target = Path(folder or data_folder()) / name
    base = source or os.environ.get(SOURCE_VARIABLE) or None
    try:
        make_folder(target)
        if (cut := catalog[name].cut) is not None and not _all_right(target, catalog[name]):
            made_of = download(cut.dataset, target.parent, source=source, progress=progress, catalog=catalog)
            cut_by_date(made_of, target, cut)
            if not _all_right(target, catalog[name]):
                raise DownloadError(f"{target}: the files of {made_of} were cut, and are not the published split")
        for file in catalog[name].files:
            if base is not None:  # a mirror has the file without a header and in its place
                file = RemoteFile(file.name, f"{base.rstrip('/')}/{name}/{file.name}", file.sha256)
            if not _is_right(target / file.name, file.sha256):
                _fetch_file(file, target, catalog[name].home, progress or (lambda *_: None))
    except OSError as error:
        raise DownloadError(f"{target}: cannot be written: {error}; choose another folder") from error
    return target


def data_folder() -> Path:
    """Return the folder of downloaded datasets: that of the environment variable FORETIME_DATA, or `data`."""
    return Path(os.environ.get(FOLDER_VARIABLE) or "data")


def _is_right(path: Path, sha256: str) -> bool:
    return path.is_file() and sha256_of(path) == sha256


def _all_right(folder: Path, data: PublicData) -> bool:
    return all(_is_right(folder / file.name, file.sha256) for file in data.files)


def _fetch_file(file: RemoteFile, target: Path, home: str, progress: Progress) -> None:
    path, part = target / file.name, target / f"{file.name}.part"
    remedy = (
        f"Try again to resume where it stopped, or get {file.name} by hand from {home} and put it into {target}; "
        f"a mirror can be named with {SOURCE_VARIABLE}"
    )
    try:
        fetch(file.address, part, partial(progress, file.name))
    except DownloadError as error:
        raise DownloadError(f"{error}\n{remedy}") from error
    if file.columns is not None:
        _keep_columns(part, file.columns)
    if not _is_right(part, file.sha256):
        wrong = part.replace(target / f"{file.name}.wrong")
        raise DownloadError(
            f"{file.address}: the file that came is not the published one (its sha256 should be {file.sha256}); "
            f"it was put aside as {wrong}\n{remedy}"
        )
    part.replace(path)


def _keep_columns(path: Path, columns: int) -> None:
    """Rewrite a table without its header row and without the columns after the first ones."""
    rows = path.read_text(encoding="utf-8", errors="replace").split("\n")[1:]
    kept = ("\t".join(row.split("\t")[:columns]) for row in rows)
    path.write_text("\n".join(kept), encoding="utf-8", newline="\n")
