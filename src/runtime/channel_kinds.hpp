#pragma once
#include "runtime/channel.hpp"

#include <functional>

namespace hearth::runtime {

using MakeServer = std::function<Expected<Ref<Server>>()>;

[[nodiscard]] Expected<Ref<Channel>> make_direct_channel(const MakeServer& make);
[[nodiscard]] Expected<Ref<Channel>> make_mutex_channel(const RuntimeOptions& options, const MakeServer& make);
[[nodiscard]] Expected<Ref<Channel>> make_mpsc_channel(const RuntimeOptions& options, MakeServer make);
[[nodiscard]] Expected<Ref<Channel>> make_thread_local_channel(const MakeServer& make);

/// Threads numbered from 1 in the order in which they first came here: what messages call them.
[[nodiscard]] int thread_number() noexcept;
[[nodiscard]] Failure wrong_thread(int owner);

}  // namespace hearth::runtime
