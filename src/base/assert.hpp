#pragma once
#include <cstdio>
#include <cstdlib>

/// A broken invariant of the library itself: prints and aborts. Not for a caller's mistakes.
#define HEARTH_ASSERT(condition)                                                                      \
  do {                                                                                                \
    if (!(condition)) {                                                                               \
      std::fprintf(stderr, "hearth: broken invariant %s at %s:%d\n", #condition, __FILE__, __LINE__); \
      std::abort();                                                                                   \
    }                                                                                                 \
  } while (false)
