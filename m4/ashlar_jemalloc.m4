# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors

# ASHLAR_JEMALLOC
# ---------------
# Finds jemalloc for the heap source.
#   --with-jemalloc=DIR     a private build: prefixed, position independent,
#                           merged into libashlar, where nobody sees it
#   --with-jemalloc=system  the system's, by pkg-config
#   --with-jemalloc=auto    the private build that ./bootstrap makes, if it is
#                           there, else the system's
#
# Sets JEMALLOC_CFLAGS, JEMALLOC_LIBS, JEMALLOC_ARCHIVE (private only),
# JEMALLOC_REQUIRES (system only, for ashlar.pc), JEMALLOC_KIND, the condition
# JEMALLOC_PRIVATE, ashlar_jemalloc_summary, ashlar_range_arenas and
# JEMALLOC_STATIC_TLS (yes, no or unknown).
# Defines JE_(name), ASHLAR_JE_PREFIX, ASHLAR_JE_PRIVATE and
# ASHLAR_JE_CONF_VARIABLE.
AC_DEFUN([ASHLAR_JEMALLOC], [
AC_REQUIRE([AC_CANONICAL_HOST])
AC_REQUIRE([PKG_PROG_PKG_CONFIG])
AC_CHECK_TOOL([READELF], [readelf])
AC_ARG_WITH([jemalloc],
  [AS_HELP_STRING([--with-jemalloc=auto|system|DIR],
    [where jemalloc is: DIR is a private build, such as ./bootstrap makes;
     auto takes that one if it is there, else the system's @<:@auto@:>@])],
  [], [with_jemalloc=auto])

AS_CASE([$with_jemalloc],
  [no], [AC_MSG_ERROR([jemalloc is needed; there is no --without-jemalloc])],
  [yes | auto],
    [with_jemalloc=system
     for ashlar_dir in "$ac_abs_confdir"/.deps/jemalloc-*-"$host_cpu"; do
       AS_IF([test -f "$ashlar_dir/lib/libjemalloc_pic.a"],
         [with_jemalloc=$ashlar_dir])
     done])

AS_IF([test "x$with_jemalloc" = xsystem],
  [_ASHLAR_JEMALLOC_SYSTEM], [_ASHLAR_JEMALLOC_PRIVATE])

AC_DEFINE_UNQUOTED([JE_(name)], [$ashlar_je_paste],
  [The name that jemalloc's function has in the build used here.])
AC_DEFINE_UNQUOTED([ASHLAR_JE_PREFIX], ["$ashlar_je_prefix"],
  [The prefix of jemalloc's functions.])
ashlar_je_conf=`AS_ECHO(["${ashlar_je_prefix}MALLOC_CONF"]) |
  tr '@<:@a-z@:>@' '@<:@A-Z@:>@'`
AC_DEFINE_UNQUOTED([ASHLAR_JE_CONF_VARIABLE], ["$ashlar_je_conf"],
  [The environment variable that jemalloc reads its settings from.])
_ASHLAR_JEMALLOC_ARENAS
AC_SUBST([JEMALLOC_CFLAGS])
AC_SUBST([JEMALLOC_LIBS])
AC_SUBST([JEMALLOC_ARCHIVE])
AC_SUBST([JEMALLOC_REQUIRES])
AC_SUBST([JEMALLOC_KIND])
AC_SUBST([JEMALLOC_STATIC_TLS], [$ashlar_jemalloc_static_tls])
AC_SUBST([ASHLAR_WITH_JEMALLOC], ["$with_jemalloc"])
AM_CONDITIONAL([JEMALLOC_PRIVATE], [test "x$JEMALLOC_KIND" = xprivate])
])

# _ASHLAR_JEMALLOC_PREFIX(HINT)
# -----------------------------
# Sets ashlar_je_prefix, and ashlar_je_paste for JE_(): what pkg-config says,
# else the first prefix of mallocx() that links.
AC_DEFUN([_ASHLAR_JEMALLOC_PREFIX], [
AC_MSG_CHECKING([for the prefix of jemalloc's functions])
ashlar_save_LIBS=$LIBS
LIBS="$JEMALLOC_ARCHIVE $JEMALLOC_LIBS $LIBS"
ashlar_je_prefix=unknown
for ashlar_try in "$1" none je_ ashlar_je_; do
  test -n "$ashlar_try" || continue
  test "$ashlar_try" != none || ashlar_try=
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <stddef.h>
void *${ashlar_try}mallocx(size_t, int);]],
      [[return ${ashlar_try}mallocx(1, 0) == 0;]])],
    [ashlar_je_prefix=$ashlar_try
     break])
done
LIBS=$ashlar_save_LIBS
AS_CASE([$ashlar_je_prefix],
  [unknown], [AC_MSG_RESULT([none links])],
  [''], [AC_MSG_RESULT([none])],
  [AC_MSG_RESULT([$ashlar_je_prefix])])
AS_IF([test -n "$ashlar_je_prefix"],
  [ashlar_je_paste="$ashlar_je_prefix##name"], [ashlar_je_paste=name])
])

# _ASHLAR_JEMALLOC_ARENAS
# -----------------------
# Sets ashlar_range_arenas. An arena on a range needs jemalloc's records to lie
# elsewhere, which 5.3 can do. The library asks again when it runs: the shared
# library may be another one then.
AC_DEFUN([_ASHLAR_JEMALLOC_ARENAS], [
AC_MSG_CHECKING([whether jemalloc keeps its records apart from memory (5.3)])
ashlar_save_CPPFLAGS=$CPPFLAGS
CPPFLAGS="$CPPFLAGS $JEMALLOC_CFLAGS"
AC_PREPROC_IFELSE([AC_LANG_SOURCE([[#include <jemalloc/jemalloc.h>
#if JEMALLOC_VERSION_MAJOR < 5 || \
    (JEMALLOC_VERSION_MAJOR == 5 && JEMALLOC_VERSION_MINOR < 3)
#error too old
#endif]])],
  [ashlar_range_arenas=yes], [ashlar_range_arenas="no (jemalloc before 5.3)"])
CPPFLAGS=$ashlar_save_CPPFLAGS
AC_MSG_RESULT([$ashlar_range_arenas])
])

AC_DEFUN([_ASHLAR_JEMALLOC_SYSTEM], [
JEMALLOC_KIND=system
JEMALLOC_ARCHIVE=
JEMALLOC_REQUIRES=jemalloc
PKG_CHECK_MODULES([JEMALLOC], [jemalloc >= 5.2.0], [],
  [AC_MSG_ERROR([jemalloc was not found: $JEMALLOC_PKG_ERRORS
    Install its development files (Debian: libjemalloc-dev), or run
    ./bootstrap, which makes a private build that suits ashlar better.])])
_ASHLAR_JEMALLOC_PREFIX([`$PKG_CONFIG --variable=jemalloc_prefix jemalloc`])
AS_IF([test "x$ashlar_je_prefix" = xunknown],
  [AC_MSG_ERROR([mallocx was not found in the system's jemalloc; see config.log])])
AC_MSG_CHECKING([whether jemalloc can be loaded late (no static TLS)])
ashlar_dir=`$PKG_CONFIG --variable=libdir jemalloc`
AS_IF([$READELF -d "$ashlar_dir/libjemalloc.so" >conftest.elf 2>/dev/null],
  [AS_IF([grep STATIC_TLS conftest.elf >/dev/null],
    [ashlar_jemalloc_static_tls=yes
     AC_MSG_RESULT([no])],
    [ashlar_jemalloc_static_tls=no
     AC_MSG_RESULT([yes])])],
  [ashlar_jemalloc_static_tls=unknown
   AC_MSG_RESULT([unknown])])
rm -f conftest.elf
ashlar_jemalloc_summary="the system's, `$PKG_CONFIG --modversion jemalloc`"
])

AC_DEFUN([_ASHLAR_JEMALLOC_PRIVATE], [
JEMALLOC_KIND=private
AS_CASE([$with_jemalloc], [/*], [],
  [with_jemalloc=`cd "$with_jemalloc" 2>/dev/null && pwd`])
JEMALLOC_ARCHIVE=
for ashlar_lib in libjemalloc_pic.a libjemalloc.a; do
  AS_IF([test -z "$JEMALLOC_ARCHIVE" &&
         test -f "$with_jemalloc/lib/$ashlar_lib"],
    [JEMALLOC_ARCHIVE=$with_jemalloc/lib/$ashlar_lib])
done
AS_IF([test -z "$JEMALLOC_ARCHIVE" ||
       test ! -f "$with_jemalloc/include/jemalloc/jemalloc.h"],
  [AC_MSG_ERROR([--with-jemalloc=DIR: lib/libjemalloc_pic.a or
    include/jemalloc/jemalloc.h is missing in "$with_jemalloc"])])
AC_MSG_NOTICE([jemalloc is the private build in $with_jemalloc])
JEMALLOC_CFLAGS="-I$with_jemalloc/include"
JEMALLOC_LIBS="-lpthread -ldl -lm"
JEMALLOC_REQUIRES=
_ASHLAR_JEMALLOC_PREFIX([`PKG_CONFIG_PATH="$with_jemalloc/lib/pkgconfig" \
  $PKG_CONFIG --variable=jemalloc_prefix jemalloc 2>/dev/null`])
AS_CASE([$ashlar_je_prefix],
  [unknown], [AC_MSG_ERROR([mallocx was not found in $JEMALLOC_ARCHIVE,
    neither plain nor with the prefix je_ or ashlar_je_; see config.log])],
  [''], [AC_MSG_ERROR([$JEMALLOC_ARCHIVE was built without a prefix. Hidden
    in libashlar, its free() would get memory from the C library's malloc().
    Build it with --with-jemalloc-prefix=ashlar_je_, or use it openly: add
    its folder to PKG_CONFIG_PATH and say --with-jemalloc=system.])])
AC_MSG_CHECKING([whether jemalloc replaces malloc or new])
AS_IF([$NM "$JEMALLOC_ARCHIVE" 2>/dev/null |
       grep -E ' @<:@TW@:>@ (malloc|free|calloc|realloc|_Zn[wa].*|_Zd[la].*)$' \
         >/dev/null],
  [AC_MSG_RESULT([yes])
   AC_MSG_ERROR([$JEMALLOC_ARCHIVE defines malloc or C++'s new under its plain
    name; build it with --with-jemalloc-prefix=ashlar_je_ --disable-cxx])],
  [AC_MSG_RESULT([no])])
# In one library with ours, its thread-local storage gets a fixed place, too;
# and one that is loaded late has little room for that.
AC_MSG_CHECKING([whether jemalloc can be loaded late (no static TLS)])
AS_IF([$READELF -SW "$JEMALLOC_ARCHIVE" 2>/dev/null |
       grep -E ' \.t(bss|data)' >/dev/null],
  [ashlar_jemalloc_static_tls=yes
   AC_MSG_RESULT([no])],
  [ashlar_jemalloc_static_tls=no
   AC_MSG_RESULT([yes])])
AC_DEFINE([ASHLAR_JE_PRIVATE], [1],
  [Define to 1 if jemalloc is a private build, merged into libashlar.])
ashlar_jemalloc_summary="private, $with_jemalloc"
])
