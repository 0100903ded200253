#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hearth/expr.hpp"
#include "hearth/shape.hpp"
#include "ir/host/loops.hpp"

namespace hearth::ir::host {

inline constexpr int max_axes = 2 * max_rank;

/// What a program runs over: axes from the outermost to the innermost.
struct Space {
  int rank = 0;
  std::array<std::int64_t, max_axes> sizes{};
  [[nodiscard]] std::int64_t elements() const;
};

/// How the coordinates of an expression map to a space.
struct SpaceMap {
  Space space;
  Shape extents;  ///< sizes by coordinate number: the output's axes, then the
                  ///< reduced ones
  int output_rank = 0;
  std::vector<int> axes;  ///< the space's axis of each coordinate
};

/// An expression as a list of loops over blocks of elements.
class Program {
 public:
  /// `storage`: dtypes of the bindings; `parameters`: of the launch parameters.
  /// argument(0) is given to each evaluation.
  Program(const Expr& e, SpaceMap map, std::span<const DType> storage, std::span<const DType> parameters);

  [[nodiscard]] DType dtype() const noexcept { return dtype_; }
  [[nodiscard]] int block() const noexcept { return block_; }
  [[nodiscard]] const Space& space() const noexcept { return space_; }
  /// Length of the pieces of a row in which blocks are best walked, column of pieces by column: a load steps over whole cache
  /// lines along the innermost axis, and reads the same lines again in the next row. 0: row after row.
  [[nodiscard]] int strip() const noexcept { return strip_; }
  /// About how many loops run for each element.
  [[nodiscard]] int cost() const noexcept { return static_cast<int>(steps_.size()) + 1; }

 private:
  friend class Run;

  enum class Kind : std::uint8_t { loop, native, native_binary, direct, strided, periodic, gather, coordinate, flat, argument };
  struct Step {
    Kind kind = Kind::loop;
    DType dtype = DType::f32;  ///< of the result
    int dst = -1, a = -1, b = -1, c = -1;
    int binding = -1;
    std::int64_t offset = 0;
    std::array<std::int64_t, max_axes> strides{};  ///< of a strided load; of `flat`: the output's strides
    int axis = 0;                                  ///< of a coordinate
    int period = 0;                                ///< of a periodic load: elements until it repeats
    const Native* native = nullptr;
    const NativeBinary* native_binary = nullptr;
    Loop loop = nullptr;
    LoadLoop load = nullptr;
    GatherLoop gather = nullptr;
    std::size_t element_bytes = 4;  ///< of the binding
  };
  /// A register whose value is the same for every element.
  struct Constant {
    int reg = 0;
    DType dtype = DType::f32;
    double value = 0;
    int parameter_word = -1;  ///< read from the launch parameters
    int binding = -1;         ///< read from memory, once
    std::int64_t offset = 0;
    LoadLoop load = nullptr;
    std::size_t element_bytes = 4;
  };

  struct Builder;

  Space space_;
  DType dtype_ = DType::f32;
  std::vector<Step> steps_;
  std::vector<Constant> constants_;
  int registers_ = 0;  ///< buffers of `block_` elements
  int result_ = 0;
  int block_ = 1024;
  int strip_ = 0;
  std::size_t register_bytes_ = 4096;
};

/// One worker's registers, and the evaluation of blocks.
class Run {
 public:
  /// `longest`: no evaluation is of more elements.
  Run(const Program& program, std::span<std::byte* const> bindings, std::span<const std::uint32_t> parameters,
      std::int64_t longest);

  /// The values of elements [begin, begin + count) of the space, count <=
  /// block(). They may lie in `destination`, if given (in the compute dtype),
  /// or anywhere until the next call. `argument`: the values of argument(0), if
  /// there is one.
  const void* evaluate(std::int64_t begin, int count, void* destination = nullptr, const void* argument = nullptr);

 private:
  void fill_constants(std::span<const std::uint32_t> parameters, int count);
  void fill_periods(int count);
  void load_strided(const Program::Step& step, std::byte* dst, std::int64_t count) const;
  void seek(std::int64_t begin);
  template <typename F>
  void segments(std::int64_t count, F f) const;

  const Program& program_;
  std::span<std::byte* const> bindings_;
  std::unique_ptr<std::byte[]> memory_;
  std::vector<std::unique_ptr<std::byte[]>> periods_;  ///< by step
  std::vector<std::byte*> buffers_;
  std::vector<const void*> values_;
  std::array<std::int64_t, max_axes> at_{};  ///< coordinates of the block's first element
};

}  // namespace hearth::ir::host
