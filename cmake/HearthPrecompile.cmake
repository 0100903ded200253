# hearth_precompile(TARGET [HEADERS...]): the headers that most sources read anyway, parsed once a target. Nothing may rely on it:
# the Dawn lane builds without.
function(hearth_precompile target)
  if(HEARTH_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <cmath> <cstdint> <functional> <map> <memory> <optional> <span>
      <string> <unordered_map> <vector> <fmt/format.h> ${ARGN})
    get_target_property(sources ${target} SOURCES)
    # These set their own instruction set, or ask doctest.h for more than its declarations.
    list(FILTER sources INCLUDE REGEX "/loops_|/main\\.cpp$")
    set_source_files_properties(${sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    # -fpch-preprocess lets ccache (with its sloppiness pch_defines,time_macros) work with it. And g++ 12 warns of std::string's own
    # copies once it comes precompiled.
    target_compile_options(${target} PRIVATE
      "$<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess;-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>")
  endif()
endfunction()
