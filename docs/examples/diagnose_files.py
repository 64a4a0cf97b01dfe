"""Diagnose a saved snapshot and a folder of configuration files; print the grade and the findings."""

from pathlib import Path

from eosctl.services.diagnose import DiagnoseRequest, diagnose

result = diagnose(DiagnoseRequest(snapshot_file=Path("snapshot.json"), paths=(Path("conf"),)))

print(result.grade)
for finding in result.findings:
    print(finding.severity, finding.check_id, finding.resource)
print("exit code", result.exit_code.value)
