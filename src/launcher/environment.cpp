#include "launcher/environment.h"

#include <unistd.h>

#include <algorithm>

#include "launcher/lines.h"

namespace hakozuna::launcher {

namespace {

constexpr const char* kPreload = "LD_PRELOAD";

bool is_line(const std::string& preloaded) {
  return line_name_of_file(std::filesystem::path(preloaded).filename().string()).has_value();
}

}  // namespace

Environment Environment::of_this_process() {
  Environment environment;
  for (char** entry = environ; entry && *entry; ++entry) environment.entries_.emplace_back(*entry);
  return environment;
}

std::vector<std::string>::iterator Environment::find(const std::string& name) {
  return std::find_if(entries_.begin(), entries_.end(), [&](const std::string& entry) {
    return entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name);
  });
}

std::optional<std::string> Environment::get(const std::string& name) const {
  const auto entry = const_cast<Environment*>(this)->find(name);
  if (entry == entries_.end()) return std::nullopt;
  return entry->substr(name.size() + 1);
}

void Environment::set(const std::string& name, const std::string& value) {
  const auto entry = find(name);
  if (entry == entries_.end()) {
    entries_.push_back(name + "=" + value);
  } else {
    *entry = name + "=" + value;
  }
}

void Environment::unset(const std::string& name) {
  const auto entry = find(name);
  if (entry != entries_.end()) entries_.erase(entry);
}

void Environment::remove_preloaded_lines() {
  const std::optional<std::string> before = get(kPreload);
  if (!before) return;
  std::string kept;
  size_t start = 0;
  while (start < before->size()) {
    const size_t end = std::min(before->find_first_of(" :", start), before->size());
    const std::string name = before->substr(start, end - start);
    if (!name.empty() && !is_line(name)) kept += (kept.empty() ? "" : ":") + name;
    start = end + 1;
  }
  if (kept.empty()) {
    unset(kPreload);
  } else {
    set(kPreload, kept);
  }
}

void Environment::preload(const std::filesystem::path& library) {
  remove_preloaded_lines();
  const std::optional<std::string> others = get(kPreload);
  set(kPreload, others ? library.string() + ":" + *others : library.string());
}

std::vector<char*> Environment::pointers() { return argument_pointers(entries_); }

std::vector<char*> argument_pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace hakozuna::launcher
