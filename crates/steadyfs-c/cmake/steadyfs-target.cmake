# Makes the target steadyfs::steadyfs, or sets _steadyfs_error to the reason why it cannot.
# Cargo builds the library when it is needed.
#
#   STEADYFS_LIBRARY    a library that is built already; then the options below have no effect
#   STEADYFS_TARGET     the Rust target, such as thumbv7m-none-eabi; empty: the host's
#   STEADYFS_FEATURES   features of the library, separated by commas: nand,truncate; empty: default
#   STEADYFS_PROFILE    profile of cargo: size for the least code, release for speed, dev for a
#                       library that checks its own arithmetic; empty: size for targets without an
#                       operating system, else release
#   STEADYFS_BUILD_CORE ON builds Rust's core library for the target as well, for less code: it
#                       needs nightly (STEADYFS_CARGO "cargo +nightly") with the component rust-src
#   STEADYFS_CARGO      cargo, with more arguments if it needs any
set(STEADYFS_LIBRARY "" CACHE FILEPATH "Library of SteadyFS that is built already; empty: cargo builds it")
set(STEADYFS_TARGET "" CACHE STRING "Rust target of SteadyFS; empty: the host's")
set(STEADYFS_FEATURES "" CACHE STRING "Features of SteadyFS, separated by commas; empty: the default ones")
set(STEADYFS_PROFILE "" CACHE STRING "Profile of cargo for SteadyFS; empty: size on a microcontroller, else release")
option(STEADYFS_BUILD_CORE "Build Rust's core library as well, with cargo of nightly" OFF)
set(STEADYFS_CARGO "cargo" CACHE STRING "Command of cargo, with more arguments if it needs any")

