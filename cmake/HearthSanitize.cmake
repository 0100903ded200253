# HEARTH_SANITIZE: compiles and links everything of this project with the named sanitizers.
if(HEARTH_SANITIZE)
  add_compile_options(-fsanitize=${HEARTH_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HEARTH_SANITIZE})
endif()

# For each program that opens a Vulkan driver.
function(hearth_prepare_for_sanitizers target)
  if(HEARTH_SANITIZE MATCHES "address")
    target_sources(${target} PRIVATE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../tests/support/keep_loaded.cpp")
  endif()
endfunction()
