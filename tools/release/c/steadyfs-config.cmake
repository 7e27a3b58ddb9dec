# The CMake package of SteadyFS with built libraries:
#
#   find_package(steadyfs 0.1 REQUIRED COMPONENTS logger)
#   target_link_libraries(firmware PRIVATE steadyfs::steadyfs)
#
# CMake finds it if CMAKE_PREFIX_PATH contains the folder of the archive. A component is a preset.
# steadyfs::steadyfs is the library of the first component, by default of `everything`.
# steadyfs-targets.cmake documents the option.
include("${CMAKE_CURRENT_LIST_DIR}/steadyfs-targets.cmake")
set(_steadyfs_components ${steadyfs_FIND_COMPONENTS})
if(NOT _steadyfs_components)
  set(_steadyfs_components everything)
endif()
foreach(_steadyfs_component IN LISTS _steadyfs_components)
  _steadyfs_choose("${_steadyfs_component}")
  if(TARGET steadyfs::${_steadyfs_component})
    set(steadyfs_${_steadyfs_component}_FOUND TRUE)
  endif()
endforeach()
if(_steadyfs_error)
  set(steadyfs_FOUND FALSE)
  set(steadyfs_NOT_FOUND_MESSAGE "${_steadyfs_error}")
else()
  set(steadyfs_FOUND TRUE)
endif()
