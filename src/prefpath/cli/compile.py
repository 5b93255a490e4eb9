"""`prefpath compile`: everything is compiled now, so that no fit has to wait for it."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from prefpath.cli.app import app, error_console
from prefpath.cli.progress import progress_bar


@app.command(name="compile")
def compile_kernels(
    threads: Annotated[
        int | None, typer.Option(help="Processes that compile; one for each processor.")
    ] = None,
) -> None:
    """Compile everything a fit and its report need, once on a machine or in its image."""
    from prefpath.ahead import compile_all

    began = time.monotonic()
    with progress_bar() as report:
        compile_all(
            lambda done, of: report and report("compiling", done / of, f", {done} of {of}"),
            n_threads=threads,
        )
    seconds = time.monotonic() - began
    error_console.print(f"compiled, in {seconds:.0f} seconds", highlight=False)
