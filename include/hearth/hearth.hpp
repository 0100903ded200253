#pragma once
// Everything but WebGPU interop (hearth/webgpu.hpp).
#include "hearth/device.hpp"
#include "hearth/dtype.hpp"
#include "hearth/error.hpp"
#include "hearth/future.hpp"
#include "hearth/kernel.hpp"
#include "hearth/op.hpp"
#include "hearth/ops.hpp"
#include "hearth/shape.hpp"
#include "hearth/tensor.hpp"
