#include "hearth/ops/create.hpp"

#include <algorithm>
#include <cmath>

#include "tensor/structured.hpp"

namespace hearth {
namespace {

using namespace structured;

Body lower_full(const Operation& operation) { return {.value = Expr::argument(0, compute_dtype(operation.dtype))}; }
constexpr Definition full_definition{.name = "full", .lower = lower_full};

Body lower_arange(const Operation& operation) {
  const DType dtype = compute_dtype(operation.dtype);
  return {.value = Expr::argument(0, dtype) + cast(Expr::coordinate(0), dtype) * Expr::argument(1, dtype)};
}
constexpr Definition arange_definition{.name = "arange", .lower = lower_arange};

/// The last number is given, not computed: start + i * step may miss it by a rounding.
Body lower_linspace(const Operation& operation) {
  const DType dtype = compute_dtype(operation.dtype);
  const Expr i = Expr::coordinate(0);
  const Expr value = Expr::argument(0, dtype) + cast(i, dtype) * Expr::argument(1, dtype);
  return {.value = select(i == integer(operation.shape[0] - 1), Expr::argument(2, dtype), value)};
}
constexpr Definition linspace_definition{.name = "linspace", .lower = lower_linspace};

Body lower_eye(const Operation& operation) {
  return {.value = cast(Expr::coordinate(0) == Expr::coordinate(1), compute_dtype(operation.dtype))};
}
constexpr Definition eye_definition{.name = "eye", .lower = lower_eye};

void require_device(const Device& device, const char* operation) {
  if (!device) fail(ErrorCode::invalid_argument, "{}: the device is null.", operation);
}

}  // namespace

Tensor full(const Shape& shape, double value, DType dtype, const Device& device) {
  require_device(device, "full");
  return run(full_definition, {Operand(value, dtype)}, shape, dtype, {}, device);
}
Tensor full(const Shape& shape, double value, const Device& device) { return full(shape, value, DType::f32, device); }
Tensor zeros(const Shape& shape, DType dtype, const Device& device) { return full(shape, 0, dtype, device); }
Tensor zeros(const Shape& shape, const Device& device) { return full(shape, 0, DType::f32, device); }
Tensor ones(const Shape& shape, DType dtype, const Device& device) { return full(shape, 1, dtype, device); }
Tensor ones(const Shape& shape, const Device& device) { return full(shape, 1, DType::f32, device); }

Tensor full_like(const Tensor& x, double value) {
  require(x, "full_like");
  return full(x.shape(), value, x.dtype(), x.device());
}
Tensor zeros_like(const Tensor& x) { return full_like(x, 0); }
Tensor ones_like(const Tensor& x) { return full_like(x, 1); }

Tensor arange(double start, double stop, double step, DType dtype, const Device& device) {
  require_device(device, "arange");
  if (!std::isfinite(start) || !std::isfinite(stop) || !std::isfinite(step) || step == 0)
    fail(ErrorCode::invalid_argument, "arange: start {}, stop {} and step {} must be finite, and the step not 0.", start, stop,
         step);
  if (dtype == DType::boolean) fail(ErrorCode::dtype_mismatch, "arange: the dtype is bool; it must be a number.");
  if (!is_float(dtype) && (start != std::floor(start) || step != std::floor(step)))
    fail(ErrorCode::invalid_argument, "arange: start {} and step {} must be whole numbers for {}.", start, step, text(dtype));
  const double count = std::max(0.0, std::ceil((stop - start) / step));
  if (count > 2147483647.0)
    fail(ErrorCode::unsupported, "arange: {} numbers from {} to {} are more than 2147483647.", count, start, stop);
  return run(arange_definition, {Operand(start, dtype), Operand(step, dtype)}, {static_cast<std::int64_t>(count)}, dtype, {},
             device);
}
Tensor arange(double start, double stop, double step, const Device& device) {
  return arange(start, stop, step, DType::f32, device);
}
Tensor arange(double stop, DType dtype, const Device& device) { return arange(0, stop, 1, dtype, device); }
Tensor arange(double stop, const Device& device) { return arange(0, stop, 1, DType::f32, device); }

Tensor linspace(double start, double stop, std::int64_t count, DType dtype, const Device& device) {
  require_device(device, "linspace");
  if (count < 0) fail(ErrorCode::invalid_argument, "linspace: the count {} is negative.", count);
  if (!is_float(dtype)) fail(ErrorCode::dtype_mismatch, "linspace: the dtype is {}; it must be a float.", text(dtype));
  const double step = count > 1 ? (stop - start) / static_cast<double>(count - 1) : 0;
  const double last = count > 1 ? stop : start;
  return run(linspace_definition, {Operand(start, dtype), Operand(step, dtype), Operand(last, dtype)}, {count}, dtype, {},
             device);
}
Tensor linspace(double start, double stop, std::int64_t count, const Device& device) {
  return linspace(start, stop, count, DType::f32, device);
}

Tensor eye(std::int64_t rows, std::int64_t columns, DType dtype, const Device& device) {
  require_device(device, "eye");
  return run(eye_definition, {}, {rows, columns}, dtype, {}, device);
}
Tensor eye(std::int64_t size, const Device& device) { return eye(size, size, DType::f32, device); }

}  // namespace hearth
