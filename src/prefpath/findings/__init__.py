"""Everything a fit says, computed once: what terminal, JSON, files and report show."""

from prefpath.findings.boards import Board
from prefpath.findings.cautions import cautions
from prefpath.findings.findings import Findings, find

__all__ = ["Board", "Findings", "cautions", "find"]
