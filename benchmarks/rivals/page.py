"""docs/rivals.md and its figures from the JSON of `bench.py`; by hand are only the notes in it.

python benchmarks/rivals/page.py                                  # from results/selection.json
python benchmarks/rivals/page.py all.json --out docs/rivals.md
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from string import Template
from typing import Any

from pictures import draw_costs, draw_scaling

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OURS = "prefpath"
# What counts, and from where a difference is more than noise of one run on a busy machine.
COSTS = {"cpu": ("CPU seconds", 1.2), "memory": ("MiB beyond the input", 1.2)}
RANK_COLUMNS = {"cpu": "CPU s", "memory": "MiB", "rmse": "RMSE", "tau": "tau", "excess": "excess"}
PATH_COLUMNS = {"cpu": "CPU s", "memory": "MiB", "wrong": "share wrong", "log_loss": "log-loss"}
FIND_COLUMNS = {
    "auc": "AUC",
    "power": "power",
    "false_share": "false share",
    "rmse": "RMSE",
    "tau": "tau",
}
Record = dict[str, Any]


def grouped(records: Iterable[Record], keys: Sequence[str]) -> dict[tuple[Any, ...], list[Record]]:
    """Records by the values of some keys, in their order."""
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for record in records:
        groups.setdefault(tuple(record[key] for key in keys), []).append(record)
    return groups


def is_ours(record: Record) -> bool:
    return str(record["method"]).startswith(OURS)


def behind(what: str, group: list[Record], key: str, factor: float, gap: float) -> str | None:
    """A line if the best of ours is behind the best rival by more than a factor and a gap."""
    done = [one for one in group if key in one]
    ours = [one for one in done if is_ours(one)]
    rivals = [one for one in done if not is_ours(one)]
    if not rivals:
        return None
    if not ours:
        failed = [one["failure"] for one in group if is_ours(one) and "failure" in one]
        return f"| {what} | *{failed[0]}* | | |" if failed else None
    mine, best = min(one[key] for one in ours), min(rivals, key=lambda one: one[key])
    if mine <= best[key] * factor or mine - best[key] <= gap:
        return None
    return f"| {what} | {figure(mine)} | {figure(best[key])} | {best['method']} |"


def lost_rows(records: list[Record]) -> list[str]:
    """Every row of the tables below in which a rival is better than ours."""
    rows = []
    for (votes, items), group in grouped(of(records, "rank"), ("votes", "items")).items():
        where = f"plain ranking, {votes:,} votes, {items:,} items"
        rows += [behind(f"{where}: {COSTS[key][0]}", group, key, COSTS[key][1], 0.002)
                 for key in COSTS]  # fmt: skip
        rows += [behind(f"{where}: RMSE to the truth", group, "rmse", 1.005, 0)]
    for (data, votes), group in grouped(of(records, "path"), ("data", "votes")).items():
        where = f"whole path, {data}, {votes:,} votes"
        paths = [one for one in group if one.get("points", 2) > 1]
        rows += [behind(f"{where}: {COSTS[key][0]}", paths, key, COSTS[key][1], 0.002)
                 for key in COSTS]  # fmt: skip
        rows += [behind(f"{where}: {PATH_COLUMNS[key]}", group, key, 1.0, 0.0005)
                 for key in ("wrong", "log_loss")]  # fmt: skip
    for (kind, share), group in grouped(means(records), ("kind", "share")).items():
        where = f"{share:.0%} odd, {kind}"
        missed = [{**one, "missed": 1 - one["auc"]} for one in group if "auc" in one]
        rows += [behind(f"{where}: 1 - AUC of finding them", missed, "missed", 1.0, 0.005)]
        rows += [behind(f"{where}: RMSE of the ranking", group, "rmse", 1.0, 0.005)]
    return [row for row in rows if row]


def of(records: list[Record], task: str) -> list[Record]:
    return [one for one in records if one["task"] == task]


def means(records: list[Record]) -> list[Record]:
    """Records of planted crowds, averaged over the crowds of a kind and share."""
    found = []
    groups = grouped(of(records, "find"), ("kind", "share", "method"))
    for (kind, share, method), group in groups.items():
        keys = {key for one in group for key, value in one.items() if isinstance(value, float)}
        mean = {
            key: sum(one[key] for one in group) / len(group)
            for key in keys
            if all(key in one for one in group)
        }
        failed = [{"failure": one["failure"]} for one in group if "failure" in one]
        found.append(
            {
                **mean,
                **(failed[0] if failed else {}),
                "kind": kind,
                "share": share,
                "method": method,
            }
        )
    return found


def figure(value: float) -> str:
    if abs(value) < 1e-9:  # rounding
        return "0"
    if value >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def table(
    records: Iterable[Record], first: Callable[[Record], str], columns: dict[str, str]
) -> str:
    """One line a record: what it is of, the method, its figures or its failure."""
    lines = [f"| | method | {' | '.join(columns.values())} |", "|---" * (2 + len(columns)) + "|"]
    last = ""
    for one in records:
        label = first(one)
        shown, last = ("" if label == last else label), label
        name = f"**{one['method']}**" if is_ours(one) else one["method"]
        if "failure" in one:
            cells = [f"*{one['failure']}*", *[""] * (len(columns) - 1)]
        else:
            cells = [figure(one[key]) if key in one else "–" for key in columns]
        lines.append(f"| {shown} | {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def page(found: Record, name: str) -> str:
    """The template beside this file, filled in."""
    about, records = found["about"], found["records"]
    n = about["crowds"]
    filled = {
        **{key: about[key] for key in ("prefpath", "day", "python", "processors")},
        "name": name,
        "notes": "".join(f" {sentence}" for sentence in about.get("notes", [])),
        "load": f"{about['load']:.1f}",
        "seconds": f"{about['limits']['seconds']:.0f}",
        "gigabytes": f"{about['limits']['gigabytes']:g}",
        "rivals": ", ".join(f"{rival} {pin}" for rival, pin in about["rivals"].items()),
        "crowds": f"{n} crowds" if n > 1 else "one crowd",
        "lost": "\n".join(lost_rows(records)) or "| nowhere in this run | | | |",
        "rank": table(of(records, "rank"), _of_rank, RANK_COLUMNS),
        "path": table(of(records, "path"), _of_path, PATH_COLUMNS),
        "find": table(means(records), _of_find, FIND_COLUMNS),
        "scaling": scaling_table(of(records, "scaling")),
        "one_pass": one_pass(of(records, "scaling")),
    }
    return Template((HERE / "page.template.md").read_text("utf-8")).substitute(filled)


def _of_rank(one: Record) -> str:
    return f"{one['votes']:,} votes, {one['items']:,} items"


def _of_path(one: Record) -> str:
    return f"{one['data']}, {one['votes']:,} votes"


def _of_find(one: Record) -> str:
    return f"{one['share']:.0%} {one['kind']}"


def scaling_table(records: list[Record]) -> str:
    columns = ("votes", "annotators", "items", "features", "threads", "kappa")
    heads = [*columns, "CPU s", "clock s", "MiB", "evaluations", "effects entered"]
    lines = ["| varied | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for one in records:
        if one["varied"] == "one pass":
            continue
        cells = [f"{one[key]:,g}" if key in one else "" for key in columns]
        if "failure" in one:
            cells += [f"*{one['failure']}*", "", "", "", ""]
        else:
            cells += [figure(one[key]) for key in ("cpu", "wall", "memory")]
            cells += [f"{one[key]:,}" for key in ("evaluations", "entered")]
        lines.append(f"| {one['varied']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def one_pass(records: list[Record]) -> str:
    found = [one for one in records if one["varied"] == "one pass" and "share" in one]
    if not found:
        return ""
    one = found[0]
    return (
        f"One LBI iteration on {one['votes']:,} votes reads {one['bytes'] / 2**20:.0f} MiB at "
        f"{one['ours_gb_s']:.2f} GB/s; `numpy.sum` of the same bytes reaches "
        f"{one['numpy_gb_s']:.2f} GB/s: {one['share']:.0%} of the bandwidth of one thread."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path, default=HERE / "results" / "selection.json")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "rivals.md")
    given = parser.parse_args()
    found = json.loads(given.file.read_text("utf-8"))
    images = given.out.parent / "images"
    images.mkdir(parents=True, exist_ok=True)
    records = found["records"]
    draw_costs(of(records, "rank"), "items", images / "rivals-rank.svg")
    draw_costs(of(records, "path"), "data", images / "rivals-path.svg")
    draw_scaling(of(records, "scaling"), images / "rivals-scaling.svg")
    name = given.file.resolve()
    shown = name.relative_to(ROOT) if name.is_relative_to(ROOT) else name.name
    given.out.write_text(page(found, str(shown)), "utf-8")


if __name__ == "__main__":
    main()
