#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ostream>

#include "hearth/ops/view.hpp"
#include "hearth/tensor.hpp"

namespace hearth {
namespace {

// As NumPy's defaults: above 1,000 elements three at each end of an axis, lines of 75 characters, 8 digits after the point.
constexpr std::int64_t most_elements = 1000;
constexpr std::int64_t edge = 3;
constexpr std::size_t line_width = 75;
constexpr int most_digits = 8;

/// The same number once it is rounded to the dtype again.
bool survives(const std::string& text, double value, DType dtype) {
  const double read = std::strtod(text.c_str(), nullptr);
  if (dtype == DType::f64) return read == value;
  if (dtype == DType::f16) return static_cast<float>(Half(static_cast<float>(read))) == static_cast<float>(value);
  return static_cast<float>(read) == static_cast<float>(value);
}

/// The fewest digits after the point that tell every value from its neighbours.
int digits(const std::vector<double>& values, bool scientific, DType dtype) {
  int most = 0;
  for (double value : values) {
    if (!std::isfinite(value)) continue;
    while (most < most_digits &&
           !survives(scientific ? fmt::format("{:.{}e}", value, most) : fmt::format("{:.{}f}", value, most), value, dtype))
      ++most;
  }
  return most;
}

/// With the point that makes it a float: "1." and "1.e+20".
std::string with_point(const std::string& text) {
  if (text.find('.') != std::string::npos) return text;
  const std::size_t exponent = text.find('e');
  return exponent == std::string::npos ? text + "." : text.substr(0, exponent) + "." + text.substr(exponent);
}

std::vector<std::string> float_texts(const std::vector<double>& values, DType dtype) {
  double largest = 0, smallest = INFINITY;
  for (double value : values)
    if (std::isfinite(value) && value != 0) {
      largest = std::max(largest, std::abs(value));
      smallest = std::min(smallest, std::abs(value));
    }
  // NumPy's rule.
  const bool scientific = largest >= 1e8 || (largest > 0 && (smallest < 1e-4 || largest / smallest > 1e3));
  const int precision = digits(values, scientific, dtype);
  std::vector<std::string> texts;
  for (double value : values) {
    if (!std::isfinite(value)) {
      texts.push_back(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
      continue;
    }
    std::string text =
        with_point(scientific ? fmt::format("{:.{}e}", value, precision) : fmt::format("{:.{}f}", value, precision));
    // Zeros at the end give way to spaces, so that points stay below each other.
    if (!scientific)
      for (std::size_t i = text.size(); i-- > 0 && text[i] == '0';) text[i] = ' ';
    texts.push_back(std::move(text));
  }
  return texts;
}

std::vector<std::string> texts_of(const Tensor& tensor) {
  const std::vector<double> values = tensor.read<double>().get();
  if (is_float(tensor.dtype())) return float_texts(values, tensor.dtype());
  std::vector<std::string> texts;
  for (double value : values)
    texts.push_back(tensor.dtype() == DType::boolean ? (value != 0 ? "True" : "False")
                                                     : fmt::format("{}", static_cast<std::int64_t>(value)));
  return texts;
}

class Printer {
 public:
  Printer(const Shape& full, const Shape& shown, std::vector<std::string> texts)
      : full_(full), shown_(shown), texts_(std::move(texts)) {
    std::size_t width = 0;
    for (const std::string& text : texts_) width = std::max(width, text.size());
    for (std::string& text : texts_) text.insert(0, width - text.size(), ' ');
  }

  std::string print() { return axis(0); }

 private:
  /// The next elements of one axis and all below it, in brackets.
  std::string axis(int depth) {
    if (depth == shown_.rank()) return texts_[next_++];
    const bool cut = shown_[depth] != full_[depth];
    const bool last = depth + 1 == shown_.rank();
    const std::string indent(static_cast<std::size_t>(depth) + 1, ' ');
    // Matrices are apart by one line end, what holds them by one more for each axis.
    const std::string between = last ? " " : std::string(static_cast<std::size_t>(shown_.rank() - depth - 1), '\n') + indent;
    std::string out = "[";
    std::size_t line = static_cast<std::size_t>(depth) + 1;
    const auto add = [&](const std::string& text) {
      if (last && line + text.size() + 1 > line_width && line > static_cast<std::size_t>(depth) + 1) {
        while (out.back() == ' ') out.pop_back();
        out += "\n" + indent;
        line = static_cast<std::size_t>(depth) + 1;
      }
      out += text;
      line += text.size() + 1;
    };
    for (std::int64_t i = 0; i < shown_[depth]; ++i) {
      if (i > 0) out += between;
      if (cut && i == edge) {
        add("...");
        out += between;
      }
      add(axis(depth + 1));
    }
    return out + "]";
  }

  Shape full_, shown_;
  std::vector<std::string> texts_;
  std::size_t next_ = 0;
};

}  // namespace

std::string to_string(const Tensor& tensor) {
  Tensor shown = tensor.detach();
  const Shape full = tensor.shape();
  if (full.elements() == 0) return full.rank() == 1 ? "[]" : fmt::format("[] (shape {})", to_string(full));
  // Only what is shown is read.
  for (int axis = 0; full.elements() > most_elements && axis < full.rank(); ++axis) {
    const std::int64_t size = full[axis];
    if (size > 2 * edge) shown = concatenate({narrow(shown, axis, 0, edge), narrow(shown, axis, size - edge, edge)}, axis);
  }
  std::vector<std::string> texts = texts_of(shown);
  if (full.rank() == 0 && is_float(tensor.dtype())) {  // "1.0", as a number is written
    std::string& text = texts[0];
    text.erase(std::find(text.begin(), text.end(), ' '), text.end());
    if (text.back() == '.') text += "0";
  }
  return Printer(full, shown.shape(), std::move(texts)).print();
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return out << to_string(tensor); }

}  // namespace hearth
