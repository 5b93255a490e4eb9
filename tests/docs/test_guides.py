"""Every command of every guide, copied and pasted in its order, in an empty folder.

The program and Python run in this process: a new one each would load and link the same kernels a
hundred times. How the program behaves as a process, `tests/cli/test_failures.py` says.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prefpath import VoteWarning
from prefpath.cli.app import app

DOCS = Path(__file__).parents[2] / "docs"
PAGES = (DOCS.parent / "README.md", *DOCS.rglob("*.md"))
GUIDES = sorted(page for page in PAGES if re.search(r"^```(sh|python)$", page.read_text(), re.M))
_BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.M | re.S)


def _run_line(line: str) -> None:
    """One command; `> file` is all of the shell's language that ours are shown with."""
    command, *arguments = shlex.split(line, comments=True) or [""]
    if command != "prefpath":
        subprocess.run(["bash", "-e", "-o", "pipefail", "-c", line], check=True)
        return
    assert not {"|", "<", ">>", "&&", ";"} & set(arguments), "teach this test that language first"
    arguments, into = (arguments[:-2], arguments[-1]) if ">" in arguments else (arguments, None)
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, f"{line}\n{done.output[-2000:]}\n{done.exception!r}"
    if into is not None:
        Path(into).write_text(done.stdout)


def _blocks(page: Path) -> list[tuple[str, str]]:
    """Blocks in their order; Python blocks of a page are one session, as a reader has it."""
    found = _BLOCK.findall(page.read_text())
    python = "".join(text for language, text in found if language == "python")
    shell = [("sh", text) for language, text in found if language == "sh"]
    return [*shell, ("python", python)]


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: str(page.relative_to(DOCS.parent)))
def test_a_guide_can_be_pasted(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    with warnings.catch_warnings():
        warnings.simplefilter("default", VoteWarning)
        for language, text in _blocks(page):
            if language == "python":
                exec(compile(text, str(page), "exec"), {"__name__": "__main__"})
            else:
                for line in text.replace("\\\n", " ").splitlines():
                    _run_line(line)
