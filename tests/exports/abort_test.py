#!/usr/bin/env python3
"""Runs a program that must end by abort() after exactly one line on standard error that holds the message."""
import argparse
import os
import signal
import subprocess
import sys

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--message", required=True)
parser.add_argument("--preload")
parser.add_argument("command", nargs="+")
options = parser.parse_args()

environment = dict(os.environ)
if options.preload:
    environment["LD_PRELOAD"] = options.preload
done = subprocess.run(options.command, env=environment, capture_output=True, text=True, check=False)
lines = done.stderr.splitlines()
if done.returncode != -signal.SIGABRT:
    sys.exit(f"ended with {done.returncode}, not by abort(): {done.stderr}")
if len(lines) != 1 or not lines[0].startswith("hakozuna: ") or options.message not in lines[0]:
    sys.exit(f"not one line with '{options.message}': {done.stderr}")
