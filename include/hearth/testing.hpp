#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "hearth/device.hpp"
#include "hearth/dtype.hpp"
#include "hearth/op.hpp"

/// The tests that every op block gets, those of ops/ and a user's own alike. Independent of any test framework.
namespace hearth::testing {

/// What a check found. A failure is one sentence with op, dtype, inputs, value and what was expected.
struct Report {
  int comparisons = 0;
  std::vector<std::string> failures;

  [[nodiscard]] bool passed() const noexcept { return failures.empty() && comparisons > 0; }
  /// The first failures, a line each.
  [[nodiscard]] std::string text() const;
};

struct CheckOptions {
  /// Dtypes of the inputs; none given: all that the op takes and the device has.
  std::vector<DType> dtypes;
  bool gradients = true;
  bool second_gradients = true;
};

/// Checks an op on a device, eager or fused as the device's options say: values over the domain and at the ends (infinities, NaN,
/// the largest numbers) against f64, first and second gradients against finite differences in f64, strided views, broadcasting,
/// numbers as operands, empty tensors. On a null device shapes and dtypes only.
[[nodiscard]] Report check_op(const UnaryOp& op, const Device& device, const CheckOptions& options = {});
[[nodiscard]] Report check_op(const BinaryOp& op, const Device& device, const CheckOptions& options = {});
[[nodiscard]] Report check_op(const ReduceOp& op, const Device& device, const CheckOptions& options = {});

/// How far a result may be from its f64 reference: relative, and absolute near 0.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};
/// Of one elementwise op stored as `dtype`; the table behind every numeric test.
[[nodiscard]] Tolerance tolerance(DType dtype) noexcept;
/// The same for gradients, which are compared with finite differences.
[[nodiscard]] Tolerance gradient_tolerance(DType dtype) noexcept;

}  // namespace hearth::testing
