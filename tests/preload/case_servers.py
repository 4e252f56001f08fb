"""redis with its own benchmark, and memcached."""
import hashlib
import os
import random
import socket

from harness import Failure, case


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def connects(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False


@case("redis", "redis-server", "redis-benchmark", "redis-cli")
def redis(run):
    port = free_port()
    server = run.start("redis-server", "--port", port, "--save", "", "--dir", run.directory, "--enable-debug-command", "yes",
                       "--io-threads", 2, "--activedefrag", "no", "--bind", "127.0.0.1")
    run.wait_until(lambda: connects(port), "redis-server does not answer")
    if not run.is_loaded_into(server.pid):
        raise Failure("redis-server runs without the library")

    def cli(*arguments, **more):
        # The port differs from run to run, so the command itself is not noted.
        done = run.command("redis-cli", "-p", port, *arguments, compare=False, **more)
        run.note(f"{arguments}: {done.stdout}\n")
        return done.stdout

    requests = 2_000 if run.short else 20_000
    done = run.command("redis-benchmark", "-p", port, "-n", requests, "-c", 50, "-P", 16, "-q", "-t",
                       "set,get,incr,lpush,rpush,lpop,sadd,hset,zadd,lrange_100,mset", compare=False)
    if "rror" in done.stdout + done.stderr:
        raise Failure(done.stdout + done.stderr)
    cli("dbsize")
    cli("llen", "mylist")
    cli("flushall")

    numbers = random.Random(5)
    commands = []
    for i in range(2_000 if run.short else 20_000):
        value = "v" * numbers.randrange(1, 2000)
        commands.append(f"set key:{numbers.randrange(9000)} {value}\nhset hash:{i % 100} f{i % 53} {value[:50]}\n"
                        f"rpush list:{i % 40} {i}\nzadd z:{i % 20} {numbers.randrange(1000)} m{i % 500}\n"
                        f"del key:{numbers.randrange(9000)}\n")
    run.command("redis-cli", "-p", port, stdin="".join(commands), compare=False)
    cli("dbsize")
    cli("debug", "digest")
    cli("save")
    cli("debug", "reload")
    cli("debug", "digest")
    cli("memory", "purge")
    cli("eval", "local t = {} for i = 1, 1000 do t[i] = string.rep('x', i) end return #table.concat(t)", 0)
    # A child is forked while clients write.
    cli("bgrewriteaof")
    run.command("redis-benchmark", "-p", port, "-n", requests, "-c", 10, "-q", "-t", "set,get", compare=False)
    cli("flushall")
    cli("dbsize")
    run.command("redis-cli", "-p", port, "shutdown", "nosave", compare=False, exit_code=None)
    run.note(f"exit code {run.wait_for_end(server)}\n")


class Memcached:
    """As much of the text protocol as the test needs."""

    def __init__(self, port):
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self._stream = self._socket.makefile("rwb")

    def ask(self, line, data=None):
        self._stream.write(line.encode() + b"\r\n" + (data + b"\r\n" if data is not None else b""))
        self._stream.flush()
        return self._stream.readline()

    def get(self, key):
        header = self.ask(f"get {key}")
        if header == b"END\r\n":
            return None
        data = self._stream.read(int(header.split()[3]) + 2)[:-2]
        if self._stream.readline() != b"END\r\n":
            raise Failure("memcached: the answer to get has no end")
        return data

    def close(self):
        self._stream.close()
        self._socket.close()


@case("memcached", "memcached")
def memcached(run):
    port = free_port()
    user = ["-u", "nobody"] if os.geteuid() == 0 else []
    server = run.start("memcached", "-l", "127.0.0.1", "-p", port, "-U", 0, "-t", 4, "-m", 128, *user)
    run.wait_until(lambda: connects(port), "memcached does not answer")
    # Once it has given up root its maps are not ours to read, unless we are root ourselves.
    if not run.is_loaded_into(server.pid):
        raise Failure("memcached runs without the library")
    clients = [Memcached(port) for _ in range(20)]
    numbers = random.Random(6)
    expected = {}
    answers = hashlib.sha256()
    for i in range(1_000 if run.short else 20_000):
        key = f"key{numbers.randrange(3000)}"
        client = clients[i % len(clients)]
        if i % 5 == 4:
            answer = client.ask(f"delete {key}")
            expected.pop(key, None)
        else:
            expected[key] = bytes([i % 251]) * numbers.randrange(1, 8000)
            answer = client.ask(f"set {key} 0 0 {len(expected[key])}", expected[key])
        answers.update(answer)
    for i in range(3000):
        value = clients[i % len(clients)].get(f"key{i}")
        if value != expected.get(f"key{i}"):
            raise Failure(f"memcached lost the value of key{i}")
    run.note(f"{answers.hexdigest()} {len(expected)}\n")
    run.note(clients[0].ask("version").decode())
    for client in clients:
        client.close()
    server.terminate()
    run.note(f"exit code {run.wait_for_end(server)}\n")
