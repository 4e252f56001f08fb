#include <cstdio>
#include <map>
#include <memory>
#include <set>

#include "launcher/binding_proof.h"
#include "launcher/commands.h"
#include "launcher/diagnosis.h"
#include "launcher/error.h"
#include "launcher/lines.h"

namespace hakozuna::launcher {

namespace {

void print(const char* label, const std::string& text) {
  std::printf("%-9s %s\n", label, text.c_str());
}

void print_program(const Diagnosis& diagnosis) {
  const ResolvedProgram& program = diagnosis.program;
  for (const ScriptStep& step : program.scripts) {
    print("script", step.script.string() + ", run by " + step.interpreter +
                        ": what counts is whether that can be served");
  }
  if (program.file.found == Found::kYes) print("program", program.file.path.string());
  if (!diagnosis.loader.empty()) print("loader", diagnosis.loader);
}

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

// "malloc, free and calloc of libc.so.6": who calls what, one entry per calling object.
std::string describe_bindings(const std::vector<Binding>& bindings) {
  std::map<std::string, std::set<std::string>> functions;
  for (const Binding& binding : bindings)
    functions[file_name(binding.user)].insert(binding.function);
  std::string text;
  for (const auto& [user, names] : functions) {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    text += (text.empty() ? "" : "; ") + list + " of " + user;
  }
  return text;
}

// What the trial showed against the library, as problems.
std::vector<Problem> problems_of(const BindingProof& proof) {
  std::vector<Problem> problems;
  for (const std::string& library : proof.missing) {
    problems.push_back({"it needs " + library + ", which is not found, so it cannot start at all",
                        "install that library or set LD_LIBRARY_PATH"});
  }
  if (!problems.empty()) return problems;
  const std::string complaint =
      proof.complaint.empty() ? "" : "; the loader says: " + proof.complaint;
  if (!proof.refusal.empty()) {
    problems.push_back(
        {"the loader refuses to start it with the library: " + proof.refusal,
         "start it without the library to see whose fault it is; a library built for "
         "a newer C library must be built on this system"});
  } else if (!proof.library_loaded) {
    problems.push_back({"the loader did not load the library" + complaint,
                        "check that the library fits this system's C library"});
  } else if (!proof.others.empty()) {
    problems.push_back(
        {"the loader gives it another malloc than ours: " + describe_bindings(proof.others) +
             " go to " + file_name(proof.others.front().provider) + complaint,
         "take that object out, or remove its own malloc"});
  } else if (proof.ours.empty()) {
    problems.push_back(
        {"the loader loaded the library, but nothing is bound to its malloc" + complaint,
         "build or install the library again"});
  }
  return problems;
}

void print_proof(const BindingProof& proof, const InstalledLine& line) {
  print("proof", "the loader put " + line.path.filename().string() +
                     " first and bound to it: " + describe_bindings(proof.ours));
  for (const std::string& library : proof.loaded) {
    const std::string allocator = allocator_in_library(library);
    if (allocator.empty()) continue;
    print("note", "it also loads " + library + ": malloc and free are " + line.name +
                      "'s all the same; calls by " + allocator +
                      "'s own names, such as for its statistics, stay with it");
  }
}

int doctor(const std::string& line_name, const std::vector<std::string>& program) {
  std::vector<Problem> problems;
  std::unique_ptr<InstalledLine> line;
  try {
    line = std::make_unique<InstalledLine>(find_line(line_name));
    print("library", line->name + ", " + line->path.string());
    problems = diagnose_library(line->path);
  } catch (const LauncherError& error) {
    if (error.exit_code() == kExitBadArguments) throw;
    problems.push_back({error.what(), "build or install a line, then ask again"});
  }

  const Diagnosis diagnosis = diagnose_program(program.front());
  print_program(diagnosis);
  for (const std::string& note : diagnosis.notes) print("note", note);
  problems.insert(problems.end(), diagnosis.problems.begin(), diagnosis.problems.end());

  if (problems.empty()) {
    const BindingProof proof = prove_binding(diagnosis.program.file.path, line->path);
    problems = problems_of(proof);
    if (problems.empty()) print_proof(proof, *line);
  }
  for (const Problem& problem : problems) {
    print("problem", problem.what);
    print("  to do", problem.remedy);
  }
  print("verdict", problems.empty() ? "served by " + line->name : "not served");
  return problems.empty() ? 0 : kExitNotServed;
}

}  // namespace

void add_doctor_command(CLI::App& app, Invocation& invocation) {
  const auto line = std::make_shared<std::string>(kDefaultLine);
  CLI::App* command = app.add_subcommand(
      "doctor",
      "Say whether a program can be served, and prove it.\n\n"
      "Looks for what keeps a library from being preloaded (a static binary, set-id bits, musl,\n"
      "another architecture, an allocator of the program's own ...) and says what to do. If there\n"
      "is nothing, the dynamic loader loads and binds the program with the library, without\n"
      "running the program's own code, and its malloc and free are checked to be ours.");
  command
      ->add_option("--line", *line,
                   "The allocator to check with (see hakozuna list); hz8 if not given")
      ->option_text("NAME");
  command->footer(
      "Exit codes: 0 if the program is served, 1 if not, 2 for bad arguments.\n\n"
      "Examples:\n"
      "  hakozuna doctor -- ./server\n"
      "  hakozuna doctor -- /usr/bin/redis-server");
  command->callback([line, &invocation] {
    invocation.action = [line, &invocation] {
      return doctor(*line, required_program(invocation, "doctor"));
    };
  });
}

}  // namespace hakozuna::launcher
