"""Every public name, method and property is shown at work by an example that runs."""

from __future__ import annotations

import doctest
import inspect
import re
from collections.abc import Iterator

import pytest

import prefpath

_NAMES = [name for name in prefpath.__all__ if name != "__version__"]

_INNER = {"fit_collected", "fit_elsewhere"}  # what `fit` itself calls for votes on a cluster


def _examples(thing: object) -> str:
    text = inspect.getdoc(thing) or ""
    return "\n".join(one.source for one in doctest.DocTestParser().get_examples(text))


def _own_members(cls: type) -> Iterator[tuple[str, type, object]]:
    """Public methods and properties that prefpath's own classes define."""
    seen = set()
    for home in cls.__mro__:
        if not home.__module__.startswith("prefpath"):
            continue
        for name, value in vars(home).items():
            if not name.startswith("_") and name not in seen and _is_member(value):
                seen.add(name)
                yield name, home, value


def _is_member(value: object) -> bool:
    return (
        inspect.isfunction(value)
        or isinstance(value, (classmethod, staticmethod, property))
        or type(value).__name__ == "cached_property"
    )


@pytest.mark.parametrize("name", _NAMES)
def test_a_public_name_has_an_example(name: str) -> None:
    assert _examples(getattr(prefpath, name)), f"{name} has no example"


@pytest.mark.parametrize(
    "name", [name for name in _NAMES if inspect.isclass(getattr(prefpath, name))]
)
def test_every_method_is_shown_at_work(name: str) -> None:
    cls = getattr(prefpath, name)
    homes = [home for home in cls.__mro__ if home.__module__.startswith("prefpath")]
    of_class = "\n".join(_examples(home) for home in homes)
    missing = [
        member
        for member, _, value in _own_members(cls)
        if member not in _INNER
        and not _examples(value)
        and not re.search(rf"\.{member}\b", of_class)
    ]
    assert not missing, f"no example of {', '.join(missing)}"
