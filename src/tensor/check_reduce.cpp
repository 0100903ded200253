#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hearth/ops/reduce.hpp"
#include "hearth/ops/view.hpp"
#include "ir/expr.hpp"
#include "tensor/check_values.hpp"
#include "tensor/op_dtypes.hpp"
#include "tensor/reduce_axes.hpp"

/// check_op for reductions.
namespace hearth::testing {

namespace {

/// The reduction of a list in f64 (or in whole numbers that wrap), from the block.
class ReduceOracle {
 public:
  ReduceOracle(const ReduceOp& op, DType dtype, DType compute) : op_(op), whole_(!is_float(dtype)) {
    const Expr x = Expr::argument(0, is_float(compute) ? DType::f64 : compute);
    before_ = op.spec.before ? op.spec.before(x) : x;
    accumulator_ = before_.dtype();
    if (op.spec.after) after_ = op.spec.after(Expr::argument(0, accumulator_), Expr::argument(1, accumulator_));
  }
  [[nodiscard]] double operator()(const Values& values) const {
    if (op_.spec.reference && !whole_) return op_.spec.reference(values);
    double total = detail::identity(op_.spec.combine, accumulator_);
    for (double value : values) {
      const double x = ir::evaluate(before_, std::span(&value, 1));
      switch (op_.spec.combine) {
        case Combine::sum: total = wrapped(total + x); break;
        case Combine::prod: total = product(total, x); break;
        case Combine::max: total = std::isnan(total) || x < total ? total : x; break;
        case Combine::min: total = std::isnan(total) || x > total ? total : x; break;
      }
    }
    const double operands[] = {total, static_cast<double>(values.size())};
    return after_ ? ir::evaluate(after_, operands) : total;
  }

 private:
  [[nodiscard]] double wrapped(double value) const {
    if (is_float(accumulator_)) return value;
    const auto word = static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
    return accumulator_ == DType::i32 ? static_cast<double>(static_cast<std::int32_t>(word)) : static_cast<double>(word);
  }
  [[nodiscard]] double product(double a, double b) const {
    if (is_float(accumulator_)) return a * b;
    return wrapped(static_cast<double>(static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(a)) *
                                                                 static_cast<std::uint32_t>(static_cast<std::int64_t>(b)))));
  }

  const ReduceOp& op_;
  bool whole_;
  Expr before_, after_;
  DType accumulator_ = DType::f32;
};

/// Groups of the elements of `shape` that make one element of the result, as lists of flat indices.
std::vector<std::vector<std::size_t>> groups(const Shape& shape, const Axes& axes) {
  std::vector<bool> reduced(static_cast<std::size_t>(shape.rank()), axes.empty());
  for (std::int64_t axis : axes) reduced[static_cast<std::size_t>(axis)] = true;
  std::size_t results = 1;
  for (int i = 0; i < shape.rank(); ++i)
    if (!reduced[static_cast<std::size_t>(i)]) results *= static_cast<std::size_t>(shape[i]);
  std::vector<std::vector<std::size_t>> list(results);
  for (std::int64_t flat = 0; flat < shape.elements(); ++flat) {
    std::int64_t rest = flat, stride = shape.elements();
    std::size_t place = 0;
    for (int i = 0; i < shape.rank(); ++i) {
      stride /= shape[i];
      if (!reduced[static_cast<std::size_t>(i)])
        place = place * static_cast<std::size_t>(shape[i]) + static_cast<std::size_t>(rest / stride);
      rest %= stride;
    }
    list[place].push_back(static_cast<std::size_t>(flat));
  }
  return list;
}

Shape result_shape(const Shape& shape, const Axes& axes, bool keep) {
  Shape result;
  for (int i = 0; i < shape.rank(); ++i) {
    const bool reduced = axes.empty() || std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!reduced || keep) result.push_back(reduced ? 1 : shape[i]);
  }
  return result;
}

class ReduceCheck {
 public:
  ReduceCheck(Comparisons& all, const ReduceOp& op, const Device& device, DType dtype, DType compute, DType result)
      : all_(all), op_(op), device_(device), dtype_(dtype), result_(result), oracle_(op, dtype, compute) {}

  /// Values in no order; whole numbers small enough that products do not wrap at once, 0 among them.
  [[nodiscard]] Values sample(std::int64_t n) const {
    Values values;
    for (std::int64_t i = 0; i < n; ++i)
      values.push_back(is_float(dtype_) ? 0.6 + 0.8 * static_cast<double>(i * 37 % 101) / 101
                                        : static_cast<double>(i * 7 % 5 - 1));
    return quantised(values, dtype_);
  }

