"""Configurations and run folders of earlier versions, rewritten so that this version reads them."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import tomli_w

from foretime.config import RENAMED, read_config, read_toml, with_new_names
from foretime.data.graph import Graph
from foretime.errors import ForetimeError
from foretime.files import write_json, write_text
from foretime.reranker.features.extractor import graph_feature_names
from foretime.reranker.quantising import SHARED_NEIGHBOURS
from foretime.reranker.trees import HEADER, plain_names
from foretime.runs.folder import EARLIER, RunFolder

OLD_RERANKER = "combiner.txt"
_OLD_HEADER = re.compile(r"foretime combiner 2, top (\d+)")
"""Its trees are those of this version: only what they are called has changed since."""
_FEATURE_NAMES = re.compile(r"^feature_names=(.*)$", re.MULTILINE)
_KEYS = {"members": "ensemble_size", "combiner": "reranker", "first_stage": "base_model", "ends": "boundary_relations"}
_WORDS = {
    "reranker": {" parts": " folds"},
    "choice": {"the combiner was": "the re-ranker was"},
    "boundary_relations": {"alike": "shared", "apart": "separate"},
}
"""What the texts under a key say now."""
_SECTION = re.compile(r"\s*\[(\w+)\]")
_SETTING = re.compile(r"(\s*)(\w+)(\s*=\s*)(.*?)(\s*(?:#.*)?)")


def upgrade(path: Path | str) -> list[str]:
    """Rewrite a configuration file or a run folder of an earlier version; return what was changed, nothing if all fits.

    Comments of a configuration stay where they are. Raise an error if there is neither at that path.

        >>> upgrade("runs/icews14")
        ['config.toml: [combiner] is now called [reranker]', 'combiner.txt: now reranker.txt']
    """
    path = Path(path)
    if path.name == "config.toml" and any((path.parent / name).exists() for name in ("graph.json", "report.json")):
        path = path.parent
    if not path.is_dir():
        return _upgrade_config(path)
    run = RunFolder.open(path)
    with run.held():
        notes = _upgrade_config(run.config_file)
        for file in sorted([run.report_file, *run.path.glob(f"{EARLIER}*.json")]):
            notes += _upgrade_report(file)
        return notes + _upgrade_reranker(run)


def _upgrade_config(file: Path) -> list[str]:
    """Rewrite a configuration, by lines where that gives the same values, so that its comments stay."""
    values, notes = with_new_names(read_toml(file))
    if notes:
        text = _with_new_lines(file.read_text(encoding="utf-8"))
        try:
            same = tomllib.loads(text) == values
        except tomllib.TOMLDecodeError:
            same = False
        write_text(file, text if same else tomli_w.dumps(values))
        read_config(file)
    return [f"{file.name}: {note}" for note in notes]


def _with_new_lines(text: str) -> str:
    section, lines = "", []
    for line in text.splitlines():
        header, setting = _SECTION.match(line), _SETTING.fullmatch(line)
        if header:
            section = header[1]
            line = line.replace(f"[{section}]", f"[{RENAMED.get(section, section)}]", 1)
        elif setting:
            space, key, equals, value, rest = setting.groups()
            key = RENAMED.get(old := f"{section}.{key}", old).partition(".")[2]
            new_value = RENAMED.get(f"{old}={value.strip(chr(34))}", "").partition("=")[2]
            line = f"{space}{key}{equals}{json.dumps(new_value) if new_value else value}{rest}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def _upgrade_report(file: Path) -> list[str]:
    try:
        old = json.loads(file.read_bytes())
    except FileNotFoundError:
        return []
    except ValueError:  # a damaged report is written again by `--resume`
        return [f"{file.name}: damaged, left as it is"]
    new = upgraded(old)
    if new == old:
        return []
    write_json(file, new)
    return [f"{file.name}: keys and metrics have their new names"]


def upgraded(value: Any) -> Any:
    """Return a report or a row of results with the keys of this version, and every group of metrics flat.

    >>> upgraded({"combiner": None, "all": {"mrr": 0.5, "hits": {"1": 0.4}}})
    {'reranker': None, 'all': {'mrr': 0.5, 'hits@1': 0.4}}
    """
    if not isinstance(value, dict):
        return value
    found: dict[str, Any] = {}
    for old, inner in value.items():
        key = str(_KEYS.get(old, old))
        if key == "hits" and isinstance(inner, dict):
            found |= {f"hits@{k}": share for k, share in inner.items()}
        elif key == "predicates" and isinstance(inner, dict):  # by the names of the graph, which stay
            found[key] = {name: upgraded(group) for name, group in inner.items()}
        else:
            found[key] = upgraded(inner)
        for word, new in _WORDS.get(key, {}).items() if isinstance(inner, str) else ():
            found[key] = found[key].replace(word, new)
    return found


def _upgrade_reranker(run: RunFolder) -> list[str]:
    """Keep the trees if they have the features of this version; else remove them, and `--resume` fits them again."""
    file = run.path / OLD_RERANKER
    if not file.exists():
        return []
    trees = _kept_trees(file, run)
    if trees is not None:
        write_text(run.reranker_file, trees)
    file.unlink()
    if trees is not None:
        return [f"{OLD_RERANKER}: now {run.reranker_file.name}"]
    return [f"{OLD_RERANKER}: removed, its features have changed; foretime train --resume {run.path} fits it again"]


def _kept_trees(file: Path, run: RunFolder) -> str | None:
    try:
        head, _, body = file.read_text(encoding="utf-8").partition("\n")
        wanted = plain_names(graph_feature_names(Graph.load(run.path).has_intervals))
    except (ValueError, ForetimeError):
        return None
    header = _OLD_HEADER.fullmatch(head)
    body = _FEATURE_NAMES.sub(lambda line: re.sub(r"\bcompany", SHARED_NEIGHBOURS, line[0]), body)
    names = _FEATURE_NAMES.search(body)
    if header is None or names is None or names[1].split()[-len(wanted) :] != wanted:
        return None
    return f"{HEADER.format(top=header[1])}\n{body}"
