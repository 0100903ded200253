#include "graph/context.hpp"

#include "graph/devices.hpp"

namespace hearth::graph {

Context::Context(Ref<runtime::Channel> channel, RuntimeOptions options)
    : options_(std::move(options)),
      client_(std::move(channel)),
      info_(client_.channel()->info()),
      one_thread_(options_.channel == ChannelKind::direct || options_.channel == ChannelKind::thread_local_),
      mutex_(client_.channel()->guard() ? client_.channel()->guard() : &own_mutex_),
      eager_(std::make_unique<Eager>(*this, client_)) {
  Executor* below = eager_.get();
  if (options_.fusion) {
    // One binding of a kernel is its output.
    fusion_ = std::make_unique<Fusion>(*this, *below, static_cast<int>(info_.max_storage_buffers) - 1);
    below = fusion_.get();
  }
  autodiff_ = std::make_unique<Autodiff>(*below);
}

Context::~Context() {
  if (native) forget(*this);
}

Context::Guard::Guard(Context& context) {
  if (context.one_thread_) context.channel().check_thread().value();
  lock_ = std::unique_lock(*context.mutex_);
}

}  // namespace hearth::graph
