"""What the trust panel consists of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Status = Literal["passed", "warn", "fail", "unchecked"]


@dataclass(frozen=True)
class TrustCheck:
    """One question to the data.

    Attributes
    ----------
    name : str
        What is asked.
    status : {"passed", "warn", "fail", "unchecked"}
        The last where these votes cannot tell; the finding says why.
    finding : str
        What was found, in plain words.
    advice : str
        What to do about it; empty where nothing is to be done.
    concerned : tuple
        Labels of all items or annotators the finding is about.
    """

    name: str
    status: Status
    finding: str
    advice: str = ""
    concerned: tuple[Any, ...] = ()


@dataclass(frozen=True)
class TrustPanel:
    """All checks, those that passed too, and the counts they rest on."""

    n_votes: int
    n_annotators: int
    n_items: int
    n_pairs: int
    checks: tuple[TrustCheck, ...]

    @property
    def status(self) -> Status:
        """The worst of the checks that could be made."""
        found = {check.status for check in self.checks}
        return "fail" if "fail" in found else "warn" if "warn" in found else "passed"

    def __getitem__(self, name: str) -> TrustCheck:
        return next(check for check in self.checks if check.name == name)
