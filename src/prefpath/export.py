"""What a fit found, as tables in files: a folder of them with a manifest, or one at a time."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np

from prefpath.errors import SettingError, VoteError
from prefpath.path import Path as PreferencePath
from prefpath.tables import FORMATS, write_table, write_table_in_parts
from prefpath.version import __version__
from prefpath.writing import check_folder, whole_folder

__all__ = [
    "MANIFEST",
    "check_results",
    "path_columns",
    "verify_results",
    "write_results",
    "write_table",
]

_DIGESTED = re.compile("-[0-9a-f]{8}$", re.IGNORECASE)

MANIFEST = "manifest.json"
"""The file that marks a folder as complete: it is written last."""

Columns = Mapping[str, Any]


def write_results(
    folder: str | Path,
    tables: Mapping[str, Columns | Iterable[Columns]],
    *,
    suffix: str = "csv",
    files: Mapping[str, Callable[[Path], object]] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Path:
    """Write tables and other files into a folder, all of them or none, with a manifest.

    Parameters
    ----------
    folder : str or Path
        Made where it does not exist. Files of other names in it are left alone.
    tables : mapping of str to columns, or to an iterable of columns
        Of an iterable each has some of the rows. Each table is written as NAME.SUFFIX; text in
        CSV that a spreadsheet would run as a formula gets an apostrophe in front (JSON and
        Parquet have labels as they are).
    suffix : str
        csv, tsv, json, jsonl or parquet.
    files : mapping of str to callable
        Other files, each by the function that writes it.
    settings : mapping
        What the manifest says about how the results came about.

    Returns
    -------
    Path
        The folder.
    """
    check_results(folder, suffix)
    with whole_folder(folder, last=MANIFEST) as part:
        for name, table in tables.items():
            rows = [table] if isinstance(table, Mapping) else table
            write_table_in_parts(rows, part / f"{name}.{suffix}", for_spreadsheets=True)
        for name, write in (files or {}).items():
            write(part / name)
        _write_manifest(part, settings or {})
    return Path(folder)


def check_results(folder: str | Path, suffix: str) -> None:
    """Refuse, before any work, a folder or a format that `write_results` would refuse."""
    check_format(suffix)
    check_folder(folder, "the folder for results")


def check_format(suffix: str) -> None:
    """Refuse a format that no table is written in."""
    if suffix not in FORMATS:
        raise SettingError(
            f"there is no format {suffix!r}", expected=f"one of {', '.join(FORMATS)}"
        )


def verify_results(folder: str | Path) -> dict[str, Any]:
    """The manifest of a folder whose files are all there and as they were written.

    Raises
    ------
    VoteError
        There is no manifest (a run was stopped while it wrote), or a file is missing or other.
    """
    place = Path(folder)
    try:
        manifest: dict[str, Any] = json.loads((place / MANIFEST).read_text("utf-8"))
        expected: dict[str, str] = manifest["files"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise VoteError(
            f"{folder} has no whole {MANIFEST}: its results are not complete",
            remedy="fit again with the same --out",
        ) from error
    for name, digest in expected.items():
        file = place / name
        if not file.is_file() or _digest(file) != digest:
            raise VoteError(
                f"{file} is not the file that was written with {MANIFEST}",
                expected=f"contents with SHA-256 {digest}",
                remedy="fit again with the same --out",
            )
    return manifest


def file_names(labels: Iterable[str]) -> dict[str, str]:
    """A part of a file's name for each label: readable, and no two the same.

    What file systems do not take becomes an underscore; labels that would then be the same,
    differ in case only, or end like a digest, get a piece of their digest.

    >>> file_names(["ann", "a/b", "a.b"])
    {'ann': 'ann', 'a/b': 'a_b-c14cddc0', 'a.b': 'a_b-2e7336dc'}
    """
    kept = {label: _plain_name(label) for label in labels}
    alike = Counter(map(_folded, kept.values()))
    return {
        label: name if name == label and _is_free(name, alike) else f"{name}-{_short(label)}"
        for label, name in kept.items()
    }


def _is_free(name: str, alike: Mapping[str, int]) -> bool:
    """Whether nobody else has a name, and no label with a piece of its digest can have it."""
    return alike[_folded(name)] == 1 and not _DIGESTED.search(name)


def _folded(name: str) -> str:
    """What a file system that minds neither case nor ways to write an accent makes of a name."""
    return normalize("NFKC", normalize("NFKC", name).casefold())


def _plain_name(label: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in label)[:40]


def _short(label: str) -> str:
    return hashlib.sha256(label.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _write_manifest(folder: Path, settings: Mapping[str, Any]) -> None:
    manifest = {
        "prefpath": __version__,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "settings": dict(settings),
        "files": {file.name: _digest(file) for file in sorted(folder.iterdir())},
    }
    text = json.dumps(manifest, indent=1, ensure_ascii=True, default=str)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


def _digest(file: Path) -> str:
    with file.open("rb") as contents:
        return hashlib.file_digest(contents, "sha256").hexdigest()


def path_columns(path: PreferencePath) -> dict[str, list[Any]]:
    """A path as one long table: what is not zero at each of its times.

    A row is a time, a kind ("score" of an item, "deviation" of an annotator for an item or
    feature, "position bias" and "attention" of an annotator), whom and what it is about, and the
    value.
    """
    rows = [row for t in path.times.tolist() for row in _rows_at(path, t)]
    names = ("t", "kind", "annotator", "item", "value")
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def _rows_at(path: PreferencePath, t: float) -> list[tuple[float, str, Any, Any, float]]:
    about = path.items.tolist()
    if path.features is not None:
        about = [f"feature {k + 1}" for k in range(path.common.shape[1])]
    scores = zip(path.items.tolist(), path.scores(t).tolist(), strict=True)
    own, bias, attention = path.deviation(t).tocoo(), path.position_bias(t), path.attention(t)
    return [
        *((t, "score", None, item, value) for item, value in scores),
        *(
            (t, "deviation", path.annotators[u], about[k], float(value))
            for u, k, value in zip(own.row, own.col, own.data, strict=True)
        ),
        *(
            (t, "position bias", path.annotators[u], None, float(bias[u]))
            for u in np.flatnonzero(bias)
        ),
        *(
            (t, "attention", path.annotators[u], None, float(attention[u]))
            for u in np.flatnonzero(attention)
        ),
    ]
