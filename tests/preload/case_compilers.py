"""gcc, g++ and java."""
from harness import case

HEADERS = ("algorithm any array bitset chrono deque filesystem functional future iostream list map memory mutex numeric "
           "optional queue random ranges regex set shared_mutex sstream string string_view thread tuple unordered_map "
           "unordered_set utility valarray variant vector").split()


def cxx_source(classes):
    """Templates over templates, in a file that takes the compiler some hundred megabytes."""
    text = ["#include <%s>\n" % header for header in HEADERS]
    text.append("template <int N> struct Depth { using type = std::tuple<typename Depth<N - 1>::type, std::array<int, N>>; };\n"
                "template <> struct Depth<0> { using type = std::tuple<int>; };\n")
    for i in range(classes):
        text.append(f"""
            template <class T> struct Box{i} {{
              std::map<std::string, std::vector<T>> values;
              std::variant<int, std::string, T> choice;
              auto sum() const {{
                return std::accumulate(values.begin(), values.end(), T{{}},
                                       [](T t, const auto& e) {{ return t + T(e.second.size()) + T({i}); }});
              }}
            }};
            template struct Box{i}<int>;
            template struct Box{i}<double>;
            std::size_t use{i}(const std::string& s) {{
              static const std::regex pattern("a{i}(b|c)*[0-9]+");
              std::unordered_map<std::string, Box{i}<long>> boxes;
              boxes[s].values["x"].push_back({i});
              return std::regex_match(s, pattern) + boxes.size() + sizeof(typename Depth<{i % 40}>::type);
            }}
            """)
    return "".join(text)


def c_source(functions):
    text = ["#include <stdio.h>\n#include <string.h>\n"]
    for i in range(functions):
        text.append(f"""
            static int table{i}[64] = {{{', '.join(str(i * k % 251) for k in range(64))}}};
            int f{i}(int n) {{
              char buffer[64]; int s = {i};
              for (int k = 0; k < n; ++k) {{ s = s * 31 + table{i}[k & 63]; if (s % 7 == {i % 7}) s ^= k; }}
              switch (s & 7) {{ case 0: s += 1; break; case 1: s <<= 1; break; case 5: s = ~s; break; default: s -= n; }}
              snprintf(buffer, sizeof buffer, "%d", s);
              return s + (int)strlen(buffer);
            }}
            """)
    return "".join(text)


@case("gcc", "gcc", "as", "ld")
def gcc(run):
    functions = 60 if run.short else 200
    run.write("big.c", c_source(functions) + "int main(void) { return f0(5) == f1(5); }\n")
    run.command("gcc", "-O2", "-g", "-Wall", "-c", "big.c", "-o", "big.o")
    run.digest("big.o")
    run.command("gcc", "-O1", "big.c", "-o", "big")
    run.digest("big")
    run.command("./big")
    run.command("gcc", "-c", "-x", "c", "-", "-o", "broken.o", stdin="int main( {", exit_code=1)


@case("g++", "g++", "as", "ld")
def gxx(run):
    run.write("big.cpp", cxx_source(2 if run.short else 10))
    run.command("g++", "-std=c++20", "-O1", "-c", "big.cpp", "-o", "big.o")
    run.digest("big.o")


JAVA = """
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;
import java.util.zip.*;

public class Work {
  public static void main(String[] args) throws Exception {
    int n = Integer.parseInt(args[0]);
    ExecutorService pool = Executors.newFixedThreadPool(8);
    List<Future<Long>> futures = new ArrayList<>();
    for (int t = 0; t < 8; t++) {
      final int seed = t;
      futures.add(pool.submit(() -> {
        Map<String, byte[]> map = new HashMap<>();
        Random random = new Random(seed);
        long sum = 0;
        for (int i = 0; i < n; i++) {
          map.put("key" + random.nextInt(500), new byte[random.nextInt(20000)]);
          Deflater deflater = new Deflater();  // native memory
          deflater.setInput(("text " + i).repeat(50).getBytes());
          deflater.finish();
          sum += deflater.deflate(new byte[4096]);
          deflater.end();
        }
        for (byte[] b : map.values()) sum += b.length;
        return sum;
      }));
    }
    for (Future<Long> f : futures) System.out.println(f.get());
    pool.shutdown();
    for (int i = 0; i < 5; i++) System.gc();
    System.out.println(IntStream.range(0, 100000).parallel().mapToObj(Integer::toString).collect(Collectors.joining()).hashCode());
    java.nio.ByteBuffer direct = null;
    for (int i = 0; i < 200; i++) direct = java.nio.ByteBuffer.allocateDirect(1 << 18);
    System.out.println(direct.capacity());
    System.exit(5);
  }
}
"""


@case("java", "java", "javac")
def java(run):
    run.write("Work.java", JAVA)
    run.command("javac", "Work.java")
    run.command("java", "-Xmx256m", "Work", 20 if run.short else 1000, exit_code=5)
