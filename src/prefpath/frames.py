"""Results as data frames, in the library the user came with."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from prefpath.errors import MissingExtra

Columns = Mapping[str, Any]

_LIBRARIES = ("pandas", "polars", "pyarrow")


def build_frame(columns: Columns, library: str | None) -> Any:
    """A frame of `columns` in `library`, or in the first one that is installed."""
    chosen = library or next((name for name in _LIBRARIES if find_spec(name)), None)
    if chosen is None:
        raise MissingExtra("pandas, Polars or PyArrow", "frames", "a result as a data frame")
    import narwhals as nw

    backend: Any = chosen
    return nw.from_dict(dict(columns), backend=backend).to_native()


def library_of(frame: Any) -> str:
    """Name of the library a frame belongs to."""
    import narwhals as nw

    return str(nw.get_native_namespace(nw.from_native(frame, pass_through=False)).__name__)
