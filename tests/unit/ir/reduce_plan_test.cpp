#include "ir/reduce_plan.hpp"

#include <doctest/doctest.h>

#include "ir/expr.hpp"
#include "ir/iteration.hpp"
#include "ir/kernel.hpp"
#include "ir/wgsl_parts.hpp"

using namespace hearth;
using namespace hearth::ir;

TEST_CASE("no invocation of a reduction loops more than Mesa's CPU driver allows, whatever the sizes") {
  constexpr std::uint64_t most_rounds = 65535;
  for (const DType stored : {DType::f32, DType::u8}) {
    for (const std::int64_t outputs : {1, 100, 4100, 40000, 300000}) {
      for (const std::int64_t count : {17, 4097, 16384, 16385, 70000, 600000, 2000000}) {
        for (const bool columns : {false, true}) {
          CAPTURE(to_string(stored));
          CAPTURE(outputs);
          CAPTURE(count);
          CAPTURE(columns);
          // One source element for every output, as an index that is searched by each: sizes are not bounded by memory.
          ir::Kernel kernel;
          kernel.form = Form::reduce;
          kernel.bindings = {DType::f32, stored};
          kernel.extent = {outputs};
          kernel.reduced = {count};
          kernel.value = Expr::load(0, DType::f32, {Expr::coordinate(columns ? 0 : 1)});
          const ReducePlan plan = plan_reduce(iterate(kernel), stored, DeviceInfo{});
          const std::uint64_t lanes = std::uint64_t{plan.lanes} * plan.splits;
          const std::uint64_t words = is_packed(stored) ? 4 : 1;
          CHECK((static_cast<std::uint64_t>(count) + lanes - 1) / lanes * (plan.lanes == 1 ? words : 1) <= most_rounds);
          CHECK(plan.splits * words <= most_rounds);
        }
      }
    }
  }
}
