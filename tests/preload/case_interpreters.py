"""perl, node and python3 with slices of its own test suite."""
import os
import re

from harness import Failure, case

# Debian's interpreter: the one whose test suite the package manager can install.
PYTHON = "/usr/bin/python3"


@case("perl", "perl")
def perl(run):
    n = 2_000 if run.short else 60_000
    run.write("work.pl", r"""
        use strict; use warnings; use threads; use Digest::MD5 qw(md5_hex); use Storable qw(dclone);
        my $n = shift;
        my %h; $h{"key" . ($_ * 7919 % 10007)} .= "value $_ " for 1 .. $n;
        my @s = sort { length($h{$a}) <=> length($h{$b}) or $a cmp $b } keys %h;
        print md5_hex(join(",", map { "$_=$h{$_}" } @s)), "\n";
        my $t = join(" ", 1 .. $n); my $c = () = $t =~ /(\d)\1/g; (my $u = $t) =~ s/(\d+)/<$1>/g;
        print "$c ", md5_hex($u), "\n";
        my $d = dclone({ a => [1 .. 1000], b => { map { $_ => [$_] } 1 .. 500 } }); print scalar(keys %{$d->{b}}), "\n";
        my @threads = map { my $i = $_; threads->create(sub { my @x = map { $_ x 3 } 1 .. 5000; return md5_hex(join "", @x[$i .. 4000]) }) } 1 .. 4;
        print $_->join, "\n" for @threads;
        for my $i (1 .. 5) { my $p = fork; if (!$p) { my @x = (1 .. 10000); exit $i } waitpid $p, 0; print $? >> 8, "\n" }
        print scalar(reverse("abc" x 1000)) eq ("cba" x 1000) ? "ok\n" : "not ok\n";
        exit 7;
        """)
    run.command("perl", "work.pl", n, exit_code=7)


@case("node", "node")
def node(run):
    run.write("work.js", r"""
        const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
        const crypto = require('crypto'), zlib = require('zlib');
        const n = Number(process.env.ROUNDS);
        function work(seed) {
          const map = new Map(); let state = seed + 1;
          for (let i = 0; i < n; i++) {
            state = (state * 1103515245 + 12345) % 2147483648;
            map.set('k' + state % 1000, { i, text: 'x'.repeat(state % 500), buffer: Buffer.alloc(state % 20000, i) });
          }
          const hash = crypto.createHash('sha256');
          for (const [k, v] of map) hash.update(k + JSON.stringify(v.text)).update(v.buffer);
          const packed = zlib.gzipSync(Buffer.from(JSON.stringify([...map.keys()])));
          return hash.digest('hex') + zlib.gunzipSync(packed).length;
        }
        if (!isMainThread) { parentPort.postMessage(work(workerData)); }
        else {
          const all = [0, 1, 2, 3].map(i => new Promise((done, failed) => {
            const w = new Worker(__filename, { workerData: i }); w.on('message', done); w.on('error', failed); }));
          Promise.all(all).then(async results => {
            console.log(results.join('\n'));
            const parts = await Promise.all(Array.from({ length: 20 }, (_, i) => new Promise((done, failed) =>
              zlib.deflate(Buffer.alloc(200000, i), (e, b) => e ? failed(e) : done(b.length)))));
            console.log(parts.join(' '), work(9));
            const { execFileSync } = require('child_process');
            console.log(execFileSync('/bin/echo', ['child']).toString());
            process.exitCode = 4;
          });
        }
        """)
    run.command("node", "work.js", exit_code=4, ROUNDS="300" if run.short else "5000")


def python_tests_missing():
    if not os.path.exists(PYTHON):
        return f"{PYTHON} is not installed"
    if os.system(f"{PYTHON} -c 'import test.test_json, test.test_re' 2>/dev/null") != 0:
        return "Python's own tests (libpython3.11-testsuite) are not installed"
    return None


def python_case(name, module, *options, only_in_long=()):
    """A slice of Python's own test suite. `options` choose tests in it."""
    @case(f"python-{name}", PYTHON, missing=python_tests_missing)
    def body(run):
        chosen = [*options, *([] if run.short else only_in_long)]
        done = run.command(PYTHON, "-m", "test", "-v", "-u", "none", *chosen, module, compare=False, exit_code=None)
        # The outcome of every test, whatever the order and the time it took.
        text = done.stdout + done.stderr
        outcomes = sorted(re.findall(r"^(test\w* \(.*\)).*\.\.\. (ok|FAIL|ERROR|skipped)", text, re.MULTILINE))
        counts = re.findall(r"^Ran (\d+) tests", text, re.MULTILINE)
        if done.returncode != 0:
            raise Failure(f"{module}: exit code {done.returncode}\n{text[-4000:]}")
        if not counts or int(counts[0]) < 5:
            raise Failure(f"{module}: nothing ran\n{text[-2000:]}")
        run.note(f"{counts}\n" + "".join(f"{test}: {outcome}\n" for test, outcome in outcomes))
    return body


python_case("json", "test_json")
python_case("re", "test_re")
python_case("threading", "test_threading", "-m", "ThreadTests", "-m", "ThreadJoinOnShutdown", "-m", "ThreadingExceptionTests",
            only_in_long=("-m", "*Lock*", "-m", "*Condition*", "-m", "*Semaphore*", "-m", "BarrierTests", "-m", "TimerTests"))
python_case("subprocess", "test_subprocess", "-m", "*communicate*")
python_case("multiprocessing", "test_multiprocessing_fork", "-m", "WithProcessesTestQueue", "-m", "WithProcessesTestSharedMemory",
            only_in_long=("-m", "WithProcessesTestPool", "-m", "WithThreadsTestPool", "-m", "WithManagerTestQueue"))
