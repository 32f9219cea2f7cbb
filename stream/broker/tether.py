"""Tie this process's life to its parent's, then become the program named: `tether.py PARENT PROGRAM ARG...`.

A parent that is killed cannot end its children, so the kernel is asked to (Linux; elsewhere the child lives
on). `subprocess`'s `preexec_fn` could ask too, but runs Python between fork and exec, which may hang in
a process with threads. This file runs alone and imports nothing of ours, to be quick.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(parent: int, program: list[str]) -> None:
    """Ask for the signal, make sure that the parent is not gone already, and become the program."""
    if sys.platform == "linux":
        # SIGKILL, because nobody would be left to insist; Kafka recovers its log as after a power cut.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            sys.exit("the parent ended before its child could be tied to it")
    os.execv(program[0], program)  # noqa: S606  # the arguments are a list we wrote


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
