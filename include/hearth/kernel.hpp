#pragma once
#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hearth/device.hpp"
#include "hearth/op.hpp"
#include "hearth/tensor.hpp"

namespace hearth {

/// A kernel from the user's own WGSL.
/// Bindings of group 0: the inputs in order (var<storage, read> or read_write), then the outputs (read_write), then, if
/// `parameter_count` > 0, a uniform array of vec4<u32|f32|i32> that holds the parameters.
struct KernelDescriptor {
  std::string label = "custom";
  std::string wgsl;
  std::string entry_point = "main";
  std::vector<DType> inputs;
  std::vector<DType> outputs;
  int parameter_count = 0;  ///< 32-bit words, at most 64
};

struct LaunchOptions {
  std::vector<Shape> output_shapes;
  std::array<std::uint32_t, 3> workgroups{1, 1, 1};
  std::vector<std::uint32_t> parameters;
};

class Kernel {
 public:
  Kernel() = default;

  /// Compiles; the future carries Error(compilation) with the compiler's message and its line, and the device stays usable.
  [[nodiscard]] static Future<Kernel> create(const Device& device, KernelDescriptor descriptor);
  /// An elementwise kernel from an expression over its inputs; works on every device and has its gradient by differentiation.
  /// e.g. Kernel::from_expression("scale_add", 2, [](std::span<const Expr> x) { return x[0] * 2 + x[1]; })
  [[nodiscard]] static Kernel from_expression(std::string label, int input_count,
                                              std::function<Expr(std::span<const Expr>)> body);

  /// Declares the gradient: given inputs, outputs and the outputs' gradients, one tensor an input (a null Tensor: none).
  using Gradient = std::function<std::vector<Tensor>(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                                                     std::span<const Tensor> gradients)>;
  [[nodiscard]] Kernel with_gradient(Gradient gradient) const;

  /// Launches on the inputs' device. Checks counts, dtypes, workgroups and sizes first.
  [[nodiscard]] std::vector<Tensor> launch(std::span<const Tensor> inputs, const LaunchOptions& options) const;
  /// For kernels made from an expression: inputs broadcast.
  [[nodiscard]] Tensor operator()(std::span<const Tensor> inputs) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace hearth
