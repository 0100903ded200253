#include "registry/ops_doc.hpp"

#include <fmt/format.h>

#include "hearth/op.hpp"

namespace hearth {

namespace {

const char* inputs(OpDTypes dtypes) {
  switch (dtypes) {
    case OpDTypes::floats: return "floats; others become f32";
    case OpDTypes::numbers: return "floats and integers; booleans count as i32";
    case OpDTypes::all: return "all";
    case OpDTypes::integers: return "integers and booleans";
    case OpDTypes::predicate: return "all; gives booleans";
    case OpDTypes::float_predicate: return "floats; gives booleans";
  }
  return "";
}

bool has_gradient(OpDTypes dtypes) {
  return dtypes == OpDTypes::floats || dtypes == OpDTypes::numbers || dtypes == OpDTypes::all;
}

const char* gradient(OpDTypes dtypes, bool own) { return !has_gradient(dtypes) ? "-" : own ? "own" : "derived"; }

std::string row(const char* name, const char* summary, OpDTypes dtypes, bool own) {
  return fmt::format("| `{}` | {} | {} | {} |\n", name, summary, inputs(dtypes), gradient(dtypes, own));
}

constexpr const char* table = "| op | what it gives | inputs | gradient |\n|---|---|---|---|\n";

}  // namespace

std::string ops_document() {
  const OpRegistry& ops = OpRegistry::all();
  std::string text =
      "# Ops\n\n"
      "Made by `hearth_ops_doc` from the blocks in `include/hearth/ops/`; a test fails when it is out of date.\n\n"
      "Each op here is one block; it runs on every device, fuses, and has gradients of every order where the table says so.\n"
      "Operands broadcast, dtypes are promoted and numbers are operands as NumPy does it. Views, joins, indexing, matrix "
      "products,\n"
      "convolutions and creation are functions with their documentation in `view.hpp`, `index.hpp`, `linalg.hpp`, `conv.hpp` "
      "and\n"
      "`create.hpp`; softmax and its kin are in `nn.hpp`, argmax and variance in `reduce.hpp`.\n\n";
  text += "## Unary\n\n";
  text += table;
  for (const UnaryOp* op : ops.unary) text += row(op->name, op->spec.summary, op->spec.dtypes, op->spec.grad != nullptr);
  text += "\n## Binary\n\n";
  text += table;
  for (const BinaryOp* op : ops.binary)
    text += row(op->name, op->spec.summary, op->spec.dtypes, op->spec.grad_a != nullptr || op->spec.grad_b != nullptr);
  text += "\n## Reductions\n\n";
  text += table;
  for (const ReduceOp* op : ops.reduce) text += row(op->name, op->spec.summary, op->spec.dtypes, op->spec.grad != nullptr);
  return text;
}

}  // namespace hearth
