#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "hearth/expr.hpp"
#include "hearth/fwd.hpp"

/// How an op is defined: one `constexpr` block in ops/, or in the user's own file. From it come the function on Tensor and on
/// Expr, the WGSL and CPU code, the gradient, the tests (`check_op`) and the row in docs/ops.md.
namespace hearth {

/// How a primitive op is spelled where expressions are not enough.
struct Native {
  const char* wgsl = nullptr;         ///< name of the WGSL function on f32, e.g. "exp"
  const char* wgsl_source = nullptr;  ///< its definition, when WGSL has no such function
  float (*f32)(float) = nullptr;
  double (*f64)(double) = nullptr;
  /// Optional: the same as f32 on `count` elements at once, for the vectorised CPU device.
  void (*block)(const float* x, float* y, int count) = nullptr;
};
struct NativeBinary {
  const char* wgsl = nullptr;
  const char* wgsl_source = nullptr;
  float (*f32)(float, float) = nullptr;
  double (*f64)(double, double) = nullptr;
};

/// Values that the op tests sample.
struct Interval {
  double low = -3;
  double high = 3;
};

/// Which inputs an op takes and what it gives.
enum class OpDTypes : unsigned char {
  floats,           ///< f16, f32, f64; integers and booleans are promoted to f32
  numbers,          ///< floats and integers, result of the same dtype
  all,              ///< and booleans
  integers,         ///< integers and booleans only
  predicate,        ///< numbers and booleans; the result is boolean
  float_predicate,  ///< floats; the result is boolean
};

struct UnarySpec {
  const char* summary;
  Expr (*forward)(Expr x) = nullptr;       ///< composite: built from other ops
  Native native{};                         ///< primitive: one spelling per target
  Expr (*grad)(Expr x, Expr y) = nullptr;  ///< dy/dx; null: derived from forward
  double (*reference)(double) = nullptr;   ///< f64 oracle for tests; null: the forward or native in f64
  Interval domain{};                       ///< sampled by the op tests
  double ends = 1e300;                     ///< |x| up to which the tests compare values far outside the domain
  OpDTypes dtypes = OpDTypes::floats;
};

struct UnaryOp {
  const char* name;
  UnarySpec spec;
  /// The op in an expression: inlined when composite without an own gradient, else a node of its own.
  Expr operator()(Expr x) const;
};

struct BinarySpec {
  const char* summary;
  Expr (*forward)(Expr a, Expr b) = nullptr;
  NativeBinary native{};
  Expr (*grad_a)(Expr a, Expr b, Expr y) = nullptr;  ///< dy/da; null: derived from forward
  Expr (*grad_b)(Expr a, Expr b, Expr y) = nullptr;
  double (*reference)(double, double) = nullptr;
  Interval domain{};    ///< of a
  Interval domain_b{};  ///< of b
  double ends = 1e300;  ///< |a|, |b| up to which the tests compare values far outside the domains
  OpDTypes dtypes = OpDTypes::numbers;
};

struct BinaryOp {
  const char* name;
  BinarySpec spec;
  Expr operator()(Expr a, Expr b) const;
};

/// Reduction over axes: a combine step on a pair of accumulators, from an identity.
enum class Combine : unsigned char { sum, prod, max, min };

struct ReduceSpec {
  const char* summary;
  Combine combine;
  Expr (*before)(Expr x) = nullptr;                 ///< applied to each element first
  Expr (*after)(Expr total, Expr count) = nullptr;  ///< applied to the result; count: reduced elements
  /// Gradient of the input element: x the input, y the result, both broadcast, count as above; times the incoming gradient.
  Expr (*grad)(Expr x, Expr y, Expr count) = nullptr;
  double (*reference)(std::span<const double>) = nullptr;
  OpDTypes dtypes = OpDTypes::numbers;
};

struct ReduceOp {
  const char* name;
  ReduceSpec spec;
};

struct OpName {
  const char* text;
};
constexpr UnaryOp operator|(OpName name, UnarySpec spec) { return {name.text, spec}; }
constexpr BinaryOp operator|(OpName name, BinarySpec spec) { return {name.text, spec}; }
constexpr ReduceOp operator|(OpName name, ReduceSpec spec) { return {name.text, spec}; }

/// Runs an op on tensors; what the functions made by the macros call.
[[nodiscard]] Tensor apply(const UnaryOp& op, const Tensor& x);
[[nodiscard]] Tensor apply(const BinaryOp& op, const Tensor& a, const Tensor& b);
/// A number takes the tensor's dtype, or f32 when it is a fraction and the tensor is an integer.
[[nodiscard]] Tensor apply(const BinaryOp& op, const Tensor& a, double b);
[[nodiscard]] Tensor apply(const BinaryOp& op, double a, const Tensor& b);

/// Where the registry (tests, docs/ops.md) collects the blocks; active only where HEARTH_REGISTER_OPS is defined.
struct OpRegistry {
  std::vector<const UnaryOp*> unary;
  std::vector<const BinaryOp*> binary;
  std::vector<const ReduceOp*> reduce;
  /// All ops of ops/; defined in the registry target only.
  static const OpRegistry& all();
  struct Add {
    Add(OpRegistry& registry, const UnaryOp& op) { registry.unary.push_back(&op); }
    Add(OpRegistry& registry, const BinaryOp& op) { registry.binary.push_back(&op); }
    Add(OpRegistry& registry, const ReduceOp& op) { registry.reduce.push_back(&op); }
  };
};

}  // namespace hearth

