# SPDX-License-Identifier: BSD-3-Clause
# Kernels for devices of CUDA. The library holds their source as text, which NVRTC compiles where it
# runs. Where the build has an nvcc that works, the library also holds what that makes of them, so
# that it runs without NVRTC. Nothing else of CUDA is needed, and without nvcc nothing is lacking.
#
#   tonari_cuda_kernels(<list variable for the sources> <kernels.cu>)

set(TONARI_CUDA_ARCHITECTURES "default" CACHE STRING
    "devices of CUDA that nvcc compiles kernels for, e.g. 80;90; empty: none (default: all usual)")
set(tonari_usual_devices 75 80 86 89 90 100 120)

# As tools/setup/needs.sh looks for it.
file(GLOB tonari_nvcc_of_pypi
    ${PROJECT_BINARY_DIR}/venv/lib/python*/site-packages/nvidia/cu*/bin)
find_program(TONARI_NVCC nvcc PATHS ENV CUDA_HOME /usr/local/cuda ${tonari_nvcc_of_pypi}
    PATH_SUFFIXES bin DOC "NVIDIA's compiler, for kernels that need no NVRTC")
mark_as_advanced(TONARI_NVCC)

# Those that this nvcc compiles for; all that were named must be among them.
function(tonari_devices_of_nvcc devices)
  set(wanted ${TONARI_CUDA_ARCHITECTURES})
  if(wanted STREQUAL "default")
    set(wanted ${tonari_usual_devices})
  endif()
  execute_process(COMMAND ${TONARI_NVCC} --list-gpu-code OUTPUT_VARIABLE known ERROR_QUIET)
  string(REGEX MATCHALL "[0-9]+" known "${known}")
  set(found "")
  foreach(device IN LISTS wanted)
    if(device IN_LIST known)
      list(APPEND found ${device})
    elseif(NOT TONARI_CUDA_ARCHITECTURES STREQUAL "default")
      message(FATAL_ERROR "TONARI_CUDA_ARCHITECTURES has ${device}, which ${TONARI_NVCC} does not "
          "compile for; it knows ${known}")
    endif()
  endforeach()
  set(${devices} ${found} PARENT_SCOPE)
endfunction()

# Machine code for each device, and assembly for those that are newer.
function(tonari_options_of_nvcc options devices)
  set(all -fatbin -std=c++17 -allow-unsupported-compiler)
  foreach(device IN LISTS devices)
    list(APPEND all -gencode arch=compute_${device},code=sm_${device})
  endforeach()
  list(SORT devices COMPARE NATURAL)
  list(GET devices -1 newest)
  list(APPEND all -gencode arch=compute_${newest},code=compute_${newest})
  set(${options} ${all} PARENT_SCOPE)
endfunction()

# Tries it with the kernels and one device, once for each nvcc and each text of the kernels, and
# again where it did not work.
function(tonari_try_nvcc works kernels device)
  file(SHA256 ${kernels} text)
  set(tried "${TONARI_NVCC} ${text}")
  if(NOT "${TONARI_NVCC_TRIED}" STREQUAL "${tried}" OR NOT TONARI_NVCC_WORKS)
    execute_process(COMMAND ${TONARI_NVCC} -fatbin -std=c++17 -allow-unsupported-compiler
        -arch=sm_${device} -o ${CMAKE_CURRENT_BINARY_DIR}/tried.fatbin ${kernels}
        RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
    string(COMPARE EQUAL "${result}" "0" worked)
    set(TONARI_NVCC_TRIED "${tried}" CACHE INTERNAL "what was tried")
    set(TONARI_NVCC_WORKS ${worked} CACHE INTERNAL "whether that nvcc compiles the kernels")
    if(NOT worked)
      message(STATUS "${TONARI_NVCC} does not compile kernels: ${said}")
    endif()
  endif()
  set(${works} ${TONARI_NVCC_WORKS} PARENT_SCOPE)
endfunction()

function(tonari_cuda_kernels sources kernels_file)
  get_filename_component(file ${kernels_file} ABSOLUTE)
  get_filename_component(folder ${file} DIRECTORY)
  file(READ ${file} kernels)
  configure_file(${folder}/cuda_kernels.cpp.in cuda_kernels.cpp @ONLY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  set(built ${CMAKE_CURRENT_BINARY_DIR}/cuda_built_kernels.cpp)
  set(all ${CMAKE_CURRENT_BINARY_DIR}/cuda_kernels.cpp ${built})

  set(devices "")
  if(TONARI_NVCC AND NOT TONARI_CUDA_ARCHITECTURES STREQUAL "")
    tonari_devices_of_nvcc(devices)
  endif()
  if(devices)
    list(GET devices 0 first)
    tonari_try_nvcc(works ${file} ${first})
    if(NOT works)
      set(devices "")
    endif()
  endif()

  set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/TonariBytes.cmake)
  set(arguments -D "template=${folder}/cuda_built_kernels.cpp.in" -D "output=${built}")
  if(devices)
    message(STATUS "Kernels for devices of CUDA: ${devices}, and NVRTC for others")
    tonari_options_of_nvcc(options "${devices}")
    set(binary ${CMAKE_CURRENT_BINARY_DIR}/cuda_kernels.fatbin)
    add_custom_command(OUTPUT ${binary} COMMAND ${TONARI_NVCC} ${options} -o ${binary} ${file}
        DEPENDS ${file} COMMENT "Compiling kernels for devices of CUDA" VERBATIM)
    add_custom_command(OUTPUT ${built}
        COMMAND ${CMAKE_COMMAND} -D "input=${binary}" ${arguments} -P ${script}
        DEPENDS ${binary} ${script} ${folder}/cuda_built_kernels.cpp.in VERBATIM)
  else()
    message(STATUS "Kernels for devices of CUDA: by NVRTC, at run time")
    execute_process(COMMAND ${CMAKE_COMMAND} ${arguments} -P ${script}
        COMMAND_ERROR_IS_FATAL ANY)
  endif()
  set(${sources} ${all} PARENT_SCOPE)
endfunction()
