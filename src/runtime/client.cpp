#include "hearth/client.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "hearth/device.hpp"
#include "runtime/channel.hpp"

namespace hearth {

namespace {

using runtime::Allocation;
using runtime::Channel;
using runtime::Server;

/// Takes the channel's guard where it has one.
class Guard {
 public:
  explicit Guard(Channel& channel) : mutex_(channel.guard()) {
    if (mutex_) mutex_->lock();
  }
  ~Guard() {
    if (mutex_) mutex_->unlock();
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  std::recursive_mutex* mutex_;
};

Expected<void> check(Channel* channel) {
  if (!channel) return Failure{ErrorCode::invalid_argument, "client: it belongs to no device."};
  return channel->check_thread();
}

Expected<void> check(Channel& channel, const Handle& handle, const char* operation) {
  if (!handle) return Failure{ErrorCode::invalid_argument, std::string(operation) + ": the handle is null."};
  if (handle->owner != &channel.memory()) {
    return Failure{ErrorCode::wrong_device, std::string(operation) + ": the memory belongs to another device."};
  }
  return {};
}

Expected<void> check_range(Channel& channel, const Handle& handle, std::uint64_t offset, std::uint64_t size,
                           const char* operation) {
  if (Expected<void> valid = check(channel, handle, operation); !valid) return valid;
  if (offset > handle->size || size > handle->size - offset) {
    return Failure{ErrorCode::invalid_argument, std::string(operation) + ": bytes " + std::to_string(offset) + " to " +
                                                    std::to_string(offset + size) + " are outside memory of " +
                                                    std::to_string(handle->size) + " bytes."};
  }
  return {};
}

/// Runs at once under the guard, or is posted with `poison` as the handles that a failure leaves without a value.
/// `body` must own what it uses: it may run later.
template <typename Body>
Expected<void> post(Channel& channel, Handle poison, Body body) {
  return channel.post([poison = std::move(poison), body = std::move(body)](Server& server) -> Expected<void> {
    Expected<void> done = body(server);
    if (!done && poison && !poison->failure) poison->failure = std::make_unique<Failure>(done.error());
    return done;
  });
}

/// Calls that start something and give a future of it.
template <typename T, typename Start>
Future<T> start(const Ref<Channel>& channel, Start begin) {
  Future<T> future;
  Expected<void> done = channel->call([&](Server& server) -> Expected<void> {
    future = begin(server);
    return {};
  });
  if (!done) return Future<T>::ready_with(done.error());
  return through(channel, std::move(future));
}

}  // namespace

Expected<Handle> Client::empty(std::uint64_t size_bytes) const {
  if (Expected<void> valid = check(channel_.get()); !valid) return valid.error();
  return channel_->memory().make(size_bytes);
}

Expected<Handle> Client::create(std::span<const std::byte> bytes) const {
  Expected<Handle> handle = empty(bytes.size());
  if (!handle) return handle;
  if (Expected<void> written = write(*handle, 0, bytes); !written) return written.error();
  return handle;
}

Expected<void> Client::write(const Handle& to, std::uint64_t offset_bytes, std::span<const std::byte> bytes) const {
  if (Expected<void> valid = check(channel_.get()); !valid) return valid;
  if (Expected<void> valid = check_range(*channel_, to, offset_bytes, bytes.size(), "write"); !valid) return valid;
  if (Server* server = channel_->inline_server()) {
    const Guard guard(*channel_);
    return server->write(*to, offset_bytes, bytes);
  }
  return post(*channel_, to, [to, offset_bytes, copy = std::vector<std::byte>(bytes.begin(), bytes.end())](Server& server) {
    return server.write(*to, offset_bytes, copy);
  });
}

Expected<void> Client::copy(const Handle& from, std::uint64_t from_offset, const Handle& to, std::uint64_t to_offset,
                            std::uint64_t size_bytes) const {
  if (Expected<void> valid = check(channel_.get()); !valid) return valid;
  if (Expected<void> valid = check_range(*channel_, from, from_offset, size_bytes, "copy"); !valid) return valid;
  if (Expected<void> valid = check_range(*channel_, to, to_offset, size_bytes, "copy"); !valid) return valid;
  if (Server* server = channel_->inline_server()) {
    const Guard guard(*channel_);
    return server->copy(*from, from_offset, *to, to_offset, size_bytes);
  }
  return post(*channel_, to, [=](Server& server) { return server.copy(*from, from_offset, *to, to_offset, size_bytes); });
}

Expected<void> Client::launch(const std::shared_ptr<const ir::Kernel>& kernel, std::span<const Handle> bindings,
                              std::span<const std::uint32_t> parameters) const {
  if (Expected<void> valid = check(channel_.get()); !valid) return valid;
  const char* label = kernel ? kernel->label.c_str() : "launch";
  if (!kernel) return Failure{ErrorCode::invalid_argument, "launch: the kernel is null."};
  for (const Handle& handle : bindings)
    if (Expected<void> valid = check(*channel_, handle, label); !valid) return valid;

  if (Server* server = channel_->inline_server()) {
    std::array<Allocation*, 16> few;
    std::vector<Allocation*> many;
    std::span<Allocation*> pointers(few.data(), bindings.size());
    if (bindings.size() > few.size()) {
      many.resize(bindings.size());
      pointers = many;
    }
    for (std::size_t i = 0; i < bindings.size(); ++i) pointers[i] = bindings[i].get();
    const Guard guard(*channel_);
    return server->launch(kernel, pointers, parameters);
  }

  return channel_->post([kernel, handles = std::vector<Handle>(bindings.begin(), bindings.end()),
                         words = std::vector<std::uint32_t>(parameters.begin(), parameters.end())](Server& server) {
    std::vector<Allocation*> pointers(handles.size());
    for (std::size_t i = 0; i < handles.size(); ++i) pointers[i] = handles[i].get();
    Expected<void> done = server.launch(kernel, pointers, words);
    if (!done) {
      const std::size_t outputs = std::min(handles.size(), static_cast<std::size_t>(kernel->outputs));
      for (std::size_t i = handles.size() - outputs; i < handles.size(); ++i) {
        if (!handles[i]->failure) handles[i]->failure = std::make_unique<Failure>(done.error());
      }
    }
    return done;
  });
}

Future<std::vector<std::byte>> Client::read(const Handle& from, std::uint64_t offset_bytes, std::uint64_t size_bytes) const {
  using Bytes = std::vector<std::byte>;
  if (Expected<void> valid = check(channel_.get()); !valid) return Future<Bytes>::ready_with(valid.error());
  if (Expected<void> valid = check_range(*channel_, from, offset_bytes, size_bytes, "read"); !valid) {
    return Future<Bytes>::ready_with(valid.error());
  }
  return start<Bytes>(channel_, [&](Server& server) { return server.read(from, offset_bytes, size_bytes); });
}

void Client::sync(SyncType type) const {
  check(channel_.get()).value();
  if (type == SyncType::flush) {
    Expected<void> flushed;
    if (Server* server = channel_->inline_server()) {
      const Guard guard(*channel_);
      flushed = server->flush();
    } else {
      flushed = channel_->call([](Server& each) { return each.flush(); });
    }
    channel_->take_failure().value();
    return flushed.value();
  }
  Future<void> finished = start<void>(channel_, [](Server& server) {
    server.count_wait();
    return server.finished();
  });
  Expected<void> result = finished.result();
  channel_->take_failure().value();
  result.value();
}

Future<void> Client::sync_async() const {
  if (Expected<void> valid = check(channel_.get()); !valid) return Future<void>::ready_with(valid.error());
  Future<void> finished = start<void>(channel_, [](Server& server) { return server.finished(); });
  if (Expected<void> failed = channel_->take_failure(); !failed) return Future<void>::ready_with(failed.error());
  return finished;
}

RawResource Client::get_resource(const Handle& handle, bool exclusive) const {
  check(channel_.get()).value();
  check(*channel_, handle, "get_resource").value();
  RawResource resource;
  channel_
      ->call([&](Server& server) -> Expected<void> {
        Expected<RawResource> found = server.resource(handle, exclusive);
        if (!found) return found.error();
        resource = std::move(*found);
        return {};
      })
      .value();
  return resource;
}

}  // namespace hearth