  void values(const Shape& shape, const Axes& axes, bool keep) {
    const Values x = sample(shape.elements());
    expect("", upload(x, shape, dtype_, device_), x, shape, axes, keep);
  }
  void strided() {
    const Shape shape{5, 3};
    const Values x = sample(15);
    Values turned(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) turned[i % 3 * 5 + i / 3] = x[i];
    expect(" strided", transpose(upload(turned, {3, 5}, dtype_, device_)), x, shape, {1}, false);
  }
  /// Rows with one value of `special` each.
  void ends() {
    Values x;
    const Values special = testing::ends(dtype_, 1e300);
    for (double value : special)
      for (int i = 0; i < 4; ++i) x.push_back(i == 2 ? value : dtype_ == DType::boolean ? 0 : 1);
    x = quantised(x, dtype_);
    const Shape shape{static_cast<std::int64_t>(special.size()), 4};
    expect(" ends", upload(x, shape, dtype_, device_), x, shape, {1}, false);
  }
  void nothing() {
    const Tensor none = upload({}, {2, 0}, dtype_, device_);
    const bool extreme = (op_.spec.combine == Combine::max || op_.spec.combine == Combine::min) && !op_.spec.before;
    if (!extreme) {
      all_.expect("over nothing", apply(op_, none, {1}, {}), {2}, result_, Values(2, oracle_({})), {});
    } else {
      try {
        (void)apply(op_, none, {1}, {});
        all_.fail("over nothing", "it must throw.");
      } catch (const Error&) {
      }
    }
    all_.expect("no results", apply(op_, none, {0}, {}), {0}, result_, {}, {});
  }
  void gradients(bool second) {
    const Shape shape{3, 4};
    const Values x = sample(12);
    const Values w{0.5, 1, 1.5};
    const auto rows = groups(shape, {1});
    const auto row_value = [&](std::size_t row, std::size_t element, double at) {
      Values values;
      for (std::size_t i : rows[row]) values.push_back(i == element ? at : x[i]);
      return oracle_(values);
    };
    Values expected, of_gradient;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t row = i / 4;
      expected.push_back(w[row] * slope([&](double at) { return row_value(row, i, at); }, x[i]));
      of_gradient.push_back(0);
    }
    const std::string name = std::string(to_string(dtype_)) + ", gradient";
    const Tensor leaf = upload(x, shape, dtype_, device_).require_grad();
    const Tensor gradient =
        apply(op_, leaf, {1}, {}).backward(upload(w, {3}, dtype_, device_), {.create_graph = second}).of(leaf);
    all_.expect(name, gradient, shape, dtype_, expected, gradient_tolerance(dtype_), {x});
    if (!second || !gradient.requires_grad()) return;
    // d (sum of the row's gradients) / d x_i, by differences of differences.
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t row = i / 4;
      for (std::size_t j : rows[row]) {
        const double h = 1e-3;
        const auto at = [&](double di, double dj) {
          Values values;
          for (std::size_t k : rows[row]) values.push_back(x[k] + (k == i ? di : 0) + (k == j ? dj : 0));
          return oracle_(values);
        };
        of_gradient[i] += w[row] * (at(h, h) - at(h, -h) - at(-h, h) + at(-h, -h)) / (4 * h * h);
      }
    }
    const Tensor again = gradient.backward(upload(Values(12, 1), shape, dtype_, device_)).of(leaf);
    all_.expect(name + " of the gradient", again, shape, dtype_, of_gradient, gradient_tolerance(dtype_), {x});
  }

 private:
  void expect(const char* what, const Tensor& input, const Values& x, const Shape& shape, const Axes& axes, bool keep) {
    Values expected;
    for (const auto& group : groups(shape, axes)) {
      Values values;
      for (std::size_t i : group) values.push_back(x[i]);
      expected.push_back(oracle_(values));
    }
    Tolerance allowed = tolerance(result_);
    allowed.relative *= 4;  // a sum of many
    all_.expect(fmt::format("{}{} {} over {}", to_string(dtype_), what, to_string(shape), to_string(axes)),
                apply(op_, input, axes, {.keep_dims = keep}), result_shape(shape, axes, keep), result_, std::move(expected),
                allowed);
  }

  Comparisons& all_;
  const ReduceOp& op_;
  const Device& device_;
  DType dtype_, result_;
  ReduceOracle oracle_;
};

}  // namespace

Report check_op(const ReduceOp& op, const Device& device, const CheckOptions& options) {
  Comparisons all(op.name, device);
  for (DType dtype : dtypes_of(op.spec.dtypes, device, options)) {
    const detail::ResolvedDType types = detail::resolve(op, dtype);
    all.attempt(to_string(dtype), [&] {
      ReduceCheck check(all, op, device, dtype, types.compute, types.result);
      check.values({4, 5, 6}, {1}, false);
      check.values({4, 5, 6}, {0, 2}, true);
      check.values({4, 5, 6}, {}, false);
      check.strided();
      check.ends();
      check.nothing();
      if (dtype == DType::f32 || dtype == DType::i32) check.values({2, 20011}, {1}, false);
      if (options.gradients && is_float(dtype) && is_float(types.result)) check.gradients(options.second_gradients);
    });
  }
  return all.finish();
}

}  // namespace hearth::testing
