#pragma once
#include <cstdint>

#include "hearth/device.hpp"
#include "ir/kernel.hpp"
#include "ir/tiled_shape.hpp"

namespace hearth::ir {

/// Whether a CPU runs the shaders: invocations are lanes of its vectors, every load is a gather, workgroup memory is no faster
/// than storage and barriers are dear.
[[nodiscard]] bool is_software_device(const DeviceInfo& info);

/// How an operand of a matrix product is read: element by element, or by four along k or along the other axis.
enum class Fetch : std::uint8_t { scalar, along_k, along_free };

struct MatmulPlan {
  enum class Kind : std::uint8_t {
    one_each,  ///< an invocation computes one output (packed outputs: a word)
    direct,    ///< an invocation computes rows x columns outputs from operands read from storage
    tiled,     ///< a workgroup shares tiles of the operands in workgroup memory
  };
  Kind kind = Kind::direct;
  int rows = 1, columns = 1;  ///< of outputs an invocation; columns: 1 to 3 or a multiple of four
  std::uint32_t lanes = 64;   ///< invocations a workgroup
  TiledShape tiled;
  Fetch a = Fetch::scalar, b = Fetch::scalar;
  bool fours = false;  ///< outputs are stored four at once
};

/// `matmul` in terms of the kernel's bindings `a` and `b`; the output is the kernel's, whatever its rank.
struct MatmulSource {
  const Kernel* kernel = nullptr;
  Matmul matmul;
  int a = 0, b = 1;
};
[[nodiscard]] MatmulPlan plan_matmul(const MatmulSource& source, const DeviceInfo& info);

/// Whether the epilogue reads binding 0 or 1, which then cannot be bound as vectors.
[[nodiscard]] bool epilogue_reads_operands(const Kernel& kernel);
/// Whether elements of this dtype can be loaded four at once.
[[nodiscard]] constexpr bool loads_by_four(DType storage) noexcept {
  return storage == DType::f32 || storage == DType::f16 || storage == DType::i32 || storage == DType::u32;
}

}  // namespace hearth::ir
