#pragma once
#include <functional>

#include "graph/context.hpp"

namespace hearth::graph {

/// The map of devices by native object, the only global state. Gives the context that `native` has already, or makes one.
/// Throws Error(invalid_argument) when the one there has other options, unless its device is lost.
[[nodiscard]] Ref<Context> find_or_make(const void* native, const RuntimeOptions& options,
                                        const std::function<Ref<Context>()>& make);
/// Called by the context's destructor.
void forget(const Context& context) noexcept;

}  // namespace hearth::graph
