#include "launcher/windows/injection.h"

#include <windows.h>

#include "launcher/windows/command_line.h"
#include "launcher/windows/failure.h"

namespace hakozuna::launcher {
namespace {

constexpr DWORD kPatienceMs = 60000;  // for the loader in the new process, which virus scanners may slow down

// A process that was started and does not run yet. It is ended with this object unless it was let go.
class SuspendedProcess {
 public:
  SuspendedProcess(const std::wstring& program, std::wstring command_line) {
    STARTUPINFOW startup;
    GetStartupInfoW(&startup);  // ours: window, standard handles and the C runtime's descriptors go on to the program
    started_ = CreateProcessW(program.c_str(), command_line.data(), nullptr, nullptr, /*bInheritHandles=*/TRUE, CREATE_SUSPENDED, nullptr, nullptr,
                              &startup, &process_);
  }
  ~SuspendedProcess() {
    if (!started_) return;
    if (!released_) TerminateProcess(process_.hProcess, kExitCannotStart);
    CloseHandle(process_.hThread);
    CloseHandle(process_.hProcess);
  }
  SuspendedProcess(const SuspendedProcess&) = delete;
  SuspendedProcess& operator=(const SuspendedProcess&) = delete;

  explicit operator bool() const { return started_; }

  bool is_32_bit() const {
    BOOL emulated = FALSE;
    return IsWow64Process(process_.hProcess, &emulated) && emulated;
  }

  // Has a thread of the process call LoadLibraryW(library). kernel32 is at the same address in every process.
  bool load(const std::wstring& library) {
    const size_t bytes = (library.size() + 1) * sizeof(wchar_t);
    void* const name = VirtualAllocEx(process_.hProcess, nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (!name || !WriteProcessMemory(process_.hProcess, name, library.c_str(), bytes, nullptr)) return false;
    const auto load_library =
        reinterpret_cast<LPTHREAD_START_ROUTINE>(reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"kernel32.dll"), "LoadLibraryW")));
    const HANDLE thread = CreateRemoteThread(process_.hProcess, nullptr, 0, load_library, name, 0, nullptr);
    if (!thread) return false;
    DWORD module = 0;  // the lower half of its address, or 0
    const bool done = WaitForSingleObject(thread, kPatienceMs) == WAIT_OBJECT_0 && GetExitCodeThread(thread, &module);
    CloseHandle(thread);
    if (done) VirtualFreeEx(process_.hProcess, name, 0, MEM_RELEASE);
    return done && module != 0;
  }

  // Lets it run, to its end.
  int finish() {
    released_ = true;
    ResumeThread(process_.hThread);
    WaitForSingleObject(process_.hProcess, INFINITE);
    DWORD code = kExitCannotStart;
    GetExitCodeProcess(process_.hProcess, &code);
    return static_cast<int>(code);
  }

 private:
  PROCESS_INFORMATION process_ = {};
  bool started_ = false;
  bool released_ = false;
};

// What the user types at the console is for the program, which shares it. Not inherited, as ignoring would be.
BOOL WINAPI leave_to_program(DWORD) { return TRUE; }

bool is_file(const std::wstring& path) {
  const DWORD attributes = GetFileAttributesW(path.c_str());
  return attributes != INVALID_FILE_ATTRIBUTES && !(attributes & FILE_ATTRIBUTE_DIRECTORY);
}

}  // namespace

std::wstring find_program(const std::wstring& name) {
  if (name.find_first_of(L"\\/:") != name.npos) {
    for (const std::wstring& path : {name, name + L".exe"}) {
      if (is_file(path)) return path;
    }
    return L"";
  }
  wchar_t found[32768];
  const DWORD length = SearchPathW(nullptr, name.c_str(), L".exe", sizeof found / sizeof found[0], found, nullptr);
  return length != 0 && length < sizeof found / sizeof found[0] ? found : L"";
}

int run_with_library(const std::wstring& program, const std::vector<std::wstring>& arguments, const std::wstring& library) {
  SuspendedProcess process(program, join_arguments(arguments));
  if (!process) {
    return fail(kExitNotExecutable, arguments[0] + L": cannot be executed (error " + std::to_wstring(GetLastError()) + L")");
  }
  if (process.is_32_bit()) return fail(kExitNotExecutable, arguments[0] + L": is a 32-bit program; only 64-bit programs can be served");
  if (!process.load(library)) return fail(kExitCannotStart, arguments[0] + L": does not load " + library);
  SetConsoleCtrlHandler(leave_to_program, TRUE);
  return process.finish();
}

}  // namespace hakozuna::launcher
