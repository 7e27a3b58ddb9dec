# Makes a target of CMake for each built library, or sets _steadyfs_error to the reason why it
# cannot: steadyfs::everything, steadyfs::logger and so on. A program links only one of them.
#
#   STEADYFS_TARGET   the folder in lib that contains the libraries for the processor; empty: CMake
#                     asks the compiler
set(STEADYFS_TARGET "" CACHE STRING "Folder in lib of the libraries of SteadyFS; empty: that of the compiler's processor")

set(_steadyfs_error "")
get_filename_component(_steadyfs_lib "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
get_filename_component(_steadyfs_include "${_steadyfs_lib}/../include" ABSOLUTE)
file(GLOB _steadyfs_targets RELATIVE "${_steadyfs_lib}" "${_steadyfs_lib}/*/*/libsteadyfs_c.a")
list(TRANSFORM _steadyfs_targets REPLACE "/.*" "")
list(REMOVE_DUPLICATES _steadyfs_targets)
list(JOIN _steadyfs_targets ", " _steadyfs_targets_text)

# Stores the macros that the compiler defines, with the flags of the project, in a variable.
function(_steadyfs_compiler_macros result)
  if(CMAKE_C_COMPILER)
    set(compiler "${CMAKE_C_COMPILER}")
    separate_arguments(flags UNIX_COMMAND "${CMAKE_C_COMPILER_ARG1} ${CMAKE_C_FLAGS}")
  else()
    set(compiler "${CMAKE_CXX_COMPILER}")
    separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_COMPILER_ARG1} ${CMAKE_CXX_FLAGS}")
  endif()
  execute_process(
    COMMAND "${compiler}" ${flags} -ffreestanding -dM -E -x c "${_steadyfs_include}/steadyfs.h"
    OUTPUT_VARIABLE macros ERROR_QUIET)
  set(${result} "${macros}" PARENT_SCOPE)
endfunction()

# Stores the Rust target of the compiler's processor in a variable, or an empty text.
function(_steadyfs_find_target result)
  _steadyfs_compiler_macros(macros)
  set(float "")
  if(macros MATCHES "#define __ARM_PCS_VFP ")
    set(float "hf")
  endif()
  set(target "")
  if(macros MATCHES "#define __ARM_ARCH_(6M|8M_BASE)__ ")
    set(target "thumbv6m-none-eabi")
  elseif(macros MATCHES "#define __ARM_ARCH_7M__ ")
    set(target "thumbv7m-none-eabi")
  elseif(macros MATCHES "#define __ARM_ARCH_7EM__ ")
    set(target "thumbv7em-none-eabi${float}")
  elseif(macros MATCHES "#define __ARM_ARCH_8M_MAIN__ ")
    set(target "thumbv8m.main-none-eabi${float}")
  elseif(macros MATCHES "#define __riscv_xlen 32" AND macros MATCHES "#define __riscv_float_abi_soft "
      AND macros MATCHES "#define __riscv_mul " AND macros MATCHES "#define __riscv_compressed ")
    set(target "riscv32imc-unknown-none-elf")
    if(macros MATCHES "#define __riscv_atomic ")
      set(target "riscv32imac-unknown-none-elf")
    endif()
  elseif(macros MATCHES "#define __x86_64__ " AND macros MATCHES "#define __linux__ ")
    set(target "x86_64-unknown-linux-gnu")
  endif()
  set(${result} "${target}" PARENT_SCOPE)
endfunction()

set(_steadyfs_target "${STEADYFS_TARGET}")
if(NOT _steadyfs_target)
  _steadyfs_find_target(_steadyfs_target)
endif()
if(NOT _steadyfs_target)
  string(CONCAT _steadyfs_error
    "the compiler with the flags of CMAKE_C_FLAGS compiles for a processor without a library; "
    "expected its -mcpu or -march there, or one of these in -DSTEADYFS_TARGET=…: ${_steadyfs_targets_text}")
elseif(NOT _steadyfs_target IN_LIST _steadyfs_targets)
  set(_steadyfs_error "there is no library for ${_steadyfs_target}; expected one of ${_steadyfs_targets_text}")
endif()

if(NOT _steadyfs_error)
  file(GLOB _steadyfs_presets RELATIVE "${_steadyfs_lib}/${_steadyfs_target}" "${_steadyfs_lib}/${_steadyfs_target}/*")
  foreach(_steadyfs_preset IN LISTS _steadyfs_presets)
    if(TARGET steadyfs::${_steadyfs_preset})
      continue()
    endif()
    add_library(steadyfs::${_steadyfs_preset} STATIC IMPORTED GLOBAL)
    set_target_properties(steadyfs::${_steadyfs_preset} PROPERTIES
      IMPORTED_LOCATION "${_steadyfs_lib}/${_steadyfs_target}/${_steadyfs_preset}/libsteadyfs_c.a"
      INTERFACE_INCLUDE_DIRECTORIES "${_steadyfs_include}")
    if(_steadyfs_target MATCHES "linux")
      # The standard library of Rust needs these.
      set_property(TARGET steadyfs::${_steadyfs_preset} PROPERTY INTERFACE_LINK_LIBRARIES pthread ${CMAKE_DL_LIBS} m)
    endif()
  endforeach()
endif()

# Makes steadyfs::steadyfs the library of a preset, or sets _steadyfs_error.
macro(_steadyfs_choose preset)
  if(NOT _steadyfs_error AND NOT TARGET steadyfs::${preset})
    list(JOIN _steadyfs_presets ", " _steadyfs_presets_text)
    set(_steadyfs_error "there is no preset ${preset} for ${_steadyfs_target}; expected one of ${_steadyfs_presets_text}")
  endif()
  if(NOT _steadyfs_error AND NOT TARGET steadyfs::steadyfs)
    add_library(steadyfs::steadyfs INTERFACE IMPORTED GLOBAL)
    set_property(TARGET steadyfs::steadyfs PROPERTY INTERFACE_LINK_LIBRARIES steadyfs::${preset})
  endif()
endmacro()
