"""Give the committed results and configurations of earlier versions the names of this version.

    python -m benchmarks.upgrade

rewrites `results` and `configs` in place, as `foretime upgrade` does with one run. The hash of a configuration changes
with the names of its settings: those of the results are computed anew from the configurations that are still there; a
hash of any other configuration, such as those of `earlier`, stays as it is. What is up to date is left alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain, combinations
from pathlib import Path
from typing import Any

from foretime.config import RENAMED, Config, override, read_config
from foretime.experiments.bench.lists import read_list
from foretime.files import write_text
from foretime.runs.fingerprint import config_hash, seedless_hash, settings_hash, trained_settings
from foretime.runs.upgrade import upgrade, upgraded

ROOT = Path(__file__).parents[1]
EARLIER_NAMES = {new: old for old, new in RENAMED.items()}


def earlier_hashes(config: Config) -> Iterator[str]:
    """Return every hash that a configuration has had, whichever of its settings had been renamed by then."""
    renamed = sorted((name for name in EARLIER_NAMES if "=" not in name), key=lambda name: "." not in name)
    trained = trained_settings(config)
    for names in chain.from_iterable(combinations(renamed, count) for count in range(len(renamed) + 1)):
        settings = {name: dict(section) for name, section in trained.items()}
        for name in names:  # keys before their section
            section, _, key = name.partition(".")
            if key in settings.get(section, {}):
                value = settings[section].pop(key)
                earlier = EARLIER_NAMES.get(f"{name}={value}", "").partition("=")[2]
                settings[section][EARLIER_NAMES[name].partition(".")[2]] = earlier or value
            elif not key and section in settings:
                settings[EARLIER_NAMES[section]] = settings.pop(section)
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


def known_configs(root: Path) -> Iterator[Config]:
    """Return the configurations that are there: of files, of lists, and of kept runs."""
    yield from map(read_config, [*root.glob("configs/*.toml"), *root.glob("results/*/config.toml")])
    for path in root.glob("configs/bench/*.toml"):
        yield from (planned.config for planned in read_list(path).planned)


def main(root: Path = ROOT) -> None:
    """Upgrade everything that is committed."""
    for path in [*root.glob("configs/*.toml"), *root.glob("configs/ablation/*.toml"), *root.glob("results/*/")]:
        upgrade(path)
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
