#include "support/json_check.h"

#include <cctype>

namespace hakozuna::test {
namespace {

// Recursive descent over RFC 8259; every function leaves the position behind what it accepted.
class Checker {
 public:
  explicit Checker(std::string_view text) : text_(text) {}

  bool whole() {
    if (!value()) return false;
    skip_space();
    return position_ == text_.size();
  }
  size_t position() const { return position_; }

 private:
  void skip_space() {
    while (position_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[position_]) != text_.npos) {
      ++position_;
    }
  }

  bool take(char c) {
    skip_space();
    if (position_ >= text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }

  bool take_word(std::string_view word) {
    if (text_.substr(position_, word.size()) != word) return false;
    position_ += word.size();
    return true;
  }

  bool value() {
    skip_space();
    if (position_ >= text_.size()) return false;
    switch (text_[position_]) {
      case '{':
        return members();
      case '[':
        return elements();
      case '"':
        return string();
      case 't':
        return take_word("true");
      case 'f':
        return take_word("false");
      case 'n':
        return take_word("null");
      default:
        return number();
    }
  }

  bool members() {
    if (!take('{')) return false;
    if (take('}')) return true;
    do {
      skip_space();
      if (!string() || !take(':') || !value()) return false;
    } while (take(','));
    return take('}');
  }

  bool elements() {
    if (!take('[')) return false;
    if (take(']')) return true;
    do {
      if (!value()) return false;
    } while (take(','));
    return take(']');
  }

  bool string() {
    if (position_ >= text_.size() || text_[position_] != '"') return false;
    for (++position_; position_ < text_.size(); ++position_) {
      const auto c = static_cast<unsigned char>(text_[position_]);
      if (c == '"') {
        ++position_;
        return true;
      }
      if (c < 0x20) return false;
      if (c == '\\') ++position_;
    }
    return false;
  }

  bool digits() {
    const size_t start = position_;
    while (position_ < text_.size() &&
           std::isdigit(static_cast<unsigned char>(text_[position_])) != 0) {
      ++position_;
    }
    return position_ > start;
  }

  bool number() {
    if (position_ < text_.size() && text_[position_] == '-') ++position_;
    const size_t start = position_;
    if (!digits()) return false;
    if (text_[start] == '0' && position_ > start + 1) return false;
    if (position_ < text_.size() && text_[position_] == '.') {
      ++position_;
      if (!digits()) return false;
    }
    if (position_ < text_.size() && (text_[position_] == 'e' || text_[position_] == 'E')) {
      ++position_;
      if (position_ < text_.size() && (text_[position_] == '+' || text_[position_] == '-'))
        ++position_;
      if (!digits()) return false;
    }
    return true;
  }

  std::string_view text_;
  size_t position_ = 0;
};

}  // namespace

std::string problem_with_json(std::string_view text) {
  Checker checker(text);
  if (checker.whole()) return "";
  return "not JSON at byte " + std::to_string(checker.position()) + ": " +
         std::string(text.substr(checker.position(), 40));
}

}  // namespace hakozuna::test
