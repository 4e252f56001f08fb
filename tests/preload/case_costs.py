"""What loading the library costs a program, and that valgrind finds nothing in it."""
import os
import statistics
import subprocess

from harness import Failure, Skip, find_program

ALLOWED_KIB = 600  # peak resident memory of /bin/true above that without the library
RUNS = 21


def peaks(helpers, *library):
    done = subprocess.run([os.path.join(helpers, "measure_peak"), str(RUNS), *library, "--", "/bin/true"], text=True,
                          capture_output=True, check=False)
    if done.returncode != 0:
        raise Failure(done.stderr)
    return [int(line) for line in done.stdout.split()]


def check_load_cost(library, helpers):
    without = statistics.median(peaks(helpers))
    under = statistics.median(peaks(helpers, library))
    print(f"/bin/true, peak resident: {without} KiB without, {under} KiB with the library, median of {RUNS}")
    if under - without > ALLOWED_KIB:
        raise Failure(f"{under - without} KiB more, {ALLOWED_KIB} are allowed")


def check_valgrind(library, helpers):
    valgrind = find_program("valgrind")
    if not os.path.exists("/usr/lib/debug") and not os.path.exists("/usr/share/valgrind"):
        raise Skip("valgrind has no files of its own")
    line = os.path.basename(library).removeprefix("libhakozuna_").split(".")[0]
    programs = [
        # Valgrind's malloc stands in for ours: the program must run as if we were not there.
        ([], ["/bin/ls", "/"]),
        ([], ["/usr/bin/sort", "/etc/passwd"]),
        # Ours does the work under valgrind's eyes.
        (["--soname-synonyms=somalloc=nouserintercepts"], ["/usr/bin/sort", "/etc/passwd"]),
        (["--soname-synonyms=somalloc=nouserintercepts"], [os.path.join(helpers, "c_program"), line]),
    ]
    env = {k: v for k, v in os.environ.items() if not k.startswith("HAKOZUNA_")}
    for options, program in programs:
        expected = subprocess.run(program, text=True, capture_output=True, check=False, env=env)
        done = subprocess.run([valgrind, "-q", "--error-exitcode=99", "--leak-check=no", *options, *program], text=True,
                              capture_output=True, check=False, timeout=300, env={**env, "LD_PRELOAD": library})
        # c_program is only at home under the library.
        wanted = (expected.stdout, 0)
        if (done.stdout, done.returncode) != wanted or done.stderr:
            raise Failure(f"valgrind {' '.join(options + program)}: exit code {done.returncode}\n{done.stdout[-1000:]}"
                          f"\n{done.stderr[-4000:]}")
