#include "registry/ops_doc.hpp"

#include <fmt/format.h>

#include <fstream>

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

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

/// The functions of one header that give tensors: a row each for their docstring and what is declared below it.
std::string functions(const std::string& header) {
  std::ifstream file(header);
  std::string rows, doc, signatures, line, declaration;
  const auto end_row = [&] {
    if (!signatures.empty()) rows += fmt::format("| {} | {} |\n", escaped(signatures), escaped(doc));
    doc.clear();
    signatures.clear();
  };
  while (std::getline(file, line)) {
    if (line.starts_with("/// ")) {
      if (!signatures.empty()) end_row();
      doc += (doc.empty() ? "" : " ") + line.substr(4);
      continue;
    }
    constexpr std::string_view mark = "[[nodiscard]] ";
    if (declaration.empty() && !line.starts_with(mark)) {
      // Inside a body nothing ends; a blank line or another declaration does.
      if (!line.starts_with(" ") && !line.starts_with("}")) end_row();
      continue;
    }
    if (line.starts_with("[[nodiscard]] inline ")) line.erase(mark.size(), 7);
    declaration += declaration.empty() ? line.substr(mark.size()) : " " + line.substr(line.find_first_not_of(' '));
    if (std::string_view(";{}").find(line.back()) == std::string_view::npos) continue;
    const std::size_t stop = std::min(declaration.rfind(");"), declaration.rfind(") {"));
    const bool tensors = declaration.starts_with("Tensor ") || declaration.starts_with("std::vector<Tensor> ");
    if (tensors && stop != std::string::npos && !doc.empty())
      signatures += fmt::format("{}`{}`", signatures.empty() ? "" : "<br>", declaration.substr(0, stop + 1));
    declaration.clear();
  }
  end_row();
  return rows;
}

}  // namespace

std::string ops_document(const std::string& headers) {
  const OpRegistry& ops = OpRegistry::all();
  std::string text =
      "# Ops\n\n"
      "Made by `hearth_ops_doc` from the blocks in `include/hearth/ops/`; a test fails when it is out of date.\n\n"
      "Each op here is one block; it runs on every device, fuses, and has gradients of every order where the table says so.\n"
      "Operands broadcast, dtypes are promoted and numbers are operands as NumPy does it. The functions of several shapes "
      "follow\n"
      "below; they have gradients wherever values of floats are passed on.\n\n";
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
  constexpr std::pair<const char*, const char*> sections[] = {
      {"Choosing", "binary"},      {"More reductions", "reduce"}, {"Normalising", "nn"},  {"Creation", "create"},
      {"Views and joins", "view"}, {"Indexing", "index"},         {"Products", "linalg"}, {"Images", "conv"},
  };
  for (const auto& [title, header] : sections)
    text += fmt::format("\n## {}\n\n| function | what it gives |\n|---|---|\n{}", title,
                        functions(fmt::format("{}/hearth/ops/{}.hpp", headers, header)));
  return text;
}

}  // namespace hearth
