# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors

# ASHLAR_CUDA
# -----------
# Finds the CUDA toolkit's headers: cuda.h with CUtensorMap (12.0 or later).
# The library never includes them; tests, tools and plug-ins may.
#   --with-cuda=auto  use them if they are there
#   --with-cuda=yes   fail if they are not
#   --with-cuda=DIR   look in DIR/include, and fail if they are not there
#   --with-cuda=no    do not look
#
# Sets CUDA_CPPFLAGS, the conditions HAVE_CUDA_H and HAVE_CUDA_PLUGIN (which is
# built with cudaTypedefs.h, too, and as a shared object), and
# ashlar_cuda_summary, ashlar_cuda_plugin_summary.
# Defines HAVE_CUDA_H and ASHLAR_CUDA_INCLUDE_DIR.
AC_DEFUN([ASHLAR_CUDA], [
AC_ARG_WITH([cuda],
  [AS_HELP_STRING([--with-cuda=auto|yes|no|DIR],
    [CUDA toolkit, for its headers @<:@auto@:>@])],
  [], [with_cuda=auto])
AS_CASE([$with_cuda],
  [no], [ashlar_cuda_dirs=],
  [auto | yes],
    [ashlar_cuda_dirs="$CUDA_HOME $CUDA_PATH /usr/local/cuda /opt/cuda /usr"],
  [ashlar_cuda_dirs=$with_cuda])
CUDA_CPPFLAGS=
ashlar_cuda_dir=
AS_IF([test "x$with_cuda" = xno], [ashlar_cuda_summary="no (--without-cuda)"],
  [ashlar_cuda_summary="no (cuda.h not found)"])
ashlar_save_CPPFLAGS=$CPPFLAGS
for ashlar_dir in $ashlar_cuda_dirs; do
  AS_IF([test -f "$ashlar_dir/include/cuda.h"], [
    AC_MSG_CHECKING([for CUtensorMap in $ashlar_dir/include/cuda.h])
    CPPFLAGS="$ashlar_save_CPPFLAGS -I$ashlar_dir/include"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <cuda.h>]],
        [[CUtensorMap map; return sizeof map != 128;]])],
      [AC_MSG_RESULT([yes])
       ashlar_cuda_dir=$ashlar_dir
       break],
      [AC_MSG_RESULT([no])
       ashlar_cuda_summary="no ($ashlar_dir/include/cuda.h is older than 12.0)"])
  ])
done
ashlar_cuda_plugin_summary=$ashlar_cuda_summary
ashlar_have_typedefs=no
AS_IF([test -n "$ashlar_cuda_dir"], [
  AC_MSG_CHECKING([for $ashlar_cuda_dir/include/cudaTypedefs.h])
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <cuda.h>
      #include <cudaTypedefs.h>]], [[PFN_cuCtxGetId_v12000 get_id = 0;
      return get_id != 0;]])],
    [ashlar_have_typedefs=yes
     ashlar_cuda_plugin_summary=yes],
    [ashlar_cuda_plugin_summary="no (cudaTypedefs.h not found)"])
  AC_MSG_RESULT([$ashlar_have_typedefs])
])
CPPFLAGS=$ashlar_save_CPPFLAGS
AS_IF([test -n "$ashlar_cuda_dir"], [
  AS_IF([test "x$ashlar_cuda_dir" != x/usr],
    [CUDA_CPPFLAGS="-isystem $ashlar_cuda_dir/include"])
  ashlar_cuda_version=`sed -n \
    's/^#define CUDA_VERSION *\(@<:@0-9@:>@*\)\(@<:@0-9@:>@\)0$/\1.\2/p' \
    "$ashlar_cuda_dir/include/cuda.h"`
  ashlar_cuda_version=`AS_ECHO(["$ashlar_cuda_version"]) | sed 's/0\././'`
  ashlar_cuda_summary="$ashlar_cuda_version, $ashlar_cuda_dir/include"
  AC_DEFINE([HAVE_CUDA_H], [1],
    [Define to 1 if cuda.h declares CUtensorMap.])
  AC_DEFINE_UNQUOTED([ASHLAR_CUDA_INCLUDE_DIR], ["$ashlar_cuda_dir/include"],
    [The folder of cuda.h, if there is one.])
], [AS_CASE([$with_cuda], [auto | no], [],
      [AC_MSG_ERROR([--with-cuda: $ashlar_cuda_summary in: $ashlar_cuda_dirs])])])
AC_SUBST([CUDA_CPPFLAGS])
AM_CONDITIONAL([HAVE_CUDA_H], [test -n "$ashlar_cuda_dir"])
AS_IF([test "x$enable_shared" = xno && test "x$ashlar_have_typedefs" = xyes],
  [ashlar_cuda_plugin_summary="no (--disable-shared)"])
AM_CONDITIONAL([HAVE_CUDA_PLUGIN],
  [test "x$ashlar_have_typedefs" = xyes && test "x$enable_shared" = xyes])
])
