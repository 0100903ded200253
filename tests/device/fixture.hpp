#pragma once
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "device/app.hpp"
#include "hearth/client.hpp"
#include "ir/kernel.hpp"

namespace hearth::test {

/// A channel on an app's device, without the layers above.
struct Fixture {
  explicit Fixture(const RuntimeOptions& options = {});

  [[nodiscard]] Handle make(const std::vector<float>& values) const;
  [[nodiscard]] Handle empty(std::size_t count) const { return client.empty(count * sizeof(float)).value(); }
  [[nodiscard]] std::vector<float> read(const Handle& handle) const;
  /// Launches and gives the output, of as many floats as the kernel writes.
  [[nodiscard]] Handle run(const ir::KernelRef& kernel, std::vector<Handle> inputs,
                           const std::vector<float>& parameters = {}) const;
  [[nodiscard]] Statistics statistics() const { return channel->statistics(); }
  void flush() const { client.sync(SyncType::flush); }

  App app;
  Ref<runtime::Channel> channel;
  Client client;
};

/// out[i] = a[i] + b[i]
[[nodiscard]] ir::KernelRef add(std::int64_t count);
/// out[i] = a[i] * p0 + p1
[[nodiscard]] ir::KernelRef affine(std::int64_t count);
/// out[i] = p0
[[nodiscard]] ir::KernelRef fill(std::int64_t count);
/// The sum of all elements.
[[nodiscard]] ir::KernelRef sum(std::int64_t count);
/// A user's WGSL with f32 bindings, the last the output.
[[nodiscard]] ir::KernelRef source(std::string label, std::string wgsl, std::size_t bindings, std::uint32_t workgroups = 1);

[[nodiscard]] std::vector<float> floats(const std::vector<std::byte>& bytes);
[[nodiscard]] std::span<const std::byte> bytes_of(const std::vector<float>& values);
/// first, first + step, ...
[[nodiscard]] std::vector<float> range(std::size_t count, float first = 0, float step = 1);

}  // namespace hearth::test
