# Sets _steadyfs_version to the version of the clone, which its Cargo.toml contains.
set(_steadyfs_manifest "${CMAKE_CURRENT_LIST_DIR}/../../../Cargo.toml")
file(STRINGS "${_steadyfs_manifest}" _steadyfs_line REGEX "^version = \"[0-9.]+" LIMIT_COUNT 1)
if(NOT _steadyfs_line MATCHES "\"([0-9]+\\.[0-9]+\\.[0-9]+)")
  message(FATAL_ERROR "SteadyFS: ${_steadyfs_manifest} has no line `version = \"…\"`; expected a clone of the repository")
endif()
set(_steadyfs_version "${CMAKE_MATCH_1}")
