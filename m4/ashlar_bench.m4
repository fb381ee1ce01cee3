# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors

# ASHLAR_BENCH
# ------------
# Finds the allocators that `make bench` measures ashlar against. Each is
# optional, and nothing but the benchmark uses them.
#   --disable-bench-peers  look for none
#
# Sets BENCH_PEER_LIBS (and BENCH_PEER_CFLAGS for DPDK) and the condition
# HAVE_BENCH_PEER for each, BENCH_ABSENT ("peer: why; peer: why"), PYTHON3, and
# ashlar_bench_summary.
AC_DEFUN([ASHLAR_BENCH], [
AC_REQUIRE([PKG_PROG_PKG_CONFIG])
AC_CHECK_PROG([PYTHON3], [python3], [python3])
AC_ARG_ENABLE([bench-peers],
  [AS_HELP_STRING([--disable-bench-peers],
    [look for no allocator to measure against in make bench])],
  [], [enable_bench_peers=yes])
BENCH_ABSENT=
ashlar_bench_found=

_ASHLAR_BENCH_PEER([jemalloc], [JEMALLOC], [-ljemalloc],
  [[#include <jemalloc/jemalloc.h>]], [[sdallocx(mallocx(1, 0), 1, 0)]])
_ASHLAR_BENCH_PEER([mimalloc], [MIMALLOC], [-lmimalloc],
  [[#include <mimalloc.h>]], [[mi_free(mi_malloc_small(1))]])
_ASHLAR_BENCH_PEER([tcmalloc], [TCMALLOC],
  [-ltcmalloc_minimal -l:libtcmalloc_minimal.so.4],
  [[#include <gperftools/tcmalloc.h>]], [[tc_free(tc_malloc(1))]])
_ASHLAR_BENCH_PEER([tbb], [TBB], [-ltbbmalloc],
  [[#include <oneapi/tbb/scalable_allocator.h>]],
  [[scalable_free(scalable_malloc(1))]])

AC_LANG_PUSH([C++])
_ASHLAR_BENCH_PEER([boost], [BOOST], [-lc],
  [[#include <boost/pool/pool.hpp>]], [[boost::pool<> pool(1)]])
AC_LANG_POP([C++])

ashlar_have_dpdk=no
AS_IF([test "x$enable_bench_peers" = xno], [ashlar_dpdk_why=--disable-bench-peers],
  [PKG_CHECK_MODULES([BENCH_DPDK], [libdpdk >= 21.11], [ashlar_have_dpdk=yes],
    [ashlar_dpdk_why="pkg-config finds no libdpdk"])])
AS_IF([test "x$ashlar_have_dpdk" = xyes],
  [ashlar_bench_found="$ashlar_bench_found dpdk"],
  [BENCH_ABSENT="$BENCH_ABSENT dpdk: $ashlar_dpdk_why;"])
AM_CONDITIONAL([HAVE_BENCH_DPDK], [test "x$ashlar_have_dpdk" = xyes])

AM_CONDITIONAL([BENCH_SHARED], [test "x$enable_shared" = xyes])
AM_CONDITIONAL([BENCH_STATIC], [test "x$enable_static" = xyes])
AC_SUBST([BENCH_ABSENT])
ashlar_bench_summary="glibc$ashlar_bench_found"
AS_IF([test -z "$PYTHON3"], [ashlar_bench_summary="no (python3 not found)"])
])

# _ASHLAR_BENCH_PEER(NAME, VARIABLE, LIBRARIES, PROLOGUE, BODY)
# ------------------------------------------------------------
# Takes the first library that the program links with.
AC_DEFUN([_ASHLAR_BENCH_PEER], [
ashlar_bench_libs=
AS_IF([test "x$enable_bench_peers" = xno], [
  _ASHLAR_BENCH_ABSENT([$1], [--disable-bench-peers])
], [
  AC_MSG_CHECKING([for $1, to measure against])
  ashlar_save_LIBS=$LIBS
  for ashlar_lib in $3; do
    LIBS="$ashlar_lib $ashlar_save_LIBS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([$4], [$5])],
      [ashlar_bench_libs=$ashlar_lib
       break])
  done
  LIBS=$ashlar_save_LIBS
  AS_IF([test -n "$ashlar_bench_libs"],
    [AC_MSG_RESULT([$ashlar_bench_libs])
     ashlar_bench_found="$ashlar_bench_found $1"],
    [AC_MSG_RESULT([no])
     _ASHLAR_BENCH_ABSENT([$1], [its header or library was not found])])
])
AC_SUBST([BENCH_$2_LIBS], [$ashlar_bench_libs])
AM_CONDITIONAL([HAVE_BENCH_$2], [test -n "$ashlar_bench_libs"])
])

# _ASHLAR_BENCH_ABSENT(NAME, WHY)
AC_DEFUN([_ASHLAR_BENCH_ABSENT], [BENCH_ABSENT="$BENCH_ABSENT $1: $2;"])
