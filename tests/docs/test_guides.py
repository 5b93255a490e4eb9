"""Every command of every guide, copied and pasted in its order, in an empty folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
GUIDES = sorted(
    page for page in DOCS.rglob("*.md") if re.search(r"^```(sh|python)$", page.read_text(), re.M)
)
_BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.M | re.S)


def _environment(folder: Path) -> dict[str, str]:
    """The commands of this environment, whatever the shell that runs the tests has on its path."""
    programs = str(Path(sys.executable).parent)
    return {
        **os.environ,
        "PATH": programs + os.pathsep + os.environ["PATH"],
        "COLUMNS": "100",
        "HOME": str(folder),
    }


def _run(language: str, text: str, folder: Path) -> None:
    command = ["bash", "-e", "-o", "pipefail"] if language == "sh" else [sys.executable]
    (folder / "pasted").write_text(text)
    done = subprocess.run(
        [*command, "pasted"],
        cwd=folder,
        env=_environment(folder),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{text}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
    assert "Traceback" not in done.stderr


def _blocks(page: Path) -> list[tuple[str, str]]:
    """Blocks in their order; Python blocks of a page are one session, as a reader has it."""
    found = _BLOCK.findall(page.read_text())
    python = ""
    blocks = []
    for language, text in found:
        if language == "python":
            python += text
        else:
            blocks.append((language, text))
    return [*blocks, ("python", python)] if python else blocks


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: str(page.relative_to(DOCS)))
def test_a_guide_can_be_pasted(page: Path, tmp_path: Path) -> None:
    for language, text in _blocks(page):
        _run(language, text, tmp_path)
