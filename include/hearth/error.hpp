#pragma once
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "hearth/fwd.hpp"

namespace hearth {

enum class ErrorCode : unsigned char {
  invalid_argument,  ///< a value that the operation does not take
  shape_mismatch,    ///< shapes that do not fit each other
  dtype_mismatch,    ///< dtypes that do not fit the operation
  unsupported,       ///< the device lacks a feature or a limit
  wrong_thread,      ///< a device or tensor used from a thread that does not own it
  wrong_device,      ///< tensors of different devices in one operation
  would_block,       ///< waiting where the platform forbids it
  not_submitted,     ///< a result of an encoder that the app has not submitted yet
  out_of_memory,     ///< the device or the cap of RuntimeOptions has no room
  device_lost,       ///< the device was lost or destroyed
  no_adapter,        ///< no adapter fits the request
  compilation,       ///< a shader or kernel that does not compile
  validation,        ///< WebGPU refused a command
  io,                ///< a file that cannot be read, written or understood
};

/// Name of a code, as in "shape_mismatch".
[[nodiscard]] const char* to_string(ErrorCode code) noexcept;

/// What went wrong: a code and one full sentence. Carried by Expected and Future; thrown as Error.
struct Failure {
  ErrorCode code = ErrorCode::invalid_argument;
  std::string message;
};

/// The exception of the library. what() is one sentence: operation and label first, then the actual value, then the limit.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  explicit Error(const Failure& failure) : Error(failure.code, failure.message) {}
  [[nodiscard]] ErrorCode code() const noexcept { return code_; }
  [[nodiscard]] Failure failure() const { return {code_, what()}; }

 private:
  ErrorCode code_;
};

/// A value or the reason why there is none. Used below the tensor layer, where nothing throws.
template <typename T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : state_(std::in_place_index<0>, std::move(value)) {}            // NOLINT: values mix freely
  Expected(Failure failure) : state_(std::in_place_index<1>, std::move(failure)) {}  // NOLINT
  explicit operator bool() const noexcept { return state_.index() == 0; }
  [[nodiscard]] const Failure& error() const { return std::get<1>(state_); }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  /// The value; throws Error when there is none.
  T& value() & {
    if (!*this) throw Error(error());
    return **this;
  }
  T value() && {
    if (!*this) throw Error(error());
    return std::move(**this);
  }

 private:
  std::variant<T, Failure> state_;
};

template <>
class [[nodiscard]] Expected<void> {
 public:
  Expected() = default;
  Expected(Failure failure) : failure_(std::move(failure)) {}  // NOLINT: failures mix freely
  explicit operator bool() const noexcept { return !failure_; }
  [[nodiscard]] const Failure& error() const { return *failure_; }
  /// Throws Error when this is a failure.
  void value() const {
    if (failure_) throw Error(*failure_);
  }

 private:
  std::optional<Failure> failure_;
};

}  // namespace hearth
