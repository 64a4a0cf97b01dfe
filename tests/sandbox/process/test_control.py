import asyncio
import stat

import pytest

from eosctl.errors import UsageError
from eosctl.sandbox.process.control import ControlError, call_control, serve_control


async def echo(arguments):
    return arguments


async def refuse(arguments):
    raise UsageError("no", "because", "try again")


def exchange(tmp_path, *calls):
    """Serve the two commands, make the calls from a thread, return what they returned or raised."""

    async def run():
        path = tmp_path / "control.sock"
        server = await serve_control(path, {"echo": echo, "refuse": refuse})
        mode = stat.S_IMODE(path.stat().st_mode)
        results = []
        for command, arguments in calls:
            try:
                results.append(await asyncio.to_thread(call_control, path, command, arguments, 5.0))
            except ControlError as error:
                results.append(error)
        server.close()
        return mode, results

    return asyncio.run(run())


def test_only_the_owner_can_open_the_socket(tmp_path):
    mode, _ = exchange(tmp_path)
    assert mode == 0o600


def test_commands_answer_values_and_errors(tmp_path):
    _, (answer, refusal, unknown) = exchange(
        tmp_path, ("echo", {"text": "ä", "list": [1, None]}), ("refuse", {}), ("dance", {})
    )
    assert answer == {"text": "ä", "list": [1, None]}
    assert (refusal.what, refusal.why, refusal.next_step) == ("no", "because", "try again")
    assert "no command 'dance'" in unknown.what


def test_garbage_is_answered_and_the_socket_lives(tmp_path):
    async def run():
        path = tmp_path / "control.sock"
        server = await serve_control(path, {"echo": echo})
        reader, writer = await asyncio.open_unix_connection(path)
        writer.write(b"\xff\xfe{not json\n")
        first = await reader.readline()
        writer.write(b'{"command": "echo", "arguments": {"a": 1}}\n')
        second = await reader.readline()
        writer.close()
        server.close()
        return first, second

    first, second = asyncio.run(run())
    assert b'"ok": false' in first
    assert b'"ok": true' in second


def test_a_missing_process_is_reported(tmp_path):
    with pytest.raises(ControlError, match="does not answer"):
        call_control(tmp_path / "absent.sock", "status")


def test_a_file_at_the_path_of_the_socket_is_not_lost(tmp_path):
    (tmp_path / "ledger.txt").write_text("kept")
    with pytest.raises(UsageError, match="not a socket"):
        asyncio.run(serve_control(tmp_path / "ledger.txt", {}))
    assert (tmp_path / "ledger.txt").read_text() == "kept"
