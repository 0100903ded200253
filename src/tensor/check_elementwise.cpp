#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>

#include "hearth/ops/binary.hpp"
#include "hearth/ops/view.hpp"
#include "ir/expr.hpp"
#include "tensor/check_values.hpp"
#include "tensor/op_dtypes.hpp"

/// check_op for unary and binary ops. Few sizes and few tensors: a device that builds pipelines slowly is checked quickly.
namespace hearth::testing {

namespace {

constexpr int side = 8;
constexpr int count = side * side;
const Shape square_shape{side, side};

/// Far outside the domain exp and the like lose more digits.
Tolerance ends_tolerance(DType dtype) {
  return dtype == DType::f32 ? Tolerance{4e-5, 5e-6} : dtype == DType::f64 ? Tolerance{1e-10, 1e-12} : tolerance(dtype);
}

/// Weights for gradients, exact in every float dtype.
Values weights(int n, int period) {
  Values values;
  for (int i = 0; i < n; ++i) values.push_back(0.5 + 0.25 * (i % period));
  return values;
}

/// What an integer is stored as: its low bits.
double stored(double value, DType result) {
  if (result == DType::boolean) return value != 0 ? 1 : 0;
  if (result == DType::u8) return static_cast<double>(static_cast<std::uint8_t>(static_cast<std::int64_t>(value)));
  if (result == DType::i8) return static_cast<double>(static_cast<std::int8_t>(static_cast<std::int64_t>(value)));
  return value;
}

Values transposed(const Values& values) {
  Values result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) result[i % side * side + i / side] = values[i];
  return result;
}

Values map(const Values& x, const std::function<double(double)>& f) {
  Values y;
  for (double value : x) y.push_back(f(value));
  return y;
}

// ---- unary ----

/// The op in f64.
struct UnaryOracle {
  explicit UnaryOracle(const UnaryOp& op)
      : op_(op), y_(op(Expr::argument(0, DType::f64))), dy_(is_float(y_.dtype()) ? derivative(y_, 0) : Expr()) {}
  [[nodiscard]] double value(double x) const {
    return op_.spec.reference ? op_.spec.reference(x) : ir::evaluate(y_, std::array{x});
  }
  [[nodiscard]] double first(double x) const {
    return slope([this](double at) { return value(at); }, x);
  }
  [[nodiscard]] double second(double x) const {
    return slope([this](double at) { return ir::evaluate(dy_, std::array{at}); }, x);
  }

