# Install and export: find_package(hearth) gives hearth::hearth and, where it was built, hearth::io.
include(CMakePackageConfigHelpers)
set(_hearth_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/hearth")

install(TARGETS hearth EXPORT hearthTargets)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/hearth" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp")
install(EXPORT hearthTargets NAMESPACE hearth:: DESTINATION "${_hearth_package_dir}")
if(TARGET hearth_io)
  set_target_properties(hearth_io PROPERTIES EXPORT_NAME io)
  install(TARGETS hearth_io EXPORT hearthIoTargets)
  install(EXPORT hearthIoTargets NAMESPACE hearth:: DESTINATION "${_hearth_package_dir}")
endif()
if(TARGET hearth_cli)
  install(TARGETS hearth_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

get_target_property(_hearth_type hearth TYPE)
set(HEARTH_STATIC FALSE)
if(_hearth_type STREQUAL "STATIC_LIBRARY")
  set(HEARTH_STATIC TRUE)
endif()
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/hearthConfig.cmake.in" "${PROJECT_BINARY_DIR}/hearthConfig.cmake"
  INSTALL_DESTINATION "${_hearth_package_dir}" PATH_VARS CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/hearthConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/hearthConfig.cmake" "${PROJECT_BINARY_DIR}/hearthConfigVersion.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/HearthWebGPU.cmake" DESTINATION "${_hearth_package_dir}")

# The package stands alone: wgpu-native lies in a user's cache folder, so it is installed beside the library.
if(HEARTH_WEBGPU_KIND STREQUAL "wgpu" AND HEARTH_INSTALL_WEBGPU)
  install(DIRECTORY "${HEARTH_WEBGPU_PATH}/include" "${HEARTH_WEBGPU_PATH}/lib" DESTINATION "${CMAKE_INSTALL_LIBDIR}/hearth/wgpu-native")
endif()
