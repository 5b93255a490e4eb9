"""How long votes take to read, beside DuckDB's own grouping of the same file, and what memory.

    python benchmarks/reading.py                 10 million rows
    python benchmarks/reading.py --rows 50000000
    python benchmarks/reading.py --csv           a million rows of CSV, beside pandas, CPU seconds

Rows have string ids: 100,000 annotators, 1,000 items, 5 % ties, hardly any duplicates (the
worst case for grouping). Each measurement is a process of its own; times exclude the import.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

_MAKE = """
import duckdb
duckdb.sql('''COPY (
  SELECT 'annotator-' || (hash(i) % 100000) AS annotator,
         'item-' || (hash(i + 7) % 1000) AS "left",
         'item-' || ((hash(i + 7) + 1 + hash(i + 13) % 999) % 1000) AS "right",
         CASE WHEN hash(i + 99) % 20 = 0 THEN 'tie'
              WHEN hash(i + 99) % 2 = 0 THEN 'left' ELSE 'right' END AS choice
  FROM range({rows}) AS t(i)) TO '{path}' (FORMAT parquet)''')
"""

_MEASURE = """
import json, resource, time
{setup}
start = time.perf_counter()
{work}
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(json.dumps(dict(seconds=seconds, peak_gib=peak)))
"""

_SETUP = {
    "duckdb": "import duckdb; c = duckdb.connect(); c.execute('SET enable_progress_bar = false')",
    "prefpath": "from prefpath import read_votes",
}
_WORK = {
    "duckdb": """c.execute('''CREATE TEMP TABLE grouped AS
        SELECT annotator, "left", "right", choice, count(*) FROM '{path}' GROUP BY ALL''')""",
    "prefpath": "read_votes('{path}')",
}


_CSV_WORK = {
    "prefpath": ("from prefpath import read_votes", "read_votes(path)"),
    "pandas": (
        "import pandas as pd",
        "d = pd.read_csv(path); pd.factorize(d['annotator']); "
        "pd.factorize(pd.concat([d['left'], d['right']]))",
    ),
}
_CSV_MEASURE = """
import os, time
{setup}
path = "{path}"
for _ in range(2):  # the second is measured: libraries load on first use
    start = time.process_time()
    {work}
    seconds = time.process_time() - start
print(seconds)
"""


def compare_csv(rows: int, repeats: int) -> None:
    """CPU seconds from a CSV of names to integer codes, turn and turn about."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.csv"
        run(_MAKE.format(rows=rows, path=path).replace("FORMAT parquet", "FORMAT csv, HEADER"))
        print(f"{rows:,} rows, {path.stat().st_size / 2**20:,.0f} MiB of CSV")
        best = dict.fromkeys(_CSV_WORK, float("inf"))
        for _ in range(repeats):
            for who, (setup, work) in _CSV_WORK.items():
                code = _CSV_MEASURE.format(setup=setup, work=work, path=path)
                best[who] = min(best[who], float(run(code)))
    print(f"read_votes                   {best['prefpath']:6.2f} CPU s")
    print(f"pandas, factorized           {best['pandas']:6.2f} CPU s")


def run(code: str) -> str:
    """What a fresh process prints."""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout


def measure(who: str, path: Path) -> dict[str, float]:
    """Seconds and peak memory of one way of reading, in a process of its own."""
    code = _MEASURE.format(setup=_SETUP[who], work=_WORK[who].format(path=path))
    found: dict[str, float] = json.loads(run(code))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--csv", action="store_true", help="a million rows of CSV, beside pandas")
    arguments = parser.parse_args()
    if arguments.csv:
        compare_csv(min(arguments.rows, 1_000_000), arguments.repeats)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.parquet"
        run(_MAKE.format(rows=arguments.rows, path=path))
        print(f"{arguments.rows:,} rows, {path.stat().st_size / 2**20:,.0f} MiB of Parquet")
        # Turn and turn about, the best of each: the machine may be busy with other work.
        runs = [(measure("duckdb", path), measure("prefpath", path))
                for _ in range(arguments.repeats)]  # fmt: skip
    rival, own = (min((pair[k] for pair in runs), key=lambda r: r["seconds"]) for k in (0, 1))
    print(f"DuckDB GROUP BY ALL  {rival['seconds']:6.1f} s  peak {rival['peak_gib']:.2f} GiB")
    print(f"read_votes           {own['seconds']:6.1f} s  peak {own['peak_gib']:.2f} GiB")
    print(f"ratio of times       {own['seconds'] / rival['seconds']:6.2f}")


if __name__ == "__main__":
    main()
