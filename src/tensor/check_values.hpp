#pragma once
#include <functional>
#include <string>
#include <vector>

#include "hearth/tensor.hpp"
#include "hearth/testing.hpp"

/// Parts of check_op: sample values, and results that are compared when all of them have been asked for.
namespace hearth::testing {

using Values = std::vector<double>;

/// The value as `dtype` stores it.
[[nodiscard]] double quantised(double value, DType dtype);
[[nodiscard]] Values quantised(Values values, DType dtype);
/// `count` points of the open interval, at the same places every time.
[[nodiscard]] Values spread(const Interval& interval, int count, double phase = 0.37);
/// Values at the ends of a dtype: zeros, ones, halves, infinities, NaN, the largest and smallest; only those up to `limit`.
[[nodiscard]] Values ends(DType dtype, double limit);
/// Whether an op that takes `kind` is tested with `dtype`.
[[nodiscard]] bool takes(OpDTypes kind, DType dtype) noexcept;
/// The dtypes that `options` and the device leave.
[[nodiscard]] std::vector<DType> dtypes_of(OpDTypes kind, const Device& device, const CheckOptions& options);

[[nodiscard]] Tensor upload(const Values& values, const Shape& shape, DType dtype, const Device& device);

/// Slope at `x` by five points; the error is about 1e-11 of the function's size.
[[nodiscard]] double slope(const std::function<double(double)>& f, double x);

/// Results on their way and what they should be.
class Comparisons {
 public:
  Comparisons(const char* op, const Device& device) : op_(op), device_(device) {}

  /// Shape and dtype at once; the elements later. `inputs[k][i]` made element i; for the text of a failure.
  void expect(const std::string& what, const Tensor& result, const Shape& shape, DType dtype, Values expected,
              Tolerance tolerance, std::vector<Values> inputs = {});
  /// Runs `work`; an Error that it throws is a failure.
  void attempt(const std::string& what, const std::function<void()>& work);
  void fail(const std::string& what, const std::string& sentence);
  /// Whether elements mean anything: a null device computes none.
  [[nodiscard]] bool has_values() const;
  [[nodiscard]] Report finish();

 private:
  struct Pending {
    std::string what;
    DType dtype;
    Future<std::vector<double>> result;
    Values expected;
    Tolerance tolerance;
    std::vector<Values> inputs;
  };
  void compare(Pending& pending);

  const char* op_;
  Device device_;
  std::vector<Pending> pending_;
  Report report_;
};

}  // namespace hearth::testing
