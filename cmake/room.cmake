# A room is one folder of src/. Every .cpp in it belongs to the library, except
#   *_test.cpp   its tests: one program room_test, every test labelled with the room
#   *_fuzz.cpp   libFuzzer targets, one program each; without clang they replay their corpus as a test
# A room that needs more than that (flags for an instruction set) has a CMakeLists.txt, which may add to the room's
# object library `mummu_<room>_objects` by target_sources or to the variable mummu_extra_objects, and name in
# test_filter_<room> (a filter of GoogleTest) which tests CTest finds by itself.
add_library(mummu)
add_library(mummu::mummu ALIAS mummu)
target_include_directories(mummu PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
target_compile_features(mummu PUBLIC cxx_std_20)
set_target_properties(mummu PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0)

# What tests link: the whole library as objects, with its private headers (symbols are hidden in the shared library).
add_library(mummu_inside INTERFACE)
target_include_directories(mummu_inside INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(mummu_inside INTERFACE mummu_flags Threads::Threads)

function(mummu_add_objects name)
  target_link_libraries(${name} PRIVATE mummu_inside nlohmann_json::nlohmann_json fmt::fmt)
  target_compile_definitions(${name} PRIVATE MUMMU_BUILDING=1)
  target_sources(mummu PRIVATE $<TARGET_OBJECTS:${name}>)
  set_property(GLOBAL APPEND PROPERTY MUMMU_OBJECTS ${name})
endfunction()

# libFuzzer finds its way by the branches that an input takes, so the objects must count them. Those that no foreign byte
# steers are left as they are, and as fast.
function(mummu_count_branches target)
  if(MUMMU_FUZZ AND NOT target MATCHES "^mummu_(device|layer|async)_")
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

function(mummu_rooms)
  foreach(room IN LISTS ARGN)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.cpp)
    set(tests ${sources})
    set(fuzzers ${sources})
    list(FILTER sources EXCLUDE REGEX "(_test|_fuzz)\\.cpp$")
    list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
    list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cpp$")
    if(EXISTS ${PROJECT_SOURCE_DIR}/src/${room}/CMakeLists.txt)
      include(${PROJECT_SOURCE_DIR}/src/${room}/CMakeLists.txt)
    endif()
    if(sources)
      add_library(mummu_${room}_objects OBJECT ${sources})
      mummu_add_objects(mummu_${room}_objects)
      mummu_count_branches(mummu_${room}_objects)
    endif()
    set(tests_${room} ${tests})
    set(fuzzers_${room} ${fuzzers})
  endforeach()

  # The static twin that tests and fuzzers link: they see private headers and hidden symbols.
  get_property(objects GLOBAL PROPERTY MUMMU_OBJECTS)
  add_library(mummu_whole STATIC EXCLUDE_FROM_ALL)
  foreach(name IN LISTS objects)
    target_sources(mummu_whole PRIVATE $<TARGET_OBJECTS:${name}>)
  endforeach()
  foreach(library mummu mummu_whole)
    set_target_properties(${library} PROPERTIES LINKER_LANGUAGE CXX)
    target_link_libraries(${library} PRIVATE $<BUILD_INTERFACE:mummu_flags>)
    target_link_libraries(${library} PRIVATE fmt::fmt Threads::Threads ${mummu_room_libraries})
  endforeach()

  foreach(room IN LISTS ARGN)
    if(MUMMU_TESTS AND tests_${room})
      add_executable(${room}_test ${tests_${room}})
      target_link_libraries(${room}_test PRIVATE
        mummu_inside mummu_whole nlohmann_json::nlohmann_json fmt::fmt GTest::gmock_main GTest::gtest)
      target_compile_definitions(${room}_test PRIVATE MUMMU_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
      set(filter "")
      if(DEFINED test_filter_${room})
        set(filter TEST_FILTER ${test_filter_${room}})
      endif()
      gtest_discover_tests(${room}_test ${filter} DISCOVERY_MODE PRE_TEST
        PROPERTIES LABELS ${room} TIMEOUT 600)
    endif()
    if(MUMMU_TESTS)
      foreach(source IN LISTS fuzzers_${room})
        mummu_fuzzer(${room} ${source})
      endforeach()
    endif()
  endforeach()
endfunction()

# A fuzz target replays its committed corpus (golden/fuzz/<name>/) as a test in every build;
# with MUMMU_FUZZ it is a libFuzzer program that also searches for MUMMU_FUZZ_SECONDS.
set(MUMMU_FUZZ_SECONDS 20 CACHE STRING "Seconds that each fuzz target searches in a test run")
function(mummu_fuzzer room source)
  get_filename_component(name ${source} NAME_WE)
  set(corpus ${PROJECT_SOURCE_DIR}/golden/fuzz/${name})
  if(MUMMU_FUZZ)
    add_executable(${name} ${source})
    mummu_count_branches(${name})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_test(NAME ${name} COMMAND ${name} -max_total_time=${MUMMU_FUZZ_SECONDS} -timeout=10
      -rss_limit_mb=2048 -print_final_stats=1 ${PROJECT_BINARY_DIR}/fuzz/${name} ${corpus})
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz/${name})
  else()
    add_executable(${name} ${source} ${PROJECT_SOURCE_DIR}/cmake/replay_corpus.cpp)
    add_test(NAME ${name} COMMAND ${name} ${corpus})
  endif()
  target_link_libraries(${name} PRIVATE mummu_inside mummu_whole nlohmann_json::nlohmann_json fmt::fmt)
  set_tests_properties(${name} PROPERTIES LABELS ${room} TIMEOUT 300)
endfunction()
