#include "hearth/error.hpp"

namespace hearth {

const char* to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::shape_mismatch: return "shape_mismatch";
    case ErrorCode::dtype_mismatch: return "dtype_mismatch";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::wrong_thread: return "wrong_thread";
    case ErrorCode::wrong_device: return "wrong_device";
    case ErrorCode::would_block: return "would_block";
    case ErrorCode::not_submitted: return "not_submitted";
    case ErrorCode::out_of_memory: return "out_of_memory";
    case ErrorCode::device_lost: return "device_lost";
    case ErrorCode::no_adapter: return "no_adapter";
    case ErrorCode::compilation: return "compilation";
    case ErrorCode::validation: return "validation";
    case ErrorCode::io: return "io";
  }
  return "unknown";
}

}  // namespace hearth