#ifdef HEARTH_REGISTER_OPS
namespace hearth::detail {
OpRegistry& mutable_registry();
}
#define HEARTH_REGISTER_(id) \
  static const ::hearth::OpRegistry::Add id##_registered{::hearth::detail::mutable_registry(), ops::id};
#else
#define HEARTH_REGISTER_(id)
#endif

// A block defines the specification ops::id and the functions id(Expr) and id(Tensor): functions, not objects, so that they
// overload with <cmath> and are found by argument. Use inside a namespace that sees hearth's names; includes hearth/tensor.hpp.
#define HEARTH_UNARY_OP(id)                                                                                                 \
  namespace ops {                                                                                                           \
  extern inline const ::hearth::UnaryOp id;                                                                                 \
  }                                                                                                                         \
  [[maybe_unused]] inline ::hearth::Expr id(::hearth::Expr x) { return ops::id(x); }                                        \
  [[nodiscard, maybe_unused]] inline ::hearth::Tensor id(const ::hearth::Tensor& x) { return ::hearth::apply(ops::id, x); } \
  HEARTH_REGISTER_(id)                                                                                                      \
  inline constexpr ::hearth::UnaryOp ops::id = ::hearth::OpName{#id} | ::hearth::UnarySpec

#define HEARTH_BINARY_OP(id)                                                                                     \
  namespace ops {                                                                                                \
  extern inline const ::hearth::BinaryOp id;                                                                     \
  }                                                                                                              \
  [[maybe_unused]] inline ::hearth::Expr id(::hearth::Expr a, ::hearth::Expr b) { return ops::id(a, b); }        \
  [[nodiscard, maybe_unused]] inline ::hearth::Tensor id(const ::hearth::Tensor& a, const ::hearth::Tensor& b) { \
    return ::hearth::apply(ops::id, a, b);                                                                       \
  }                                                                                                              \
  [[nodiscard, maybe_unused]] inline ::hearth::Tensor id(const ::hearth::Tensor& a, double b) {                  \
    return ::hearth::apply(ops::id, a, b);                                                                       \
  }                                                                                                              \
  [[nodiscard, maybe_unused]] inline ::hearth::Tensor id(double a, const ::hearth::Tensor& b) {                  \
    return ::hearth::apply(ops::id, a, b);                                                                       \
  }                                                                                                              \
  HEARTH_REGISTER_(id)                                                                                           \
  inline constexpr ::hearth::BinaryOp ops::id = ::hearth::OpName{#id} | ::hearth::BinarySpec

#define HEARTH_REDUCE_OP(id)                                                                                         \
  namespace ops {                                                                                                    \
  extern inline const ::hearth::ReduceOp id;                                                                         \
  }                                                                                                                  \
  [[nodiscard, maybe_unused]] inline ::hearth::Tensor id(const ::hearth::Tensor& x, const ::hearth::Axes& axes = {}, \
                                                         ::hearth::ReduceOptions options = {}) {                     \
    return ::hearth::apply(ops::id, x, axes, options);                                                               \
  }                                                                                                                  \
  HEARTH_REGISTER_(id)                                                                                               \
  inline constexpr ::hearth::ReduceOp ops::id = ::hearth::OpName{#id} | ::hearth::ReduceSpec
