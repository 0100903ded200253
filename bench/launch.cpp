// What a launch costs on the host: Hearth beside plain webgpu.h, in one run. Prints a JSON list of rows.
#include <fmt/format.h>
#include <hearth/hearth.hpp>
#include <hearth/webgpu.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "floor.hpp"

namespace {

using Clock = std::chrono::steady_clock;
double now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }
double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}
WGPUStringView view(const char* text) { return {text, std::strlen(text)}; }

constexpr int adds = 1000;
constexpr int rounds = 30;

/// Seconds to record `adds` dependent additions.
double hearth_chain(const hearth::Device& device, const hearth::Tensor& zero, const hearth::Tensor& one, bool with_flush) {
  hearth::Tensor x = zero;
  const double start = now();
  for (int i = 0; i < adds; ++i) x = x + one;
  if (with_flush) device.sync(hearth::SyncType::flush);
  const double end = now();
  device.sync(hearth::SyncType::wait);
  return end - start;
}

nlohmann::json row(const std::string& work, const std::string& device, const char* unit, double hearth, const char* rival,
                   double rival_value, double target) {
  const double ratio = hearth / rival_value;
  if (target == 0)
    return {{"work", work},     {"device", device},  {"unit", unit},
            {"hearth", hearth}, {"rival", rival},    {"rival_value", rival_value},
            {"ratio", ratio},   {"target", nullptr}, {"met", nullptr}};
  return {{"work", work},     {"device", device}, {"unit", unit},
          {"hearth", hearth}, {"rival", rival},   {"rival_value", rival_value},
          {"ratio", ratio},   {"target", target}, {"met", ratio <= target}};
}

}  // namespace

namespace floor_bench {

Gpu open() {
  Gpu gpu;
  gpu.instance = wgpuCreateInstance(nullptr);
  WGPURequestAdapterCallbackInfo on_adapter = {};
  on_adapter.mode = WGPUCallbackMode_AllowProcessEvents;
  on_adapter.callback = [](WGPURequestAdapterStatus, WGPUAdapter adapter, WGPUStringView, void* out, void*) {
    *static_cast<WGPUAdapter*>(out) = adapter;
  };
  on_adapter.userdata1 = &gpu.adapter;
  wgpuInstanceRequestAdapter(gpu.instance, nullptr, on_adapter);
  for (int i = 0; i < 1000 && !gpu.adapter; ++i) wgpuInstanceProcessEvents(gpu.instance);
  if (!gpu.adapter) std::exit(77);
  WGPURequestDeviceCallbackInfo on_device = {};
  on_device.mode = WGPUCallbackMode_AllowProcessEvents;
  on_device.callback = [](WGPURequestDeviceStatus, WGPUDevice device, WGPUStringView, void* out, void*) {
    *static_cast<WGPUDevice*>(out) = device;
  };
  on_device.userdata1 = &gpu.device;
  wgpuAdapterRequestDevice(gpu.adapter, nullptr, on_device);
  for (int i = 0; i < 1000 && !gpu.device; ++i) wgpuInstanceProcessEvents(gpu.instance);
  if (!gpu.device) std::exit(77);
  gpu.queue = wgpuDeviceGetQueue(gpu.device);
  return gpu;
}

void close(Gpu& gpu) {
  wgpuQueueRelease(gpu.queue);
  wgpuDeviceRelease(gpu.device);
  wgpuAdapterRelease(gpu.adapter);
  wgpuInstanceRelease(gpu.instance);
  gpu = {};
}

void wait(const Gpu& gpu) {
  bool done = false;
  WGPUQueueWorkDoneCallbackInfo on_done = {};
  on_done.mode = WGPUCallbackMode_AllowProcessEvents;
  on_done.callback = [](auto... arguments) {
    *static_cast<bool*>(std::get<sizeof...(arguments) - 2>(std::tuple(arguments...))) = true;
  };
  on_done.userdata1 = &done;
  wgpuQueueOnSubmittedWorkDone(gpu.queue, on_done);
  while (!done) wgpuInstanceProcessEvents(gpu.instance);
}

static const char* shader =
    "@group(0) @binding(0) var<storage, read_write> x: array<f32>;"
    "@group(0) @binding(1) var<storage, read_write> y: array<f32>;"
    "@group(0) @binding(2) var<storage, read_write> o: array<f32>;"
    "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) i: vec3u) { if (i.x < 64u) { o[i.x] = x[i.x] + y[i.x]; "
    "} }";

Adds::Adds(const Gpu& gpu) : gpu_(gpu) {
  WGPUShaderSourceWGSL source = {};
  source.chain.sType = WGPUSType_ShaderSourceWGSL;
  source.code = view(shader);
  WGPUShaderModuleDescriptor module_descriptor = {};
  module_descriptor.nextInChain = &source.chain;
  WGPUShaderModule module = wgpuDeviceCreateShaderModule(gpu.device, &module_descriptor);
  WGPUComputePipelineDescriptor pipeline_descriptor = {};
  pipeline_descriptor.compute.module = module;
  pipeline_descriptor.compute.entryPoint = view("main");
  pipeline_ = wgpuDeviceCreateComputePipeline(gpu.device, &pipeline_descriptor);
  wgpuShaderModuleRelease(module);
  WGPUBindGroupLayout layout = wgpuComputePipelineGetBindGroupLayout(pipeline_, 0);
  const std::vector<float> ones(64, 1.0f);
  for (WGPUBuffer& buffer : buffers_) {
    WGPUBufferDescriptor descriptor = {};
    descriptor.size = 256;
    descriptor.usage = WGPUBufferUsage_Storage | WGPUBufferUsage_CopyDst;
    buffer = wgpuDeviceCreateBuffer(gpu.device, &descriptor);
    wgpuQueueWriteBuffer(gpu.queue, buffer, 0, ones.data(), 256);
  }
  for (int g = 0; g < 2; ++g) {
    WGPUBindGroupEntry entries[3] = {};
    WGPUBuffer bound[3] = {buffers_[g], buffers_[2], buffers_[1 - g]};
    for (std::uint32_t i = 0; i < 3; ++i) {
      entries[i].binding = i;
      entries[i].buffer = bound[i];
      entries[i].size = 256;
    }
    WGPUBindGroupDescriptor descriptor = {};
    descriptor.layout = layout;
    descriptor.entryCount = 3;
    descriptor.entries = entries;
    groups_[g] = wgpuDeviceCreateBindGroup(gpu.device, &descriptor);
  }
  wgpuBindGroupLayoutRelease(layout);
}

Adds::~Adds() {
  for (WGPUBindGroup group : groups_) wgpuBindGroupRelease(group);
  for (WGPUBuffer buffer : buffers_) wgpuBufferRelease(buffer);
  wgpuComputePipelineRelease(pipeline_);
}

double Adds::encode_seconds(int count) {
  const double start = now();
  WGPUCommandEncoder encoder = wgpuDeviceCreateCommandEncoder(gpu_.device, nullptr);
  WGPUComputePassEncoder pass = wgpuCommandEncoderBeginComputePass(encoder, nullptr);
  for (int i = 0; i < count; ++i) {
    wgpuComputePassEncoderSetPipeline(pass, pipeline_);
    wgpuComputePassEncoderSetBindGroup(pass, 0, groups_[i & 1], 0, nullptr);
    wgpuComputePassEncoderDispatchWorkgroups(pass, 1, 1, 1);
  }
  const double end = now();
  wgpuComputePassEncoderEnd(pass);
  wgpuComputePassEncoderRelease(pass);
  WGPUCommandBuffer commands = wgpuCommandEncoderFinish(encoder, nullptr);
  wgpuQueueSubmit(gpu_.queue, 1, &commands);
  wgpuCommandBufferRelease(commands);
  wgpuCommandEncoderRelease(encoder);
  return end - start;
}

void Adds::run(int count) { (void)encode_seconds(count); }

}  // namespace floor_bench

