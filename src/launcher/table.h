// A table of text with aligned columns.
#pragma once

#include <string>
#include <vector>

namespace hakozuna::launcher {

enum class Align { kLeft, kRight };

class Table {
 public:
  struct Column {
    std::string title;
    Align align;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add_row(std::vector<std::string> cells);  // one cell per column
  std::string text() const;                      // lines ending in newlines

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

std::string with_decimals(double value, int decimals);  // "12.3"
std::string with_thousands(double value);               // "12,345", rounded

}  // namespace hakozuna::launcher
