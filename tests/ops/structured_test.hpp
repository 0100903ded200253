#pragma once
#include <functional>
#include <string>
#include <vector>

#include "hearth/hearth.hpp"

/// How the structured ops are tested: one case gives inputs, the op and the value that plain C++ computes in f64; `check` runs it
/// on every device, eager and fused, on dense and on strided inputs, with gradients against differences.
namespace structured_test {

/// Values on the host, row-major.
struct Array {
  hearth::Shape shape;
  std::vector<double> values;

  [[nodiscard]] double at(const std::vector<std::int64_t>& index) const;
  double& at(const std::vector<std::int64_t>& index);
};
/// Distinct numbers in (-2, 2), the same for the same shape and seed.
[[nodiscard]] Array sample(const hearth::Shape& shape, int seed = 0);
/// An array whose elements are `value(index)`.
[[nodiscard]] Array make(const hearth::Shape& shape, const std::function<double(const std::vector<std::int64_t>&)>& value);
[[nodiscard]] Array from(const hearth::Tensor& tensor);

/// A device, fused or not, and the dtype that reals have on it.
struct Place {
  std::string name;
  hearth::Device device;
  hearth::DType real;
};
/// CPU f64 and f32, and the GPU when there is one; each with fusion and without.
[[nodiscard]] const std::vector<Place>& places();
[[nodiscard]] hearth::Tensor upload(const Array& array, const Place& place);
/// The same values as a view with an offset and negative strides.
[[nodiscard]] hearth::Tensor upload_strided(const Array& array, const Place& place);

using Function = std::function<hearth::Tensor(const std::vector<hearth::Tensor>&)>;
struct Case {
  std::string name;
  std::vector<Array> inputs;
  Function run;
  Array expected;
  bool differentiable = true;
  double tolerance = 2e-6;  ///< for f32, of the largest value
};
void check(const Case& test);
/// Value only: `tensor` against `expected`, at the tolerance of its dtype.
void check_equal(const hearth::Tensor& tensor, const Array& expected, const std::string& what, double tolerance = 2e-6);
/// `call` throws an Error of `code` with exactly this text.
void check_error(const std::function<void()>& call, hearth::ErrorCode code, const std::string& text);

}  // namespace structured_test
