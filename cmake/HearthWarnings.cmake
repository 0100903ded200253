function(hearth_set_warnings target)
  if(MSVC)
    target_compile_options(${target} INTERFACE /W4 $<$<BOOL:${HEARTH_WERROR}>:/WX>)
  else()
    # Designated initialisers that leave members to their defaults are a style of this library.
    target_compile_options(${target} INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
      -Wno-missing-field-initializers
      # g++ 12 and 13 warn of std::string's own copies (GCC bug 105651).
      $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> $<$<BOOL:${HEARTH_WERROR}>:-Werror>)
  endif()
endfunction()