 private:
  const UnaryOp& op_;
  Expr y_, dy_;
};

/// The op on whole numbers, as kernels compute it.
double whole(const UnaryOp& op, double x, const detail::ResolvedDType& dtype) {
  if (dtype.result == DType::boolean && op.spec.reference) return op.spec.reference(x);
  return stored(ir::evaluate(op(Expr::argument(0, dtype.compute)), std::array{x}), dtype.result);
}

void check_values(Comparisons& all, const UnaryOp& op, const Device& device, DType dtype) {
  const detail::ResolvedDType types = detail::resolve(op.spec.dtypes, dtype, op.name);
  const std::string name = to_string(dtype);
  Values x = ends(dtype, op.spec.ends);
  const Values inside = spread(is_float(dtype) ? op.spec.domain : Interval{-20, 20}, count - static_cast<int>(x.size()));
  x.insert(x.end(), inside.begin(), inside.end());
  x = quantised(x, dtype);
  const UnaryOracle oracle(op);
  const Values y = map(x, [&](double v) { return is_float(dtype) ? oracle.value(v) : whole(op, v, types); });
  const Tolerance allowed = is_float(types.result) ? ends_tolerance(types.result) : Tolerance{};
  all.attempt(name, [&] {
    all.expect(name, apply(op, upload(x, square_shape, dtype, device)), square_shape, types.result, y, allowed, {x});
    const Tensor strided = transpose(upload(transposed(x), square_shape, dtype, device));
    all.expect(name + ", strided", apply(op, strided), square_shape, types.result, y, allowed, {x});
    all.expect(name + ", no elements", apply(op, upload({}, {0, 3}, dtype, device)), {0, 3}, types.result, {}, allowed);
  });
}

void check_gradients(Comparisons& all, const UnaryOp& op, const Device& device, DType dtype, bool second) {
  const std::string name = std::string(to_string(dtype)) + ", gradient";
  const UnaryOracle oracle(op);
  const Values x = quantised(spread(op.spec.domain, count), dtype);
  const Values w = weights(count, 5);
  const Values u = weights(count, 3);
  Values expected, expected_second;
  for (std::size_t i = 0; i < x.size(); ++i) {
    expected.push_back(w[i] * oracle.first(x[i]));
    expected_second.push_back(second ? w[i] * u[i] * oracle.second(x[i]) : 0);
  }
  all.attempt(name, [&] {
    const Tensor leaf = upload(x, square_shape, dtype, device).require_grad();
    const Tensor gradient = apply(op, leaf).backward(upload(w, square_shape, dtype, device), {.create_graph = second}).of(leaf);
    all.expect(name, gradient, square_shape, dtype, expected, gradient_tolerance(dtype), {x});
    if (!second) return;
    const Tensor of_gradient = gradient.requires_grad() ? gradient.backward(upload(u, square_shape, dtype, device)).of(leaf)
                                                        : upload(Values(count, 0), square_shape, dtype, device);
    all.expect(name + " of the gradient", of_gradient, square_shape, dtype, expected_second, gradient_tolerance(dtype), {x});
  });
}

// ---- binary ----

struct BinaryOracle {
  explicit BinaryOracle(const BinaryOp& op) : op_(op), y_(op(Expr::argument(0, DType::f64), Expr::argument(1, DType::f64))) {
    if (is_float(y_.dtype()))
      for (int i : {0, 1}) slopes_[static_cast<std::size_t>(i)] = derivative(y_, i);
  }
  [[nodiscard]] double value(double a, double b) const {
    return op_.spec.reference ? op_.spec.reference(a, b) : ir::evaluate(y_, std::array{a, b});
  }
  /// d value / d operand `with`.
  [[nodiscard]] double first(double a, double b, int with) const {
    return slope([&](double at) { return with == 0 ? value(at, b) : value(a, at); }, with == 0 ? a : b);
  }
  /// d^2 value / d operand `with` d operand `then`.
  [[nodiscard]] double second(double a, double b, int with, int then) const {
    const Expr& dy = slopes_[static_cast<std::size_t>(with)];
    return slope(
        [&](double at) {
          return ir::evaluate(dy, then == 0 ? std::array{at, b} : std::array{a, at});
        },
        then == 0 ? a : b);
  }

 private:
  const BinaryOp& op_;
  Expr y_;
  std::array<Expr, 2> slopes_;
};

bool fits(double value, DType dtype) { return quantised(value, dtype) == value; }

double whole(const BinaryOp& op, double a, double b, const detail::ResolvedDType& dtype) {
  if (op.spec.reference && (dtype.result == DType::boolean || b != 0)) {
    const double value = op.spec.reference(a, b);
    if (fits(value, dtype.result)) return value;
  }
  const Expr y = op(Expr::argument(0, dtype.compute), Expr::argument(1, dtype.compute));
  return stored(ir::evaluate(y, std::array{a, b}), dtype.result);
}

class BinaryCheck {
 public:
  BinaryCheck(Comparisons& all, const BinaryOp& op, const Device& device, DType dtype)
      : all_(all),
        op_(op),
        device_(device),
        dtype_(dtype),
        name_(to_string(dtype)),
        oracle_(op),
        types_(detail::resolve(op.spec.dtypes, dtype, op.name)) {
    const Interval wide{-20, 20};
    a_ = quantised(spread(is_float(dtype) ? op.spec.domain : wide, count), dtype);
    const Values b = quantised(spread(is_float(dtype) ? op.spec.domain_b : wide, count, 0.61), dtype);
    for (int i = 0; i < count; ++i) b_.push_back(b[static_cast<std::size_t>(i * 29 + 7) % b.size()]);
  }

  void values() {
    const Tensor a = upload(a_, square_shape, dtype_, device_);
    const Tensor b = upload(b_, square_shape, dtype_, device_);
    expect("", apply(op_, a, b), square_shape, a_, b_, inside());
    expect(", strided", apply(op_, transpose(upload(transposed(a_), square_shape, dtype_, device_)), b), square_shape, a_, b_,
           inside());
    const Values none;
    expect(", no elements", apply(op_, upload(none, {2, 0}, dtype_, device_), upload({1, 1}, {2, 1}, dtype_, device_)), {2, 0},
           none, none, inside());
  }

  /// Every pair of values at the ends, by broadcasting.
  void pairs() {
    const Values low = quantised(ends(dtype_, op_.spec.ends), dtype_);
    Values a, b;
    for (double x : low)
      for (double y : low) {
        a.push_back(x);
        b.push_back(y);
      }
    const auto n = static_cast<std::int64_t>(low.size());
    const Tensor y = apply(op_, upload(low, {n, 1}, dtype_, device_), upload(low, {n}, dtype_, device_));
    expect(", broadcast", y, {n, n}, a, b, is_float(types_.result) ? ends_tolerance(types_.result) : Tolerance{});
  }

