#pragma once
// Every op of the library.
#include "hearth/ops/binary.hpp"
#include "hearth/ops/conv.hpp"
#include "hearth/ops/create.hpp"
#include "hearth/ops/index.hpp"
#include "hearth/ops/linalg.hpp"
#include "hearth/ops/nn.hpp"
#include "hearth/ops/reduce.hpp"
#include "hearth/ops/unary.hpp"
#include "hearth/ops/view.hpp"
