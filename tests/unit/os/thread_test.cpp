#include "common/os/thread.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

namespace hakozuna::os {
namespace {

std::atomic<int> calls{0};
void count_call(void* argument) {
  calls.fetch_add(1);
  static_cast<std::atomic<int>*>(argument)->fetch_add(1);
}

TEST(ThreadExit, HandlerIsCalledOnceForEachThreadWithItsArgument) {
  constexpr int kThreads = 20;
  std::atomic<int> arguments[kThreads] = {};
  calls = 0;
  std::vector<std::thread> threads;
  for (std::atomic<int>& argument : arguments) {
    threads.emplace_back([&argument] {
      errno = 55;
      EXPECT_TRUE(call_at_thread_exit(count_call, &argument));
      EXPECT_EQ(errno, 55);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(calls, kThreads);
  for (const std::atomic<int>& argument : arguments) EXPECT_EQ(argument, 1);
}

TEST(ThreadExit, AskingTwiceReplacesTheArgument) {
  std::atomic<int> first{0};
  std::atomic<int> second{0};
  std::thread([&] {
    call_at_thread_exit(count_call, &first);
    call_at_thread_exit(count_call, &second);
  }).join();
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
}

TEST(ThreadExit, AlsoWhenTheThreadCallsPthreadExit) {
  std::atomic<int> argument{0};
  pthread_t thread;
  ASSERT_EQ(pthread_create(
                &thread, nullptr,
                [](void* value) -> void* {
                  call_at_thread_exit(count_call, value);
                  pthread_exit(nullptr);
                },
                &argument),
            0);
  pthread_join(thread, nullptr);
  EXPECT_EQ(argument, 1);
}

TEST(ThreadExit, NotForThreadsThatDidNotAsk) {
  calls = 0;
  std::thread([] {}).join();
  EXPECT_EQ(calls, 0);
}

TEST(Thread, IdentityIsTheKernels) {
  EXPECT_EQ(thread_id(), static_cast<uint32_t>(getpid())) << "of the main thread";
  uint32_t other = 0;
  std::thread([&] { other = thread_id(); }).join();
  EXPECT_NE(other, 0u);
  EXPECT_NE(other, thread_id());
}

TEST(Thread, ExistsUntilItHasEnded) {
  std::atomic<uint32_t> id{0};
  std::atomic<bool> stop{false};
  std::thread thread([&] {
    id = thread_id();
    while (!stop) yield();
  });
  while (id == 0) yield();
  errno = 44;
  EXPECT_TRUE(thread_exists(id));
  EXPECT_TRUE(thread_exists(thread_id()));
  stop = true;
  thread.join();
  // The kernel lets go of the identity shortly after a join.
  for (int i = 0; thread_exists(id) && i < 5000; ++i) usleep(1000);
  EXPECT_FALSE(thread_exists(id));
  EXPECT_EQ(errno, 44);
}

}  // namespace
}  // namespace hakozuna::os