int main() {
  using hearth::SyncType;
  floor_bench::Gpu gpu = floor_bench::open();
  nlohmann::json rows = nlohmann::json::array();
  {
    const hearth::webgpu::ExistingDevice existing{gpu.instance, gpu.adapter, gpu.device, gpu.queue};
    floor_bench::Adds adds_floor(gpu);
    std::vector<double> floor_encode, floor_submit, floor_one, eager, eager_flush, fused, fused_flush, idle, one;
    std::string name;

    // Alternating rounds: the noise of the machine meets both.
    for (const bool fusion : {false, true}) {
      const hearth::Device device = hearth::webgpu::init_existing_device(existing, {.fusion = fusion});
      name = device.info().name;
      const hearth::Tensor zero = hearth::tensor(std::vector<float>(64, 0.0f), {64}, device);
      const hearth::Tensor ones = hearth::tensor(std::vector<float>(64, 1.0f), {64}, device);
      for (int round = 0; round < rounds + 5; ++round) {
        const double e = adds_floor.encode_seconds(adds);
        floor_bench::wait(gpu);
        double start = now();
        adds_floor.run(adds);
        const double s = now() - start;
        floor_bench::wait(gpu);
        const double h = hearth_chain(device, zero, ones, false);
        const double hf = hearth_chain(device, zero, ones, true);
        if (round < 5) continue;
        floor_encode.push_back(e);
        floor_submit.push_back(s);
        (fusion ? fused : eager).push_back(h);
        (fusion ? fused_flush : eager_flush).push_back(hf);
      }
      if (!fusion) continue;
      for (int round = 0; round < 300; ++round) {
        double start = now();
        adds_floor.run(1);
        const double f = now() - start;
        floor_bench::wait(gpu);
        const hearth::Tensor z = zero + ones;
        start = now();
        device.sync(SyncType::flush);
        const double o = now() - start;
        device.sync(SyncType::wait);
        start = now();
        for (int i = 0; i < 100; ++i) device.sync(SyncType::flush);
        const double n = (now() - start) / 100;
        if (round < 50) continue;
        floor_one.push_back(f);
        one.push_back(o);
        idle.push_back(n);
      }
    }
    const double per = 1e9 / adds;
    const char* const chain = "x = x + y, 64 elements, chain of 1,000, fusion ";
    for (const bool fusion : {false, true}) {
      const std::string work = chain + std::string(fusion ? "on" : "off");
      const double returned = median(fusion ? fused : eager) * per;
      rows.push_back(row(work + ": time to return", name, "ns/op", returned, "plain webgpu.h, encode and submit",
                         median(floor_submit) * per, 2));
      rows.push_back(row(work + ": with the flush", name, "ns/op", median(fusion ? fused_flush : eager_flush) * per,
                         "plain webgpu.h, encode and submit", median(floor_submit) * per, 2));
      // No target: the encoder only notes commands down, and works on them at Finish and Submit.
      rows.push_back(
          row(work + ": time to return", name, "ns/op", returned, "plain webgpu.h, encode only", median(floor_encode) * per, 0));
    }
    rows.push_back(row("sync(flush), nothing pending", name, "us", median(idle) * 1e6, "1 us", 1, 1));
    rows.push_back(row("sync(flush), one op pending", name, "us", median(one) * 1e6, "plain webgpu.h, encode and submit one",
                       median(floor_one) * 1e6, 1.5));
  }
  floor_bench::close(gpu);
  std::puts(rows.dump(1).c_str());
}
