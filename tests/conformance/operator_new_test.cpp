// operator new and delete in all their forms.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>

#include "support/line_under_test.h"
#include "support/opaque.h"

namespace hakozuna::test {
namespace {

constexpr size_t kImpossible = static_cast<size_t>(PTRDIFF_MAX) - 100;
constexpr size_t kSizes[] = {0, 1, 16, 100, 5000, 70'000, 3'000'000};

void expect_ours(void* object) {
  ASSERT_NE(object, nullptr);
  ASSERT_EQ(reinterpret_cast<uintptr_t>(object) % 16, 0u);
  if (line_loaded()) {
    ASSERT_EQ(api().classify(object), HAKOZUNA_VALID);
  }
}

void expect_gone(void* object) {
  if (detection().exact_classify) {
    ASSERT_NE(api().classify(object), HAKOZUNA_VALID);
  }
}

TEST(OperatorNew, PlainFormsWithEveryDelete) {
  for (const size_t size : kSizes) {
    void* object = opaque(::operator new(size));
    expect_ours(object);
    ::operator delete(object);
    expect_gone(object);

    object = opaque(::operator new(size));
    ::operator delete(object, size);
    expect_gone(object);

    object = opaque(::operator new(size));
    ::operator delete(object, std::nothrow);
    expect_gone(object);

    object = opaque(::operator new[](size));
    expect_ours(object);
    ::operator delete[](object);
    expect_gone(object);

    object = opaque(::operator new[](size));
    ::operator delete[](object, size);
    expect_gone(object);

    object = opaque(::operator new[](size));
    ::operator delete[](object, std::nothrow);
    expect_gone(object);
  }
}

TEST(OperatorNew, NothrowForms) {
  for (const size_t size : kSizes) {
    void* object = opaque(::operator new(size, std::nothrow));
    expect_ours(object);
    ::operator delete(object);
    object = opaque(::operator new[](size, std::nothrow));
    expect_ours(object);
    ::operator delete[](object);
  }
}

TEST(OperatorNew, AlignedFormsWithEveryDelete) {
  for (size_t value = 32; value <= (size_t{1} << 20); value *= 4) {
    const auto alignment = static_cast<std::align_val_t>(value);
    const auto expect_aligned = [value](void* object) {
      expect_ours(object);
      ASSERT_EQ(reinterpret_cast<uintptr_t>(object) % value, 0u);
    };
    for (const size_t size : kSizes) {
      void* object = opaque(::operator new(size, alignment));
      expect_aligned(object);
      ::operator delete(object, alignment);
      expect_gone(object);

      object = opaque(::operator new(size, alignment));
      ::operator delete(object, size, alignment);
      expect_gone(object);

      object = opaque(::operator new(size, alignment, std::nothrow));
      expect_aligned(object);
      ::operator delete(object, alignment, std::nothrow);
      expect_gone(object);

      object = opaque(::operator new[](size, alignment));
      expect_aligned(object);
      ::operator delete[](object, alignment);
      expect_gone(object);

      object = opaque(::operator new[](size, alignment));
      ::operator delete[](object, size, alignment);
      expect_gone(object);

      object = opaque(::operator new[](size, alignment, std::nothrow));
      expect_aligned(object);
      ::operator delete[](object, alignment, std::nothrow);
      expect_gone(object);
    }
  }
}

TEST(OperatorNew, DeleteOfNullDoesNothing) {
  void* null = opaque<void*>(nullptr);
  ::operator delete(null);
  ::operator delete[](null);
  ::operator delete (null, size_t{8});
  ::operator delete[](null, size_t{8});
  ::operator delete (null, std::align_val_t{64});
  ::operator delete[](null, std::align_val_t{64});
  ::operator delete (null, size_t{8}, std::align_val_t{64});
  ::operator delete[](null, size_t{8}, std::align_val_t{64});
}

TEST(OperatorNew, ThrowsBadAlloc) {
  EXPECT_THROW(opaque(::operator new(opaque(kImpossible))), std::bad_alloc);
  EXPECT_THROW(opaque(::operator new[](opaque(kImpossible))), std::bad_alloc);
  EXPECT_THROW(opaque(::operator new (opaque(kImpossible), std::align_val_t{64})), std::bad_alloc);
  EXPECT_THROW(opaque(::operator new[](opaque(kImpossible), std::align_val_t{64})), std::bad_alloc);
}

TEST(OperatorNew, NothrowFormsReturnNull) {
  EXPECT_EQ(opaque(::operator new(opaque(kImpossible), std::nothrow)), nullptr);
  EXPECT_EQ(opaque(::operator new[](opaque(kImpossible), std::nothrow)), nullptr);
  EXPECT_EQ(opaque(::operator new (opaque(kImpossible), std::align_val_t{64}, std::nothrow)),
            nullptr);
  EXPECT_EQ(opaque(::operator new[](opaque(kImpossible), std::align_val_t{64}, std::nothrow)),
            nullptr);
}

int handler_calls = 0;

class NewHandler : public ::testing::Test {
 protected:
  void SetUp() override {
    handler_calls = 0;
    previous_ = std::get_new_handler();
  }
  void TearDown() override { std::set_new_handler(previous_); }

 private:
  std::new_handler previous_ = nullptr;
};

TEST_F(NewHandler, IsCalledUntilItGivesUp) {
  std::set_new_handler([] {
    if (++handler_calls == 3) std::set_new_handler(nullptr);
  });
  EXPECT_THROW(opaque(::operator new(opaque(kImpossible))), std::bad_alloc);
  EXPECT_EQ(handler_calls, 3);
}

TEST_F(NewHandler, IsCalledByTheNothrowAndAlignedForms) {
  const std::new_handler give_up = [] {
    if (++handler_calls % 2 == 0) std::set_new_handler(nullptr);
  };
  std::set_new_handler(give_up);
  EXPECT_EQ(opaque(::operator new(opaque(kImpossible), std::nothrow)), nullptr);
  EXPECT_EQ(handler_calls, 2);
  std::set_new_handler(give_up);
  EXPECT_EQ(opaque(::operator new (opaque(kImpossible), std::align_val_t{128}, std::nothrow)),
            nullptr);
  EXPECT_EQ(handler_calls, 4);
  std::set_new_handler(give_up);
  EXPECT_THROW(opaque(::operator new (opaque(kImpossible), std::align_val_t{128})), std::bad_alloc);
  EXPECT_EQ(handler_calls, 6);
}

struct OutOfPatience {};

TEST_F(NewHandler, MayThrow) {
  std::set_new_handler([] { throw OutOfPatience{}; });
  EXPECT_THROW(opaque(::operator new(opaque(kImpossible))), OutOfPatience);
}

// A nothrow form is noexcept: it turns bad_alloc from the handler into null.
TEST_F(NewHandler, BadAllocFromItIsNullInTheNothrowForms) {
  std::set_new_handler([] { throw std::bad_alloc{}; });
  EXPECT_EQ(opaque(::operator new(opaque(kImpossible), std::nothrow)), nullptr);
  EXPECT_EQ(opaque(::operator new[](opaque(kImpossible), std::nothrow)), nullptr);
}

TEST_F(NewHandler, IsNotAskedWhenMemoryIsThere) {
  std::set_new_handler([] { ++handler_calls; });
  ::operator delete(opaque(::operator new(1000)));
  EXPECT_EQ(handler_calls, 0);
}

// The library's own users of operator new: exceptions, strings, containers.
TEST(OperatorNew, ServesTheStandardLibrary) {
  for (int i = 0; i < 1000; ++i) {
    try {
      throw std::string(static_cast<size_t>(i), 'x');
    } catch (const std::string& text) {
      ASSERT_EQ(text.size(), static_cast<size_t>(i));
    }
  }
}

}  // namespace
}  // namespace hakozuna::test