  void numbers() {
    if (dtype_ == DType::boolean) return;  // beside a number a boolean counts as i32
    const double number = quantised(is_float(dtype_) ? 0.4 * op_.spec.domain_b.low + 0.6 * op_.spec.domain_b.high : 3, dtype_);
    const double left = quantised(is_float(dtype_) ? 0.4 * op_.spec.domain.low + 0.6 * op_.spec.domain.high : 3, dtype_);
    expect(", with a number", apply(op_, upload(a_, square_shape, dtype_, device_), number), square_shape, a_,
           Values(count, number), inside());
    expect(", number first", apply(op_, left, upload(b_, square_shape, dtype_, device_)), square_shape, Values(count, left), b_,
           inside());
  }

  void gradients(bool second) {
    const Tensor a = upload(a_, square_shape, dtype_, device_).require_grad();
    const Tensor b = upload(b_, square_shape, dtype_, device_).require_grad();
    const Values w = weights(count, 5);
    const Gradients gradients = apply(op_, a, b).backward(upload(w, square_shape, dtype_, device_), {.create_graph = second});
    const std::array<Tensor, 2> got{gradients.of(a), gradients.of(b)};
    const Tolerance allowed = gradient_tolerance(dtype_);
    for (int with : {0, 1}) {
      Values expected;
      for (std::size_t i = 0; i < count; ++i) expected.push_back(w[i] * oracle_.first(a_[i], b_[i], with));
      all_.expect(name_ + (with == 0 ? ", gradient of a" : ", gradient of b"), got[static_cast<std::size_t>(with)], square_shape,
                  dtype_, expected, allowed, {a_, b_});
    }
    if (!second) return;
    // The sum of both gradients, differentiated again.
    const Tensor both = got[0] + got[1];
    if (!both.requires_grad()) return;
    const Gradients again = both.backward(upload(Values(count, 1), square_shape, dtype_, device_));
    for (int then : {0, 1}) {
      Values expected;
      for (std::size_t i = 0; i < count; ++i)
        expected.push_back(w[i] * (oracle_.second(a_[i], b_[i], 0, then) + oracle_.second(a_[i], b_[i], 1, then)));
      all_.expect(name_ + ", gradient of the gradients", again.of(then == 0 ? a : b), square_shape, dtype_, expected, allowed,
                  {a_, b_});
    }
  }

 private:
  [[nodiscard]] Tolerance inside() const { return is_float(types_.result) ? tolerance(types_.result) : Tolerance{}; }
  void expect(const char* what, const Tensor& result, const Shape& shape, const Values& a, const Values& b, Tolerance allowed) {
    Values expected;
    for (std::size_t i = 0; i < a.size(); ++i)
      expected.push_back(is_float(dtype_) ? oracle_.value(a[i], b[i]) : whole(op_, a[i], b[i], types_));
    all_.expect(name_ + what, result, shape, types_.result, std::move(expected), allowed, {a, b});
  }

  Comparisons& all_;
  const BinaryOp& op_;
  const Device& device_;
  DType dtype_;
  std::string name_;
  BinaryOracle oracle_;
  detail::ResolvedDType types_;
  Values a_, b_;
};

}  // namespace

Report check_op(const UnaryOp& op, const Device& device, const CheckOptions& options) {
  Comparisons all(op.name, device);
  for (DType dtype : dtypes_of(op.spec.dtypes, device, options)) {
    check_values(all, op, device, dtype);
    if (options.gradients && is_float(dtype) && is_float(detail::resolve(op.spec.dtypes, dtype, op.name).result))
      check_gradients(all, op, device, dtype, options.second_gradients);
  }
  return all.finish();
}

Report check_op(const BinaryOp& op, const Device& device, const CheckOptions& options) {
  Comparisons all(op.name, device);
  for (DType dtype : dtypes_of(op.spec.dtypes, device, options)) {
    all.attempt(to_string(dtype), [&] {
      BinaryCheck check(all, op, device, dtype);
      check.values();
      check.pairs();
      check.numbers();
      if (options.gradients && is_float(dtype) && is_float(detail::resolve(op.spec.dtypes, dtype, op.name).result))
        check.gradients(options.second_gradients);
    });
  }
  return all.finish();
}

}  // namespace hearth::testing