set(_steadyfs_error "")
get_filename_component(_steadyfs_crate "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)

# Sets _steadyfs_error if cargo, the target's core library, or the source of this library is missing.
macro(_steadyfs_check_cargo)
  execute_process(COMMAND ${_steadyfs_cargo} --version
    RESULT_VARIABLE _steadyfs_result OUTPUT_VARIABLE _steadyfs_told ERROR_VARIABLE _steadyfs_told)
  if(NOT _steadyfs_result EQUAL 0)
    # The first line has the reason.
    string(REGEX MATCH "^[^\n]+" _steadyfs_told "${_steadyfs_told}")
    string(STRIP "(${_steadyfs_result}) ${_steadyfs_told}" _steadyfs_told)
    string(CONCAT _steadyfs_error
      "`${STEADYFS_CARGO} --version` failed ${_steadyfs_told}; expected cargo. "
      "Install Rust (https://rustup.rs), name cargo by -DSTEADYFS_CARGO=/path/to/cargo, "
      "or a library that is built already by -DSTEADYFS_LIBRARY=/path/to/libsteadyfs_c.a.")
  elseif(STEADYFS_BUILD_CORE)
    _steadyfs_check_source()
  elseif(STEADYFS_TARGET AND NOT STEADYFS_CARGO MATCHES "build-std")
    _steadyfs_check_target()
  endif()
endmacro()

# Sets _steadyfs_rustc and _steadyfs_toolchain to the compiler that cargo calls.
macro(_steadyfs_find_rustc)
  list(GET _steadyfs_cargo 0 _steadyfs_program)
  get_filename_component(_steadyfs_bin "${_steadyfs_program}" DIRECTORY)
  # rustc takes the toolchain of rustup that cargo takes, such as +nightly.
  set(_steadyfs_toolchain ${_steadyfs_cargo})
  list(FILTER _steadyfs_toolchain INCLUDE REGEX "^\\+")
  if(DEFINED ENV{RUSTC})
    set(_steadyfs_rustc "$ENV{RUSTC}")
  elseif(_steadyfs_bin AND EXISTS "${_steadyfs_bin}/rustc")
    set(_steadyfs_rustc "${_steadyfs_bin}/rustc")
  else()
    set(_steadyfs_rustc "rustc")
  endif()
endmacro()

# Sets _steadyfs_error if rustc cannot build its core library: it is not nightly, or has no source.
macro(_steadyfs_check_source)
  _steadyfs_find_rustc()
  string(CONCAT _steadyfs_hint
    "Run `rustup toolchain install nightly --component rust-src`, and set "
    "-DSTEADYFS_CARGO=\"cargo +nightly\".")
  execute_process(
    COMMAND "${_steadyfs_rustc}" ${_steadyfs_toolchain} --version
    OUTPUT_VARIABLE _steadyfs_told ERROR_VARIABLE _steadyfs_told OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(
    COMMAND "${_steadyfs_rustc}" ${_steadyfs_toolchain} --print sysroot
    OUTPUT_VARIABLE _steadyfs_sysroot ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(_steadyfs_source "${_steadyfs_sysroot}/lib/rustlib/src/rust/library/core")
  # RUSTC_BOOTSTRAP gives a stable compiler the options of nightly.
  if(NOT _steadyfs_told MATCHES "-(nightly|dev)" AND NOT DEFINED ENV{RUSTC_BOOTSTRAP}
      AND NOT STEADYFS_CARGO MATCHES "RUSTC_BOOTSTRAP")
    set(_steadyfs_error "STEADYFS_BUILD_CORE is ON and the compiler is ${_steadyfs_told}; expected nightly. ${_steadyfs_hint}")
  elseif(NOT EXISTS "${_steadyfs_source}")
    set(_steadyfs_error "STEADYFS_BUILD_CORE is ON and the compiler has no source of its core library; expected ${_steadyfs_source}. ${_steadyfs_hint}")
  endif()
endmacro()

# Sets _steadyfs_error if rustc has no core library for the target.
macro(_steadyfs_check_target)
  _steadyfs_find_rustc()
  execute_process(
    COMMAND "${_steadyfs_rustc}" ${_steadyfs_toolchain} --print target-libdir --target "${STEADYFS_TARGET}"
    RESULT_VARIABLE _steadyfs_result OUTPUT_VARIABLE _steadyfs_libdir ERROR_VARIABLE _steadyfs_told
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_STRIP_TRAILING_WHITESPACE)
  if(NOT _steadyfs_result EQUAL 0)
    string(CONCAT _steadyfs_error
      "STEADYFS_TARGET is ${STEADYFS_TARGET}; expected a target of `rustc --print target-list`, "
      "such as thumbv7em-none-eabihf (${_steadyfs_rustc}: ${_steadyfs_told})")
  else()
    file(GLOB _steadyfs_core "${_steadyfs_libdir}/libcore-*.rlib")
    if(NOT _steadyfs_core)
      string(CONCAT _steadyfs_error
        "the Rust target ${STEADYFS_TARGET} is not installed: ${_steadyfs_libdir} has no libcore; "
        "expected it there. Run `rustup target add ${STEADYFS_TARGET}`.")
    endif()
  endif()
endmacro()

if(NOT TARGET steadyfs::steadyfs)
  set(_steadyfs_library "${STEADYFS_LIBRARY}")
  if(STEADYFS_LIBRARY)
    if(NOT EXISTS "${STEADYFS_LIBRARY}" OR IS_DIRECTORY "${STEADYFS_LIBRARY}")
      set(_steadyfs_error
        "STEADYFS_LIBRARY is ${STEADYFS_LIBRARY}, which is no file; expected the path of libsteadyfs_c.a")
    endif()
  else()
    separate_arguments(_steadyfs_cargo UNIX_COMMAND "${STEADYFS_CARGO}")
    if(_steadyfs_cargo)
      _steadyfs_check_cargo()
    else()
      set(_steadyfs_error "STEADYFS_CARGO is empty; expected the command of cargo")
    endif()
    if(STEADYFS_BUILD_CORE AND NOT STEADYFS_TARGET)
      set(_steadyfs_error "STEADYFS_BUILD_CORE is ON and STEADYFS_TARGET is empty; expected the Rust target of a microcontroller")
    endif()
    if(CMAKE_CROSSCOMPILING AND NOT STEADYFS_TARGET)
      message(WARNING "STEADYFS_TARGET is empty and CMake compiles for ${CMAKE_SYSTEM_NAME} on another processor; "
        "expected a Rust target, such as -DSTEADYFS_TARGET=thumbv7em-none-eabihf: the library is the host's")
    endif()
  endif()
endif()

if(NOT TARGET steadyfs::steadyfs AND NOT _steadyfs_error)
  add_library(steadyfs::steadyfs STATIC IMPORTED GLOBAL)
  if(NOT STEADYFS_LIBRARY)
    set(_steadyfs_output "${CMAKE_BINARY_DIR}/cargo-steadyfs")
    if(STEADYFS_PROFILE)
      set(_steadyfs_profile "${STEADYFS_PROFILE}")
    elseif(STEADYFS_TARGET MATCHES "-none-")
      set(_steadyfs_profile "size")
    else()
      set(_steadyfs_profile "release")
    endif()
    set(_steadyfs_arguments --manifest-path "${_steadyfs_crate}/Cargo.toml" --target-dir "${_steadyfs_output}"
      --lib --crate-type staticlib --profile "${_steadyfs_profile}")
    if(STEADYFS_TARGET)
      list(APPEND _steadyfs_arguments --target "${STEADYFS_TARGET}")
    endif()
    if(STEADYFS_FEATURES)
      list(APPEND _steadyfs_arguments --no-default-features --features "${STEADYFS_FEATURES}")
    endif()
    if(STEADYFS_BUILD_CORE)
      list(APPEND _steadyfs_arguments -Zbuild-std=core
        --config "target.${STEADYFS_TARGET}.rustflags=['-Zunstable-options','-Cpanic=immediate-abort']")
    endif()
    if(_steadyfs_profile STREQUAL "dev")
      set(_steadyfs_directory "debug")
    else()
      set(_steadyfs_directory "${_steadyfs_profile}")
    endif()
    set(_steadyfs_library "${_steadyfs_output}/${STEADYFS_TARGET}/${_steadyfs_directory}/libsteadyfs_c.a")
    # Cargo finds out what has changed: each build runs it.
    add_custom_target(steadyfs-cargo
      COMMAND ${_steadyfs_cargo} rustc ${_steadyfs_arguments}
      BYPRODUCTS "${_steadyfs_library}"
      COMMENT "cargo builds SteadyFS"
      VERBATIM USES_TERMINAL)
    add_dependencies(steadyfs::steadyfs steadyfs-cargo)
  endif()
  set_target_properties(steadyfs::steadyfs PROPERTIES
    IMPORTED_LOCATION "${_steadyfs_library}"
    INTERFACE_INCLUDE_DIRECTORIES "${_steadyfs_crate}/include")
  if(UNIX AND NOT STEADYFS_TARGET AND NOT CMAKE_CROSSCOMPILING)
    # The standard library of Rust needs these on a host.
    set_property(TARGET steadyfs::steadyfs PROPERTY INTERFACE_LINK_LIBRARIES pthread ${CMAKE_DL_LIBS} m)
  endif()
endif()
