#include <cstring>
#include <new>
#include <thread>

#include "ir/interpret.hpp"
#include "runtime/backends.hpp"
#include "runtime/check.hpp"
#include "runtime/cpu/structured.hpp"
#include "runtime/cpu/thread_pool.hpp"
#include "runtime/server.hpp"

namespace hearth::runtime {

namespace cpu {

namespace {

/// A cache line, and the widest vector.
constexpr std::size_t alignment = 64;

class HostStorage final : public Storage {
 public:
  Expected<void*> allocate(std::uint64_t size_bytes) override {
    void* memory = ::operator new(size_bytes, std::align_val_t(alignment), std::nothrow);
    if (!memory)
      return Failure{ErrorCode::out_of_memory, "memory: the system has no " + std::to_string(size_bytes) + " bytes left."};
    return memory;
  }
  void free(void* buffer) noexcept override { ::operator delete(buffer, std::align_val_t(alignment)); }
};

DeviceInfo host_info() {
  DeviceInfo info;
  info.name = "CPU";
  info.backend = "cpu";
  info.max_storage_buffers = 1u << 16;
  info.max_binding_bytes = info.max_buffer_bytes = std::uint64_t{1} << 46;
  info.storage_alignment = info.uniform_alignment = alignment;
  info.f16 = info.f64 = true;
  return info;
}

std::byte* address(const Allocation& allocation) { return static_cast<std::byte*>(allocation.block->buffer) + allocation.offset; }

/// Runs every launch at once, on the calling thread and a pool.
class CpuServer final : public Server {
 public:
  explicit CpuServer(const RuntimeOptions& options)
      : pool_(static_cast<int>(std::thread::hardware_concurrency())), structured_(pool_) {
    info_ = host_info();
    memory_ = make_ref<Memory>(std::make_shared<HostStorage>(), memory_options(info_, options));
    loop_ = [this](std::int64_t count, std::int64_t grain, const ThreadPool::Body& body) {
      pool_.parallel_for(count, grain, body);
    };
  }

  Memory& memory() noexcept override { return *memory_; }

  Expected<void> write(Allocation& to, std::uint64_t offset, std::span<const std::byte> bytes) override {
    if (Expected<void> placed = memory_->place(to); !placed) return placed;
    if (!bytes.empty()) std::memcpy(address(to) + offset, bytes.data(), bytes.size());
    statistics_.bytes_written += bytes.size();
    return {};
  }
  Expected<void> copy(Allocation& from, std::uint64_t from_offset, Allocation& to, std::uint64_t to_offset,
                      std::uint64_t size) override {
    if (from.failure) return *from.failure;
    if (Expected<void> placed = memory_->place(from); !placed) return placed;
    if (Expected<void> placed = memory_->place(to); !placed) return placed;
    std::memmove(address(to) + to_offset, address(from) + from_offset, size);
    return {};
  }
  Expected<void> launch(const ir::KernelRef& kernel, std::span<Allocation* const> bindings,
                        std::span<const std::uint32_t> parameters) override {
    if (kernel->form == ir::Form::source) return source_is_unsupported(*kernel);
    if (Expected<void> fits = check_launch(*kernel, bindings, parameters.size(), info_); !fits) return fits;
    for (Allocation* binding : bindings)
      if (Expected<void> placed = memory_->place(*binding); !placed) return placed;
    if (kernel->form == ir::Form::matmul || kernel->form == ir::Form::conv2d) {
      host_.clear();
      for (const Allocation* binding : bindings) host_.push_back({address(*binding), binding->size});
      structured_.run(kernel, host_, parameters);
    } else {
      addresses_.clear();
      for (const Allocation* binding : bindings) addresses_.push_back(address(*binding));
      ir::interpret(*kernel, addresses_, parameters, loop_);
    }
    ++statistics_.dispatches;
    pending_ = true;
    return {};
  }
  Future<std::vector<std::byte>> read(const Handle& from, std::uint64_t offset, std::uint64_t size) override {
    using Bytes = std::vector<std::byte>;
    (void)flush();
    if (from->failure) return Future<Bytes>::ready_with(*from->failure);
    if (Expected<void> placed = memory_->place(*from); !placed) return Future<Bytes>::ready_with(placed.error());
    statistics_.bytes_read += size;
    const std::byte* begin = address(*from) + offset;
    return Future<Bytes>::ready_with(Bytes(begin, begin + size));
  }
  /// Everything has run already; the counters are as on a GPU.
  Expected<void> flush() override {
    memory_->collect();
    if (pending_) {
      ++statistics_.submits;
      ++statistics_.passes;
    }
    pending_ = false;
    statistics_.allocations = memory_->blocks_made();
    return {};
  }
  Future<void> finished() override { return Future<void>::ready_with(flush()); }
  Expected<RawResource> resource(const Handle& handle, bool exclusive) override {
    if (handle->failure) return *handle->failure;
    if (Expected<void> placed = memory_->place(*handle, exclusive); !placed) return placed.error();
    if (exclusive && !handle->block->exclusive && !handle->pinned) {
      const std::byte* old = address(*handle);
      if (Expected<void> moved = memory_->move_to_exclusive(*handle); !moved) return moved.error();
      std::memcpy(address(*handle), old, handle->size);
    }
    handle->pinned = true;
    (void)flush();
    return RawResource{handle->block->buffer, handle->offset, handle->size, handle};
  }
  Future<void> compile(const ir::KernelRef& kernel) override {
    if (kernel->form == ir::Form::source) return Future<void>::ready_with(source_is_unsupported(*kernel));
    return Future<void>::ready_with({});
  }

 private:
  static Failure source_is_unsupported(const ir::Kernel& kernel) {
    return {ErrorCode::unsupported,
            kernel.label + ": a kernel of WGSL source needs a GPU; the CPU device runs kernels made from expressions."};
  }

  Ref<Memory> memory_;
  ThreadPool pool_;
  Structured structured_;
  ir::ParallelFor loop_;
  std::vector<std::byte*> addresses_;
  std::vector<HostBinding> host_;
  bool pending_ = false;
};

}  // namespace

}  // namespace cpu

Expected<Ref<Channel>> open_cpu(const RuntimeOptions& options) {
  return make_channel(options, [options]() -> Expected<Ref<Server>> { return Ref<Server>(new cpu::CpuServer(options)); });
}

}  // namespace hearth::runtime
