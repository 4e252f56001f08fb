"""Runs a Windows program under Wine, in a prefix of its own that is made when there is none.

    under_wine.py PREFIX PROGRAM [ARGUMENT...]
    under_wine.py --start PREFIX      keeps Wine's server running between programs: each would wait five seconds for it
    under_wine.py --stop PREFIX

Standard input and output, arguments and exit code are the program's. Where the system is Windows the program is run as it is.
"""
import fcntl
import os
import subprocess
import sys


def environment(prefix):
    changed = dict(os.environ, WINEPREFIX=prefix, WINEDEBUG="-all", WINEDLLOVERRIDES="mscoree,mshtml=")
    changed.pop("DISPLAY", None)
    return changed


def make_prefix(prefix):
    """Once; tests that start at the same time wait for the first."""
    os.makedirs(os.path.dirname(prefix), exist_ok=True)
    with open(prefix + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(os.path.join(prefix, "system.reg")):
            subprocess.run(["wineboot", "-i"], env=environment(prefix), check=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            subprocess.run(["wineserver", "-w"], env=environment(prefix), check=True)  # its files are complete then


def server(prefix, option):
    subprocess.run(["wineserver", option], env=environment(prefix), check=False,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def run(prefix, command, **settings):
    """As subprocess.run()."""
    make_prefix(prefix)
    extra = settings.pop("env", {})
    return subprocess.run(["wine", *command], env=dict(environment(prefix), **extra), **settings)


if __name__ == "__main__":
    if sys.argv[1] == "--start":
        prefix = os.path.abspath(sys.argv[2])
        make_prefix(prefix)
        # An error if there is one already, which is as well. It ends by itself, 300 s after the last program, if nobody stops it.
        server(prefix, "-p300")
        # The first program starts Wine's services, which keep that program's output open for as long as they run: not a test's.
        run(prefix, ["cmd", "/c", "exit"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    elif sys.argv[1] == "--stop":
        server(os.path.abspath(sys.argv[2]), "-k")
    else:
        sys.exit(run(os.path.abspath(sys.argv[1]), sys.argv[2:]).returncode)
