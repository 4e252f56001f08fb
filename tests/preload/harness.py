"""Runs a program without and with a library preloaded, and compares what can be seen of it."""
import difflib
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import time


class Failure(Exception):
    """The program behaves in another way under the library, or does not work at all."""


class Skip(Exception):
    """The test cannot run here; the text says why."""


def find_program(name):
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if path is None:
        raise Skip(f"{name} is not installed")
    return path


class Run:
    """One run of a case: commands in a directory of their own, and a transcript of all they did.

    All runs of a case use the same directory, one after the other, so that no path differs.
    """

    def __init__(self, directory, library=None, short=False, timeout=300):
        self.directory = pathlib.Path(directory)
        self.library = library
        self.short = short
        self.transcript = []
        self._deadline = time.monotonic() + timeout
        self._children = []
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir(parents=True)

    def environment(self, **more):
        env = {k: v for k, v in os.environ.items() if not k.startswith("HAKOZUNA_") and k != "LD_PRELOAD"}
        env.update(LC_ALL="C", TZ="UTC", HOME=str(self.directory), **more)
        if self.library:
            env["LD_PRELOAD"] = self.library
        return env

    def note(self, text):
        """Adds to what is compared."""
        self.transcript.append(text)

    def write(self, name, text):
        path = self.directory / name
        path.write_text(text)
        return path

    def left(self):
        return max(self._deadline - time.monotonic(), 1)

    def command(self, *arguments, stdin=None, compare=True, exit_code=0, clean=None, timeout=None, **environment):
        """Runs a program to its end and notes its output and exit code. `clean` takes out what differs from run to run."""
        arguments = [str(a) for a in arguments]
        try:
            done = subprocess.run(
                arguments, cwd=self.directory, env=self.environment(**environment), input=stdin, text=True,
                errors="backslashreplace", capture_output=True, timeout=timeout or self.left(), check=False,
                stdin=subprocess.DEVNULL if stdin is None else None)
        except subprocess.TimeoutExpired:
            raise Failure(f"timeout: {' '.join(arguments)}") from None
        self.check_errors(arguments, done.stderr)
        if exit_code is not None and done.returncode != exit_code:
            raise Failure(f"{' '.join(arguments)}: exit code {done.returncode}, expected {exit_code}\n"
                          f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
        if compare:
            output = clean(done.stdout) if clean else done.stdout
            self.note(f"$ {' '.join(arguments)}\n{output}exit code {done.returncode}\n")
        return done

    def digest(self, name):
        """Notes the contents of a file a command wrote."""
        self.note(f"{name}: {hashlib.sha256((self.directory / name).read_bytes()).hexdigest()}\n")

    def start(self, *arguments):
        """Starts a server; stop_all() ends it."""
        log = open(self.directory / f"server{len(self._children)}.log", "w+", encoding="utf-8")
        child = subprocess.Popen([str(a) for a in arguments], cwd=self.directory, env=self.environment(),
                                 stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        self._children.append((child, log, arguments))
        return child

    def is_loaded_into(self, pid):
        """Is the library mapped in the process? True in the run without it."""
        if not self.library:
            return True
        return os.path.realpath(self.library) in pathlib.Path(f"/proc/{pid}/maps").read_text()

    def wait_until(self, ready, what, seconds=20):
        end = time.monotonic() + seconds
        while not ready():
            for child, log, arguments in self._children:
                if child.poll() is not None:
                    raise Failure(f"{arguments[0]} ended with {child.returncode}: {self._text(log)}")
            if time.monotonic() > end:
                raise Failure(f"timeout: {what}")
            time.sleep(0.02)

    def wait_for_end(self, child, seconds=20):
        try:
            return child.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise Failure("the server does not end") from None

    def stop_all(self):
        for child, log, arguments in self._children:
            if child.poll() is None:
                child.kill()
                child.wait()
            text = self._text(log)
            log.close()
            self.check_errors(arguments, text)
        self._children = []

    @staticmethod
    def _text(log):
        log.flush()
        log.seek(0)
        return log.read()

    @staticmethod
    def check_errors(arguments, errors):
        """What the loader or the library has to say is always a failure."""
        for line in errors.splitlines():
            if line.startswith("hakozuna:") or "ERROR: ld.so" in line:
                raise Failure(f"{' '.join(map(str, arguments))}: {line}")


def prove_preload(program, library):
    """The loader must list the library for this program: it is neither static nor protected from preloading."""
    path = os.path.realpath(program)
    with open(path, "rb") as file:
        first = file.readline(256)
    if first.startswith(b"#!"):
        words = first[2:].decode().split()
        path = os.path.realpath(find_program(words[1] if words[0].endswith("/env") else words[0]))
    listed = subprocess.run([path], env={"LD_TRACE_LOADED_OBJECTS": "1", "LD_PRELOAD": library}, text=True,
                            capture_output=True, check=False)
    if library not in listed.stdout:
        raise Failure(f"{path} does not load {library}: {listed.stdout}{listed.stderr}")


def compare(without, under):
    """Raises Failure with the difference of two transcripts."""
    if without == under:
        return
    difference = difflib.unified_diff("".join(without).splitlines(), "".join(under).splitlines(), "without the library",
                                      "with the library", lineterm="", n=2)
    raise Failure("\n".join(list(difference)[:60]))


def run_once(case, directory, library, short, timeout=300):
    """Runs `case.body(run)` and returns the transcript."""
    run = Run(directory, library, short, timeout)
    try:
        case.body(run)
    finally:
        run.stop_all()
    if not run.transcript:
        raise Failure("the case noted nothing that could be compared")
    shutil.rmtree(directory, ignore_errors=True)
    return run.transcript


def require(case):
    """Raises Skip if something the case needs is not there. Returns the programs it needs."""
    programs = [find_program(name) for name in case.needs]
    reason = case.missing() if case.missing else None
    if reason:
        raise Skip(reason)
    return programs


def expected_file(directory):
    """Where the transcript of the run without a library is kept, for the lines that follow."""
    return pathlib.Path(f"{directory}.expected.json")


def record(case, directory, short):
    """Runs the case without a library, once for all the lines."""
    expected_file(directory).unlink(missing_ok=True)
    require(case)
    transcript = run_once(case, directory, None, short)
    expected_file(directory).write_text(json.dumps(transcript))


def run_and_compare(case, directory, library, short):
    """Runs the case with the library and compares with what was recorded."""
    for program in require(case):
        prove_preload(program, library)
    try:
        expected = json.loads(expected_file(directory).read_text())
    except OSError:
        raise Failure("there is no run without the library to compare with: --record comes first") from None
    compare(expected, run_once(case, directory, library, short))


class Case:
    """A program to run. `needs` are the programs that must be installed, `missing` says what else is not there."""

    def __init__(self, name, body, needs, missing=None):
        self.name, self.body, self.needs, self.missing = name, body, needs, missing


CASES = {}


def case(name, *needs, missing=None):
    """Registers the decorated function, which takes a Run, as a case."""
    def register(body):
        CASES[name] = Case(name, body, needs, missing)
        return body
    return register


def without_times(text):
    """Takes durations out of a text: "0.12s", "12 ms", "1 min 5 sec"."""
    return re.sub(r"\b\d+(\.\d+)?\s?(ms|sec|s|min|seconds)\b", "TIME", text)
