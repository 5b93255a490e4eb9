"""`write_report`: a fitted model in, one self-contained HTML file out."""

from __future__ import annotations

from pathlib import Path as FilePath

from prefpath.errors import SettingError
from prefpath.fitted import Fitted, HasFitted
from prefpath.inference import Method
from prefpath.report.data import Certainty, Limits, gather
from prefpath.report.page import render


def write_report(
    model: Fitted | HasFitted,
    path: str | FilePath,
    *,
    title: str = "Preference report",
    max_items: int = 1000,
    max_annotators: int = 500,
    interval: Method | None = "sandwich",
    level: float = 0.95,
    q: float = 0.1,
) -> FilePath:
    """Write what a fitted model found as one HTML file that needs no network.

    Parameters
    ----------
    model : fitted PreferenceModel, or Fitted
    path : str or Path
        Where to write; an existing file is replaced.
    title : str
    max_items, max_annotators : int
        Rows the page shows; all of them are in its downloads.
    interval, level
        Of the scores, as in `PreferenceModel.ranking`.
    q : float
        Target false-discovery rate of the annotators singled out.

    Returns
    -------
    Path
        Where it was written.

    Raises
    ------
    SettingError
        If the file cannot be written.
    MissingExtra
        Without Bokeh.
    """
    if max_items < 1 or max_annotators < 1:
        raise SettingError(
            f"the report is to show {max_items} items and {max_annotators} annotators",
            expected="at least one of each",
        )
    limits = Limits(items=max_items, annotators=max_annotators)
    page = render(gather(model, limits, Certainty(interval, level, q)), title)
    file = FilePath(path)
    try:
        # A lone surrogate is a valid label in Python and not a character of any encoding.
        file.write_bytes(page.encode("utf-8", "replace"))
    except OSError as error:
        raise SettingError(
            f"{file} cannot be written: {error.strerror}", remedy="choose another place"
        ) from error
    return file
