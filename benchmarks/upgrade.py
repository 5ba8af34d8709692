"""Give results and configurations that earlier versions have written the names of this version.

    python -m benchmarks.upgrade

rewrites `results`, `benchmarks/results` and `configs` in place. The hash of a configuration changes with the names of
its settings: those of the results are computed anew from the configurations that are still there; a hash of any other
configuration, such as those of `earlier`, stays as it is. What is up to date is left alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, combinations
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from foretime.config import Config, override, read_config
from foretime.experiments.bench.lists import read_list
from foretime.files import write_json, write_text
from foretime.runs.fingerprint import config_hash, seedless_hash, settings_hash, trained_settings

ROOT = Path(__file__).parents[1]


class Renamed(NamedTuple):
    """A setting that has another name, and maybe other values; without a key it is the section that was renamed."""

    section: str
    key: str
    old: str
    values: Mapping[str, str] = MappingProxyType({})


SETTINGS = (
    Renamed("reranker", "", "combiner"),
    Renamed("reranker", "fitted_folds", "parts"),
    Renamed("reranker", "feature_share", "column_share"),
    Renamed("training", "ensemble_size", "members"),
    Renamed("training", "boundary_relations", "ends", {"shared": "alike", "separate": "apart"}),
)
"""What a setting is called now and what it was called."""
KEYS = {"combiner": "reranker", "members": "ensemble_size", "ends": "boundary_relations", "first_stage": "base_model"}
VALUES = {"boundary_relations": {"alike": "shared", "apart": "separate"}}
WORDS = {"choice": ("the combiner was", "the re-ranker was"), "reranker": (" parts", " folds")}
"""What is called otherwise in the text under a key."""
CASES = {
    "first stage": "base model",
    "fitted on a part of train": "fitted on a fold of train",
    "control: fitted on a part of train, counts told exactly": "control: fitted on a fold of train, exact counts",
    "without company": "without shared neighbours",
    "only what the first stage says": "scores of the base model only",
}
"""What the cases of `benchmarks.reranker_choices` are called."""


def upgraded(value: Any) -> Any:
    """Return a report, a row of results or figures with the keys of this version and flat metrics.

    >>> upgraded({"combiner": None, "all": {"mrr": 0.5, "hits": {"1": 0.4}}})
    {'reranker': None, 'all': {'mrr': 0.5, 'hits@1': 0.4}}
    """
    if not isinstance(value, dict):
        return value
    found: dict[str, Any] = {}
    for key, own in value.items():
        name = KEYS.get(key, CASES.get(key, key))
        if key == "hits" and isinstance(own, dict):
            found |= {f"hits@{k}": share for k, share in own.items()}
        elif isinstance(own, str):
            found[name] = VALUES.get(name, {}).get(own, own).replace(*WORDS.get(name, ("", "")))
        else:
            found[name] = upgraded(own)
    return found


def earlier_hashes(config: Config) -> Iterator[str]:
    """Return every hash that a configuration has had, whichever of its settings had been renamed by then."""
    for renames in chain.from_iterable(combinations(SETTINGS, count) for count in range(len(SETTINGS) + 1)):
        settings = {name: dict(section) for name, section in trained_settings(config).items()}
        for renamed in sorted(renames, key=lambda one: not one.key):  # keys before their section
            section = settings.get(renamed.section, {})
            if renamed.key in section:
                value = section.pop(renamed.key)
                section[renamed.old] = renamed.values.get(str(value), value)
            elif not renamed.key and section:
                settings[renamed.old] = settings.pop(renamed.section)
        yield settings_hash(settings)


def hashes_of(configs: Iterable[Config]) -> dict[str, str]:
    """Return the hashes that configurations have now, by those that they have had, with and without their seed."""
    found = {}
    for config in configs:
        plain = override(config, {"training.seed": 0})
        found |= dict.fromkeys(earlier_hashes(plain), seedless_hash(config))
        found |= dict.fromkeys(earlier_hashes(config), config_hash(config))
    return found


def upgraded_row(row: dict[str, Any], hashes: dict[str, str]) -> dict[str, Any]:
    """Return a row of results with the names and hashes of this version."""
    row = upgraded(row)
    for key in ("config_hash", "seedless_hash"):
        if row.get(key):
            row[key] = hashes.get(row[key], row[key])
    if "earlier" in row:
        row["earlier"] = [hashes.get(own, own) for own in row["earlier"]]
    return row


def upgraded_config(text: str) -> str:
    """Return the text of a configuration with the names of its settings that this version has."""
    for renamed in SETTINGS:
        section = Config.model_fields[renamed.section].annotation
        if not renamed.key:
            text = re.sub(rf"(?m)^\[{renamed.old}\]$", f"[{renamed.section}]", text)
        elif section is not None and renamed.key in section.model_fields:
            text = re.sub(
                rf"(?ms)(^\[{renamed.section}\]$(?:(?!^\[).)*?^){renamed.old} = ", rf"\1{renamed.key} = ", text
            )
            for new, old in renamed.values.items():
                text = text.replace(f'{renamed.key} = "{old}"', f'{renamed.key} = "{new}"')
    return text


def known_configs(root: Path) -> Iterator[Config]:
    """Return the configurations that are there: of files, of lists, and of kept runs."""
    yield from map(read_config, [*root.glob("configs/*.toml"), *root.glob("results/*/config.toml")])
    for path in root.glob("configs/bench/*.toml"):
        yield from (planned.config for planned in read_list(path).planned)


def main(root: Path = ROOT) -> None:
    """Upgrade everything that is committed."""
    for path in [*root.glob("configs/**/*.toml"), *root.glob("results/*/config.toml")]:
        write_text(path, upgraded_config(path.read_text(encoding="utf-8")))
    for path in [*root.glob("results/*/report.json"), root / "results/audit.json", *root.glob("benchmarks/results/*")]:
        if path.suffix == ".json":
            write_json(path, upgraded(json.loads(path.read_text(encoding="utf-8"))))
    results = root / "results/bench.jsonl"
    rows = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    configs = list(known_configs(root))
    shorter = {epochs for row in rows for epochs in row.get("tested_before") or []}
    more = [override(config, {"training.epochs": epochs}) for config in configs for epochs in shorter]
    hashes = hashes_of([*configs, *more])
    rows = [upgraded_row(row, hashes) for row in rows]
    write_text(results, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    for row in rows:
        if row["config_hash"] not in hashes.values():
            print(f"{row['name']}: its configuration is not there any more; its hash {row['config_hash']} stays")


if __name__ == "__main__":
    main()
