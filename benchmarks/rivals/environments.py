"""One environment a rival, because their pins conflict: `python benchmarks/rivals/environments.py`.

They are made under `PREFPATH_RIVALS`, by default ~/.cache/prefpath-rivals, never in the repository;
PyPI is needed once. R and its packages are Debian's (`apt-get install` is tried as root).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

FOLDER = Path(os.environ.get("PREFPATH_RIVALS", Path.home() / ".cache" / "prefpath-rivals"))

PYTHON_RIVALS: dict[str, tuple[str, ...]] = {
    "choix": ("choix==0.4.1",),
    "evalica": ("evalica==0.4.2",),
    "crowd-kit": ("crowd-kit==1.4.2",),
    "arena-rank": ("arena-rank==0.1.1",),
    "scikit-learn": ("scikit-learn==1.9.1",),
    "skglm": ("skglm==0.5",),
    "adelie": ("adelie==1.1.52",),
}
R_RIVALS = {
    "glmnet": "r-cran-glmnet",
    "lme4": "r-cran-lme4",
    "BradleyTerry2": "r-cran-bradleyterry2",
}
RIVALS = (*PYTHON_RIVALS, *R_RIVALS)


def program_of(rival: str) -> str | None:
    """The interpreter that runs a rival's adapter; None where it is not installed."""
    if rival == "prefpath":
        return sys.executable
    if rival in R_RIVALS:
        return shutil.which("Rscript") if _has_r_package(rival) else None
    python = FOLDER / rival / "bin" / "python"
    return str(python) if (FOLDER / rival / "ready").exists() else None


def make(rival: str) -> str:
    """Install one rival; a sentence about how it went, a failure in the installer's own words."""
    if program_of(rival) is not None:
        return "is there"
    done = _install_r(rival) if rival in R_RIVALS else _install_python(rival)
    if done.returncode == 0 and program_of(rival) is not None:
        return "installed"
    return "failed: " + (done.stderr.strip().splitlines() or ["no word"])[-1]


def _install_python(rival: str) -> subprocess.CompletedProcess[str]:
    folder = FOLDER / rival
    venv.create(folder, with_pip=True, clear=True)
    command = [folder / "bin" / "python", "-m", "pip", "install", "--quiet"]
    done = subprocess.run([*command, *PYTHON_RIVALS[rival]], capture_output=True, text=True)
    if done.returncode == 0:
        (folder / "ready").write_text("\n".join(PYTHON_RIVALS[rival]))
    return done


def _install_r(rival: str) -> subprocess.CompletedProcess[str]:
    command = ["apt-get", "install", "-y", "-qq", "r-base-core", "r-cran-jsonlite", R_RIVALS[rival]]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def _has_r_package(name: str) -> bool:
    program = shutil.which("Rscript")
    if program is None:
        return False
    return not subprocess.run([program, "-e", f"library({name})"], capture_output=True).returncode


def main() -> None:
    for rival in sys.argv[1:] or RIVALS:
        print(f"{rival:<16}{make(rival)}", flush=True)


if __name__ == "__main__":
    main()
