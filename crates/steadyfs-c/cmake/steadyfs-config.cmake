# The CMake package of SteadyFS: find_package(steadyfs REQUIRED PATHS CLONE/crates/steadyfs-c/cmake) gives the target steadyfs::steadyfs,
# which cargo builds when it is needed.
#
#   STEADYFS_TARGET     the Rust target, such as thumbv7m-none-eabi; that of the host where it is empty
#   STEADYFS_FEATURES   features of the library, separated by commas: nand,truncate; all where it is empty
#   STEADYFS_PROFILE    release, or dev for a library that checks its own arithmetic
#   STEADYFS_CARGO      cargo, with what else its command line needs

set(STEADYFS_TARGET "" CACHE STRING "Rust target of SteadyFS; empty: the host's")
set(STEADYFS_FEATURES "" CACHE STRING "Features of SteadyFS; empty: all")
set(STEADYFS_PROFILE "release" CACHE STRING "Profile of cargo for SteadyFS")
set(STEADYFS_CARGO "cargo" CACHE STRING "Command of cargo, with what else its command line needs")

if(NOT TARGET steadyfs::steadyfs)
  get_filename_component(_steadyfs_crate "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
  set(_steadyfs_output "${CMAKE_BINARY_DIR}/steadyfs")
  set(_steadyfs_arguments --manifest-path "${_steadyfs_crate}/Cargo.toml" --target-dir "${_steadyfs_output}" --lib --crate-type staticlib
      --profile "${STEADYFS_PROFILE}")
  if(STEADYFS_TARGET)
    list(APPEND _steadyfs_arguments --target "${STEADYFS_TARGET}")
  endif()
  if(STEADYFS_FEATURES)
    list(APPEND _steadyfs_arguments --no-default-features --features "${STEADYFS_FEATURES}")
  endif()
  if(STEADYFS_PROFILE STREQUAL "dev")
    set(_steadyfs_directory "debug")
  else()
    set(_steadyfs_directory "${STEADYFS_PROFILE}")
  endif()
  set(_steadyfs_library "${_steadyfs_output}/${STEADYFS_TARGET}/${_steadyfs_directory}/libsteadyfs_c.a")
  separate_arguments(_steadyfs_cargo UNIX_COMMAND "${STEADYFS_CARGO}")
  # Cargo knows what has changed: it is asked each time.
  add_custom_target(steadyfs-cargo
    COMMAND ${_steadyfs_cargo} rustc ${_steadyfs_arguments}
    BYPRODUCTS "${_steadyfs_library}"
    COMMENT "cargo builds SteadyFS"
    VERBATIM USES_TERMINAL)
  add_library(steadyfs::steadyfs STATIC IMPORTED GLOBAL)
  add_dependencies(steadyfs::steadyfs steadyfs-cargo)
  set_target_properties(steadyfs::steadyfs PROPERTIES
    IMPORTED_LOCATION "${_steadyfs_library}"
    INTERFACE_INCLUDE_DIRECTORIES "${_steadyfs_crate}/include")
  if(UNIX AND NOT STEADYFS_TARGET)
    # What Rust's standard library needs of a host.
    set_property(TARGET steadyfs::steadyfs PROPERTY INTERFACE_LINK_LIBRARIES pthread ${CMAKE_DL_LIBS} m)
  endif()
endif()
set(steadyfs_FOUND TRUE)
