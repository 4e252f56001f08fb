"""Shell, coreutils, git, cmake and sqlite3."""
from harness import case, find_program, without_times


@case("bash", "bash")
def bash(run):
    rounds = 200 if run.short else 5000
    run.write("script.sh", f"""
        set -eu
        declare -A words
        for i in $(seq {rounds}); do words[key$((i % 97))]+="value $i "; done
        for k in $(printf '%s\\n' "${{!words[@]}}" | sort); do echo "$k ${{#words[$k]}} ${{words[$k]:0:20}}"; done
        list=(); for i in $(seq {rounds}); do list+=("$((i * i))"); done; echo "${{#list[@]}} ${{list[@]: -3}}"
        text=$(printf 'x%.0s' $(seq 5000)); echo "${{#text}} ${{text//x/yy}}" | md5sum
        f() {{ local n=$1; if ((n < 2)); then echo $n; else echo $(( $(f $((n - 1))) + $(f $((n - 2))) )); fi; }}
        f {6 if run.short else 11}
        for i in 1 2 3 4; do (echo "child $i"; exit $i) || echo "exit $?"; done
        diff <(seq 100) <(seq 2 101) || true
        trap 'echo trapped' USR1; kill -USR1 $$
        while read -r a b; do echo "$b-$a"; done < <(paste <(seq 50) <(seq 51 100))
        echo one two | {{ read -r x y; echo "$y $x"; }}
        cat <<< "$(ls /usr/bin | head -100 | tr a-z A-Z)"
        exit 3
    """)
    run.command("bash", "script.sh", exit_code=3)


@case("coreutils", "sort", "ls", "md5sum", "shuf", "factor", "split", "join", "od", "tr")
def coreutils(run):
    lines = 20_000 if run.short else 400_000
    run.command("bash", "-c", f"seq {lines} | awk '{{print ($1 * 7919) % 1000003, \"line\", $1}}' > big.txt")
    run.command("sort", "big.txt", "-o", "sorted.txt")
    run.digest("sorted.txt")
    run.command("sort", "-n", "-k1,1", "--parallel=2", "-S", "4M", "big.txt", "-o", "numeric.txt")
    run.digest("numeric.txt")
    run.command("bash", "-c", "sort -u -k1,1n big.txt | uniq -c | sort -rn | head -50")
    run.command("bash", "-c", "seq 5000 | shuf --random-source=/usr/bin/sort | md5sum")
    run.command("ls", "-lR", "/usr/include/linux")
    run.command("bash", "-c", "ls -R /usr/lib 2>/dev/null | md5sum")
    run.command("md5sum", "big.txt", "sorted.txt", "numeric.txt")
    run.command("sha256sum", "big.txt")
    run.command("bash", "-c", "sort -k3,3 big.txt > a; sort -k3,3 -r big.txt | sort -k3,3 > b; join -1 3 -2 3 a b | md5sum")
    run.command("bash", "-c", "split -n l/7 -d big.txt part.; wc part.*; cat part.* | cmp - big.txt")
    run.command("bash", "-c", "tac big.txt | tr 0-9 a-j | cut -c2-9 | fold -w 5 | nl | tail -20")
    run.command("bash", "-c", "od -A x -t x1z big.txt | tail -5; base64 big.txt | base64 -d | cmp - big.txt")
    run.command("factor", *range(10**15, 10**15 + 200, 7))
    run.command("bash", "-c", "cp -r /usr/include/linux copy; find copy -type f | sort | xargs cat | cksum; rm -r copy; du --apparent-size -b big.txt")


@case("git", "git")
def git(run):
    fixed = {"GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2024-01-01T00:00:00Z",
             "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org",
             "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org"}

    def do(*arguments, **more):
        run.command("git", *arguments, **fixed, **more)

    do("init", "-q", "-b", "main", ".")
    commits = 10 if run.short else 30
    for i in range(commits):
        for k in range(20):
            run.write(f"file{(i + k) % 40}.txt", "".join(f"line {n} of {i * k}\n" for n in range(200 + i)))
        do("add", "-A")
        do("commit", "-q", "-m", f"change {i}")
    do("log", "--stat")
    do("log", "-p", "-5")
    do("rev-parse", "HEAD")
    do("blame", "file3.txt")
    do("checkout", "-q", "-b", "side", "HEAD~5")
    run.write("side.txt", "side\n")
    do("add", "side.txt")
    do("commit", "-q", "-m", "side")
    do("merge", "-q", "--no-edit", "main")
    do("diff", "--stat", "HEAD~3")
    do("grep", "-c", "line 7 of")
    do("gc", "--aggressive", "-q")
    do("fsck", "--full", "--strict")
    do("count-objects")
    do("clone", "-q", ".", "clone")
    do("-C", "clone", "log", "--oneline", "--graph", "--all")


@case("cmake", "cmake", "ninja", "cc", "c++")
def cmake(run):
    run.write("CMakeLists.txt", """
        cmake_minimum_required(VERSION 3.20)
        project(example LANGUAGES C CXX)
        include(CheckIncludeFile)
        check_include_file(stdio.h HAVE_STDIO)
        find_package(Threads REQUIRED)
        set(list)
        foreach(i RANGE 2000)
          list(APPEND list "item ${i}")
          string(REGEX REPLACE "([0-9]+)" "<\\\\1>" out "item ${i}")
        endforeach()
        list(SORT list)
        list(LENGTH list n)
        message(STATUS "${n} ${out}")
        file(WRITE ${CMAKE_BINARY_DIR}/main.c "int main(void) { return 0; }")
        foreach(i RANGE 50)
          add_executable(p${i} ${CMAKE_BINARY_DIR}/main.c)
          target_link_libraries(p${i} Threads::Threads)
        endforeach()
        """)
    run.command("cmake", "-G", "Ninja", "-S", ".", "-B", "out", clean=without_times)
    run.digest("out/build.ninja")
    run.command("ninja", "-j1", "-C", "out", "p0", "p1", clean=without_times)


@case("sqlite3", "sqlite3")
def sqlite3(run):
    rows = 10_000 if run.short else 200_000
    run.write("work.sql", f"""
        pragma journal_mode = wal;
        create table t (id integer primary key, a integer, b text, c blob);
        with recursive n(i) as (select 1 union all select i + 1 from n where i < {rows})
            insert into t select i, (i * 7919) % 100003, printf('text %d %s', i, hex(i * i)), zeroblob(i % 300) from n;
        create index ta on t (a);
        create index tb on t (b);
        select count(*), sum(a), min(b), max(b), sum(length(c)) from t;
        select a % 10, count(*), avg(id) from t group by 1 order by 1;
        select x.id, y.id from t x join t y on x.a = y.id where x.id % 997 = 0 order by 1 limit 100;
        update t set b = b || ' changed' where id % 3 = 0;
        delete from t where id % 7 = 0;
        select count(*), group_concat(b) from (select b from t order by b desc limit 50);
        create virtual table f using fts5(b); insert into f select b from t where id < 20000;
        select count(*) from f where f match 'changed';
        select json_group_array(json_object('id', id, 'a', a)) from t where id < 50;
        vacuum;
        pragma integrity_check;
        """)
    run.command(find_program("sqlite3"), "data.db", ".read work.sql")
    run.digest("data.db")
