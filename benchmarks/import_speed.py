"""Time and memory of importing GDELT: made-up rows of 61 columns, imported by a process of its own.

    python -m benchmarks.import_speed --rows 10000000 --out benchmarks/results/import_speed.json

The rows are written into a temporary folder, which is removed at the end: some files of 100,000 rows that differ, each
copied under many names with other days, as a day of GDELT follows another. About a third of the rows has an actor without
a name and a third is no root event, as in GDELT itself.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
from pathlib import Path

PER_FILE = 100_000
ACTORS = 20_000
CHILD = """
import json, resource, sys, time
import foretime
began = time.perf_counter()
report = foretime.import_gdelt(sys.argv[1], sys.argv[2])
seconds = time.perf_counter() - began
used = resource.getrusage(resource.RUSAGE_SELF)
dropped = {each.reason: each.rows for each in report.dropped}
print(json.dumps({
    "rows": report.read, "kept": report.kept, "merged": report.merged, "dropped": dropped, "facts": report.facts,
    "entities": report.entities, "seconds": round(seconds, 1), "processor_seconds": round(used.ru_utime + used.ru_stime, 1),
    "peak_mib": round(used.ru_maxrss / 1024),
}))
"""


def block(seed: int) -> str:
    """Return rows of one file, with `{day}` where the day stands."""
    draw = random.Random(seed)
    countries = ["USA", "CHN", "RUS", "GBR", "FRA", "DEU", "IND", "JPN", "BRA", "ZAF"]
    kinds = ["GOV", "MIL", "COP", "BUS", "EDU", "MED", "CVL", "OPP", ""]
    lines = []
    for number in range(PER_FILE):
        actors = []
        for _ in range(2):
            if draw.random() < 0.2:
                actors += [""] * 10
            else:
                actor = int(ACTORS * draw.random() ** 3)  # few actors are in most events
                country, kind = countries[actor % 10], kinds[actor % 9]
                actors += [f"{country}{kind}", f"ACTOR {actor}", country, "", "", "", "", kind, "", ""]
        root = draw.randint(1, 20)
        code = f"{root:02d}{draw.randint(0, 5)}"
        event = [
            "1" if draw.random() < 0.65 else "0",
            code,
            code,
            code[:2],
            str(root // 6 + 1),
            "1.9",
            "4",
            "1",
            "4",
            "-2.5",
        ]
        place = ["4", "Some City, Some Province, Some Country", "US", "USCA", "CA037", "34.0522", "-118.244", "1662328"]
        begin = [str(410_000_000 + number), "{day}", "{day:.6}", "{day:.4}", "2015.0833"]
        url = f"http://www.example.org/world/2015/{draw.randrange(10**9)}/some-headline-of-usual-length.html"
        lines.append("\t".join([*begin, *actors, *event, *place * 3, "{day}234500", url]))
    return "\n".join(lines) + "\n"


def generate(folder: Path, rows: int) -> int:
    """Write files of rows, and return their bytes."""
    blocks = [block(seed) for seed in range(3)]
    total = 0
    for number in range(-(-rows // PER_FILE)):
        wanted = min(PER_FILE, rows - number * PER_FILE)
        text = blocks[number % len(blocks)]
        text = text if wanted == PER_FILE else "".join(text.splitlines(keepends=True)[:wanted])
        day = f"2015{number // 28 % 12 + 1:02d}{number % 28 + 1:02d}"
        text = text.replace("{day}", day).replace("{day:.6}", day[:6]).replace("{day:.4}", day[:4])
        total += (folder / f"{day}{number:06d}.export.CSV").write_bytes(text.encode())
    return total


def main() -> None:
    """Generate, import in a child process, and write what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="foretime-import-") as name:
        raw = Path(name) / "raw"
        raw.mkdir()
        size = generate(raw, given.rows)
        load = os.getloadavg()[0]
        done = subprocess.run(
            [sys.executable, "-c", CHILD, str(raw), str(Path(name) / "graph")],
            capture_output=True,
            text=True,
            check=True,
        )
        written = {path.name: path.stat().st_size for path in sorted((Path(name) / "graph").iterdir())}
    found = json.loads(done.stdout) | {"bytes_read": size}
    found |= {"rows_per_second": round(found["rows"] / found["seconds"]), "bytes_written": written}
    found |= {"cores": os.cpu_count(), "machine": platform.machine(), "load": round(load, 1)}
    print(json.dumps(found, indent=2))
    if given.out:
        given.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
