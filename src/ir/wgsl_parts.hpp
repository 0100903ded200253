#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hearth/device.hpp"
#include "hearth/error.hpp"
#include "ir/expr.hpp"
#include "ir/kernel.hpp"
#include "ir/print_wgsl.hpp"

/// What the WGSL printers of all kernel forms share.
namespace hearth::ir {

/// Type of a compute dtype: "f32", "i32", "u32", "bool".
[[nodiscard]] const char* wgsl_type(DType compute);
/// Element type of the array that a storage dtype is bound as: "f32", "i32",
/// "u32" (bool; i8 and u8 four to a word), "f16".
[[nodiscard]] const char* wgsl_storage_type(DType storage);
/// Whether elements are packed four to a u32 word (i8, u8).
[[nodiscard]] constexpr bool is_packed(DType storage) noexcept { return size_bytes(storage) == 1 && storage != DType::boolean; }

/// Workgroups over up to three dimensions of a device's limit each; there may
/// be more workgroups than asked for.
struct Grid {
  std::array<std::uint32_t, 3> workgroups{1, 1, 1};
  std::string linear;  ///< the workgroup's number (u32), an expression of `wg :
                       ///< vec3<u32>`, the builtin workgroup_id
};
/// Fails with Error(unsupported) beyond max_workgroups_per_dimension cubed.
[[nodiscard]] Expected<Grid> fold_grid(std::uint64_t workgroups, const DeviceInfo& info, std::string_view label);

/// One WGSL module with one entry point, under construction. Names of its own
/// start with "b" (bindings b0, b1...), "h_" (helper functions), "v" (values of
/// ExprPrinter), and `params`, `scratch`, `wg`, `lid`.
class WgslModule {
 public:
  WgslModule(const Kernel& kernel, const DeviceInfo& info) : kernel_(kernel), info_(info) {}

  /// Name of the array behind binding `index` of the kernel, declared at the
  /// first use; -1: the scratch buffer, array<f32|i32|u32> of `scratch_type`.
  std::string binding(int index);
  std::string scratch_type = "f32";
  /// Binding `index` is declared as an array of vec4 of its storage type; its
  /// elements are then not loaded by `load`.
  void vectorise(int index);
  /// Value, in the compute dtype, of element `index` (u32 or i32 text) of a
  /// binding.
  std::string load(int binding, const std::string& index);
  /// Statement that stores a value of the compute dtype as element `index`; not
  /// for packed dtypes.
  std::string store(int binding, const std::string& index, const std::string& value);
  /// Statement that stores four values of the compute dtype as word `word` of a
  /// packed binding. `count` < 4 keeps the other bytes.
  std::string store_packed(int binding, const std::string& word, std::span<const std::string> values, int count = 4);
  /// Launch parameter `index` in its compute dtype.
  std::string parameter(int index);
  /// A literal; infinities and NaN go through a runtime value, since WGSL has
  /// no constants for them.
  std::string literal(double value, DType dtype);

  /// Adds module-scope text (a function, `var<workgroup>`...) once per `name`.
  void declare(const std::string& name, const std::string& text);
  /// Adds a directive such as "enable f16;".
  void enable(const std::string& directive);

  /// The first thing that this device cannot do; printers check it at the end.
  [[nodiscard]] bool failed() const { return !failure_.message.empty(); }
  [[nodiscard]] const Failure& failure() const { return failure_; }
  void fail(ErrorCode code, std::string message);

  /// The finished stage. `body`: the statements of main, which has `wg`
  /// (workgroup_id) and `lid` (local_invocation_id), both vec3<u32>.
  [[nodiscard]] Expected<WgslStage> finish(const std::string& body, std::array<std::uint32_t, 3> workgroup_size,
                                           std::array<std::uint32_t, 3> workgroups);

  [[nodiscard]] const Kernel& kernel() const { return kernel_; }
  [[nodiscard]] const DeviceInfo& info() const { return info_; }

 private:
  const Kernel& kernel_;
  const DeviceInfo& info_;
  std::vector<int> bindings_;  ///< in order of @binding
  std::vector<int> vectors_;   ///< those declared as arrays of vec4
  bool parameters_ = false;
  std::map<std::string, bool> declared_;
  std::string enables_, declarations_;
  Failure failure_{ErrorCode::unsupported, {}};
};

/// Prints expressions as statements `let v0 = ...;` of one scope; common parts
/// are computed once.
class ExprPrinter {
 public:
  /// `prefix` makes the names unique where several printers share a scope.
  explicit ExprPrinter(WgslModule& module, std::string prefix = "v", std::string indent = "  ")
      : module_(module), prefix_(std::move(prefix)), indent_(std::move(indent)) {}

  /// Text (i32) of a coordinate; called once per axis used, flat_coordinate
  /// included. May add statements.
  std::function<std::string(int axis)> coordinate;
  /// Text of argument(index), e.g. the total in an epilogue.
  std::function<std::string(int index)> argument;
  /// Replaces the default WgslModule::load; gets the binding and the text of
  /// the flat index.
  std::function<std::string(int binding, const std::string& index)> load;

  /// A name or literal that holds the value; its statements are appended to
  /// `statements`.
  [[nodiscard]] std::string print(const Expr& e);
  /// Appends `let name = text;` under a new name and gives the name.
  std::string let(const std::string& text);

  std::string statements;

 private:
  std::string print_node(const Node& node, std::span<const std::string> operands);
  WgslModule& module_;
  std::string prefix_, indent_;
  int next_ = 0;
  std::unordered_multimap<std::uint64_t, std::pair<Expr, std::string>> done_;  ///< by structural hash
};

/// The forms; print_wgsl dispatches to them.
[[nodiscard]] Expected<Wgsl> print_map(const Kernel& kernel, const DeviceInfo& info);
[[nodiscard]] Expected<Wgsl> print_reduce(const Kernel& kernel, const DeviceInfo& info);
[[nodiscard]] Expected<Wgsl> print_matmul(const Kernel& kernel, const DeviceInfo& info);
[[nodiscard]] Expected<Wgsl> print_conv2d(const Kernel& kernel, const DeviceInfo& info);

}  // namespace hearth::ir
