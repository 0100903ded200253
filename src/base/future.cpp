#include "hearth/future.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#if defined(__EMSCRIPTEN__)
#include <emscripten.h>
#endif

namespace hearth::detail {

#if defined(__EMSCRIPTEN__)

// HEARTH_WEB_SUSPEND: the program is linked with JSPI or ASYNCIFY, so that C++ can give way to the event loop.
void wait_round([[maybe_unused]] int round) {
#if defined(HEARTH_WEB_SUSPEND)
  emscripten_sleep(round < 8 ? 0 : 1);
#else
  throw Error(ErrorCode::would_block,
              "get: waiting blocks this thread's event loop, which must run for the result to arrive; use then, co_await or "
              "ready, or link with JSPI or ASYNCIFY.");
#endif
}

#else

void wait_round(int round) {
  // A submit and wait takes about 50 us on a fast device: the first rounds only give the core away.
  constexpr int yields = 64;
  if (round < yields) {
    std::this_thread::yield();
    return;
  }
  const int doubling = std::min((round - yields) / 8, 6);
  std::this_thread::sleep_for(std::chrono::microseconds(16 << doubling));  // 16 us to 1 ms
}

#endif

}  // namespace hearth::detail
