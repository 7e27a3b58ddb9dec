# The CMake package of SteadyFS:
#
#   find_package(steadyfs 0.1 REQUIRED PATHS CLONE/crates/steadyfs-c/cmake NO_DEFAULT_PATH)
#   target_link_libraries(firmware PRIVATE steadyfs::steadyfs)
#
# steadyfs-target.cmake documents the options.
include("${CMAKE_CURRENT_LIST_DIR}/steadyfs-target.cmake")
if(_steadyfs_error)
  set(steadyfs_FOUND FALSE)
  set(steadyfs_NOT_FOUND_MESSAGE "${_steadyfs_error}")
else()
  set(steadyfs_FOUND TRUE)
endif()
