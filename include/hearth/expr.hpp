#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "hearth/dtype.hpp"
#include "hearth/ref.hpp"

namespace hearth {

namespace ir {
struct Node;
}
struct UnaryOp;
struct BinaryOp;

/// A scalar expression of one output element: an immutable, shared graph. What the blocks of ops/ are written in, what fusion
/// composes, and what is printed as WGSL or interpreted on the CPU.
/// Every expression has a compute dtype (f32, f64, i32, u32, boolean). A number literal takes the dtype of its partner.
class Expr {
 public:
  Expr() = default;
  Expr(double literal);                           // NOLINT: literals mix freely
  Expr(float literal) : Expr(double(literal)) {}  // NOLINT
  Expr(int literal);                              // NOLINT
  Expr(bool) = delete;                            // a comparison of expressions is an Expr already
  Expr(std::uint32_t literal);                    // NOLINT: a u32, not weak
  explicit Expr(Ref<ir::Node> node) : node_(std::move(node)) {}

  /// A typed constant.
  [[nodiscard]] static Expr constant(double value, DType dtype);
  /// The element of input `input` at the output's own coordinates, broadcast. Elementwise ops use only this.
  [[nodiscard]] static Expr argument(int input, DType dtype);
  /// The element of input `input` at `coordinates` (i32, one per axis of the input; must be in range).
  [[nodiscard]] static Expr load(int input, DType dtype, std::span<const Expr> coordinates);
  [[nodiscard]] static Expr load(int input, DType dtype, std::initializer_list<Expr> coordinates) {
    return load(input, dtype, std::span(coordinates.begin(), coordinates.size()));
  }
  /// Coordinate along axis `axis` of the output (i32); axes from the output's rank on are the reduced ones.
  [[nodiscard]] static Expr coordinate(int axis);
  /// Value that changes from launch to launch without a new kernel.
  [[nodiscard]] static Expr parameter(int index, DType dtype);
  /// An op with an own spelling per target.
  [[nodiscard]] static Expr native(const UnaryOp& op, Expr x);
  [[nodiscard]] static Expr native(const BinaryOp& op, Expr a, Expr b);

  [[nodiscard]] DType dtype() const;
  [[nodiscard]] const Ref<ir::Node>& node() const noexcept { return node_; }
  explicit operator bool() const noexcept { return static_cast<bool>(node_); }

  friend Expr operator+(Expr, Expr);
  friend Expr operator-(Expr, Expr);
  friend Expr operator*(Expr, Expr);
  friend Expr operator/(Expr, Expr);  ///< integers: truncated; x / 0 = 0, INT_MIN / -1 = INT_MIN
  friend Expr operator%(Expr, Expr);  ///< remainder of the truncated division; x % 0 = 0
  friend Expr operator-(Expr);
  friend Expr operator<(Expr, Expr);
  friend Expr operator<=(Expr, Expr);
  friend Expr operator>(Expr a, Expr b) { return b < a; }
  friend Expr operator>=(Expr a, Expr b) { return b <= a; }
  friend Expr operator==(Expr, Expr);
  friend Expr operator!=(Expr, Expr);
  friend Expr operator&(Expr, Expr);  ///< booleans: and; integers: bitwise
  friend Expr operator|(Expr, Expr);
  friend Expr operator^(Expr, Expr);
  friend Expr operator<<(Expr, Expr);
  friend Expr operator>>(Expr, Expr);
  friend Expr operator~(Expr);  ///< booleans: not; integers: bitwise not
  /// Whether there is no expression, as for a pointer; the value's own negation is ~.
  bool operator!() const noexcept { return !node_; }

 private:
  Ref<ir::Node> node_;
};

/// `if_true` where `condition` holds, else `if_false`; both are evaluated.
[[nodiscard]] Expr select(Expr condition, Expr if_true, Expr if_false);
/// The larger and the smaller one; NaN where either is NaN.
[[nodiscard]] Expr max(Expr a, Expr b);
[[nodiscard]] Expr min(Expr a, Expr b);
/// Converts the value; float to integer truncates toward zero and clamps to the range, NaN gives 0; to boolean: != 0.
[[nodiscard]] Expr cast(Expr x, DType dtype);
/// Reinterprets the 32 bits of f32, i32 or u32.
[[nodiscard]] Expr bitcast(Expr x, DType dtype);
/// High 32 bits of the 64-bit product of two u32.
[[nodiscard]] Expr mul_high(Expr a, Expr b);

/// dy/dx where x is an `argument` or `load` leaf of y: derivative with respect to every load of input `input`.
/// Only for elementwise expressions (arguments, no coordinates in the loads).
[[nodiscard]] Expr derivative(const Expr& y, int input);

}  // namespace hearth
