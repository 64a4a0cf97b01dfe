"""Report the findings of pip-audit, and the packages that it could not check."""

from __future__ import annotations

import json
import sys
from pathlib import Path

FOUND, NOT_ASKED = 1, 2


def judge_audit(answer: str, said: str) -> tuple[str, int]:
    """Return the report on a JSON result of pip-audit, and the exit status.

    Args:
        answer: Its standard output; empty or malformed if the service was unreachable.
        said: Its standard error.
    """
    try:
        packages = json.loads(answer)["dependencies"]
    except (ValueError, KeyError, TypeError):
        last = (said.strip().splitlines() or ["it gave no reason"])[-1]
        return f"Nothing was audited: pip-audit could not ask its service ({last}).", NOT_ASKED
    lines = [
        f"{package['name']} {package['version']}: {fault['id']}, fixed in {', '.join(fault['fix_versions']) or 'none'}"
        for package in packages
        for fault in package.get("vulns", ())
    ]
    unknown = [package["name"] for package in packages if "skip_reason" in package]
    if lines:
        return "\n".join([f"{len(lines)} known vulnerabilities:", *lines]), FOUND
    if unknown or not packages:
        summary = f"{len(unknown)} of {len(packages)} packages are unknown to the service that was asked"
        return f"Not audited in full: {summary} ({', '.join(unknown[:5])} ...).", NOT_ASKED
    return f"{len(packages)} packages, no known vulnerability.", 0


def main() -> int:
    """Print the verdict on the files of scripts/audit-dependencies."""
    answer, said = (Path(name).read_text(encoding="utf-8") for name in sys.argv[1:3])
    summary, status = judge_audit(answer, said)
    print(summary)
    return status


if __name__ == "__main__":
    raise SystemExit(main())
