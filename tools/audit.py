"""Known weaknesses of the installed libraries, by pip-audit; says so where nobody can be asked.

python tools/audit.py        # exit code 1: a weakness is known; 2: nothing could be found out
"""

from __future__ import annotations

import json
import subprocess
import sys


def main() -> int:
    done = subprocess.run(
        [sys.executable, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off"],
        capture_output=True,
        text=True,
    )
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        print(f"pip-audit could not ask anybody (no network?): {done.stderr.strip()[-300:]}")
        return 2
    audited = [one for one in packages if "skip_reason" not in one]
    weak = [one for one in audited if one["vulns"]]
    for one in weak:
        for known in one["vulns"]:
            fixed = ", ".join(known["fix_versions"]) or "no version"
            print(f"{one['name']} {one['version']}: {known['id']}, mended in {fixed}")
    print(f"{len(packages)} packages: {len(audited)} audited, {len(weak)} with a known weakness")
    if not audited:
        print("none could be audited: the service of known weaknesses does not answer (offline?)")
        return 2
    return int(bool(weak))


if __name__ == "__main__":
    sys.exit(main())
