# SPDX-License-Identifier: BSD-3-Clause
# Puts the bytes of a file into a source: cmake -D input= -D template= -D output= -P this. Without
# `input` there are none.
set(bytes "")
if(input)
  file(READ ${input} bytes HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
endif()
configure_file(${template} ${output} @ONLY)
