"""Configurations and run folders of earlier versions, rewritten so that this version reads them."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import tomli_w

from foretime.config import RENAMED, config_text, override, read_config, read_toml, with_new_names
from foretime.files import read_bytes, read_json, read_text, write_json, write_text
from foretime.runs.contents import CONFIG, MANIFEST, REPORT
from foretime.runs.finish import is_finished
from foretime.runs.folder import EARLIER, RunFolder
from foretime.runs.loading import load_model
from foretime.runs.manifest import Manifest, listed, read_manifest, write_changing, write_manifest, write_whole
from foretime.runs.old_trees import upgrade_trees
from foretime.runs.resuming import check_checkpoints, check_kept, checkpoints_of
from foretime.training.checkpoint import add_hash
from foretime.training.settings import complete_config

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
        ['config.toml: [combiner] is now called [reranker]', 'combiner.txt: now reranker.safetensors']
    """
    path = Path(path)
    if path.name == "config.toml" and any((path.parent / name).exists() for name in ("graph.json", "report.json")):
        path = path.parent
    if not path.is_dir():
        return _upgrade_config(path)
    run = RunFolder.find(path)
    with run.held():
        if (manifest := read_manifest(run.path)) is not None:
            return _add_keys_to_listed(run, manifest)
        notes = _upgrade_config(run.config_file)
        for file in sorted([run.report_file, *run.path.glob(f"{EARLIER}*.json")]):
            notes += _upgrade_report(file)
        notes += upgrade_trees(run)
        return notes + _add_keys(run) + _add_hashes(run) + _add_manifest(run)


def _upgrade_config(file: Path) -> list[str]:
    """Rewrite a configuration, by lines where that gives the same values, so that its comments stay."""
    values, notes = with_new_names(read_toml(file))
    if notes:
        text = _with_new_lines(read_text(file))
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


def _add_keys_to_listed(run: RunFolder, manifest: Manifest) -> list[str]:
    """Write the keys that are new since a run with a manifest was made; all else in it stays as it is listed.

    Stopped on its way, it leaves a manifest without the configuration, and does the rest when it is called again.
    """
    check_kept(run, manifest)
    if manifest.changing:
        return _add_keys(run)  # the command that is changing the run lists its configuration
    files = {name: one for name, one in manifest.files.items() if name != CONFIG.pattern}
    missing = run.missing_keys()
    if missing:
        complete_config(read_config(run.config_file))
        write_manifest(run.path, Manifest(files, ""))
    elif CONFIG.pattern in manifest.files:
        return []
    notes = _add_keys(run)
    changing = None if REPORT.pattern in files else manifest.changing  # one that is being changed lists no report
    write_manifest(run.path, Manifest({**files, CONFIG.pattern: listed(run.config_file)}, changing))
    return notes or [f"{MANIFEST}: lists the configuration again"]


def _add_keys(run: RunFolder) -> list[str]:
    """Write the keys that are new since the run was made, as it has been read without them."""
    values, config = read_toml(run.config_file), read_config(run.config_file)
    missing = run.missing_keys()
    if "slots" not in values.get("reranker", {}) and run.report_file.exists() and not run.has_slots(run.graph()):
        config = override(config, {"reranker.slots": False})  # it has answered without them
    if not missing:
        return []
    complete = complete_config(config)
    write_text(run.config_file, config_text(complete))
    return [f"{run.config_file.name}: {key} is new" for key in missing]


def _add_hashes(run: RunFolder) -> list[str]:
    """Give the checkpoints of the run, its members and its folds the hash of what they hold."""
    files = checkpoints_of(run, run.config())
    return [f"{file.relative_to(run.path)}: has a hash now" for file in files if add_hash(file)]


def _add_manifest(run: RunFolder) -> list[str]:
    """Write the manifest of a finished run, once all that can be checked without it was found whole."""
    if not run.report_file.exists():
        return []
    config, graph = run.config(), run.graph()
    check_checkpoints(run, config, graph)
    load_model(run, config, graph)
    if is_finished(run, graph, with_test=False):
        write_whole(run.path, read_bytes(run.report_file))
    else:
        write_changing(run.path, "", {"report", "reranker", "slots"})
    return [f"{MANIFEST}: lists the files of the run"]


def _upgrade_report(file: Path) -> list[str]:
    try:
        old = read_json(file)
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
