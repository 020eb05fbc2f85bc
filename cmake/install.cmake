# What `cmake --install` puts down: the library, its headers, a CMake package (find_package(mummu)) and a pkg-config file.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS mummu EXPORT mummu)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/mummu DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/mummu)
install(EXPORT mummu NAMESPACE mummu:: FILE mummu-targets.cmake DESTINATION ${package})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/mummu-config.cmake.in
  ${PROJECT_BINARY_DIR}/mummu-config.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/mummu-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/mummu-config.cmake ${PROJECT_BINARY_DIR}/mummu-config-version.cmake
  DESTINATION ${package})

# A static library says itself what it needs; a shared one brings that along.
set(mummu_private_requires "fmt, libpcre2-8, libutf8proc")
if(MUMMU_HUB)
  string(APPEND mummu_private_requires ", libcurl, libcrypto")
endif()
if(BUILD_SHARED_LIBS)
  set(mummu_requires "")
else()
  set(mummu_requires ${mummu_private_requires})
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/mummu.pc.in ${PROJECT_BINARY_DIR}/mummu.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/mummu.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(MUMMU_TESTS AND NOT MUMMU_SANITIZE)
  add_test(NAME installed_tree COMMAND ${PROJECT_SOURCE_DIR}/tool/check_install.sh ${PROJECT_BINARY_DIR})
  set_tests_properties(installed_tree PROPERTIES LABELS example TIMEOUT 300 SKIP_REGULAR_EXPRESSION "skipped: ")
endif()
