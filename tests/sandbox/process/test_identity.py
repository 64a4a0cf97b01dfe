import os
import signal
import subprocess
import sys

from eosctl.sandbox.process.identity import is_same_process, send_signal, start_ticks, wait_for_exit

SLEEPER = [sys.executable, "-c", "import signal; signal.pause()"]


def test_a_process_is_known_by_id_and_start_time():
    ticks = start_ticks(os.getpid())
    assert ticks is not None
    assert is_same_process(os.getpid(), ticks)
    assert not is_same_process(os.getpid(), ticks + 1)


def test_a_signal_reaches_only_the_process_that_was_meant():
    with subprocess.Popen(SLEEPER) as process:
        ticks = start_ticks(process.pid)
        assert ticks is not None
        send_signal(process.pid, ticks + 1, signal.SIGKILL)
        assert process.poll() is None
        assert not wait_for_exit(process.pid, ticks, 0.01)
        send_signal(process.pid, ticks, signal.SIGKILL)
        assert wait_for_exit(process.pid, ticks, 10)
        assert process.wait() == -signal.SIGKILL
    assert start_ticks(process.pid) is None
    assert wait_for_exit(process.pid, ticks, 0)
    send_signal(process.pid, ticks, signal.SIGKILL)
