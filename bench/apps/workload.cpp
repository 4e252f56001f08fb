// Input for the compiler: a file that instantiates much of the standard library.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

template <int N>
struct Shape {
  std::map<std::string, std::vector<int>> points;
  std::unordered_map<int, std::shared_ptr<Shape>> neighbours;
  std::variant<int, double, std::string, std::vector<std::string>> value;

  int area() const {
    std::set<int> unique;
    for (const auto& [name, list] : points) {
      std::copy_if(
          list.begin(), list.end(), std::inserter(unique, unique.end()),
          [&name = name](int point) { return point % N == static_cast<int>(name.size()); });
    }
    return static_cast<int>(unique.size()) +
           (neighbours.empty() ? 0 : neighbours.begin()->second->area());
  }
};

template <int N>
int total(const std::string& text) {
  std::smatch match;
  static const std::regex pattern("([a-z]+)-([0-9]+)");
  Shape<N> shape;
  if (std::regex_search(text, match, pattern))
    shape.points[match[1]].push_back(std::stoi(match[2]));
  std::mt19937 random(N);
  std::vector<std::function<int(int)>> steps(N, [](int x) { return x + N; });
  std::shuffle(steps.begin(), steps.end(), random);
  int sum = shape.area();
  for (const auto& step : steps) sum = step(sum);
  if constexpr (N > 1) sum += total<N - 1>(text);
  return sum;
}

int entry_point(const std::string& text) { return total<5>(text); }
