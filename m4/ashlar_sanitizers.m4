# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors

# ASHLAR_SANITIZERS
# -----------------
# --enable-sanitizers=LIST, LIST being what the compiler's -fsanitize= takes.
# Sets SANITIZER_CFLAGS and SANITIZER_LDFLAGS, SANITIZERS (the list or
# nothing), and ashlar_sanitizers_summary. Defines ASHLAR_SANITIZER_LIST.
AC_DEFUN([ASHLAR_SANITIZERS], [
AC_ARG_ENABLE([sanitizers],
  [AS_HELP_STRING([--enable-sanitizers=LIST],
    [build with the compiler's sanitizers, such as address,undefined or
     thread @<:@no@:>@])],
  [], [enable_sanitizers=no])
SANITIZERS=
SANITIZER_CFLAGS=
SANITIZER_LDFLAGS=
AS_CASE([$enable_sanitizers],
  [no], [ashlar_sanitizers_summary=no],
  [yes], [AC_MSG_ERROR([--enable-sanitizers needs a list, such as
    --enable-sanitizers=address,undefined])],
  [SANITIZERS=$enable_sanitizers
   ashlar_sanitizers_summary=$SANITIZERS
   SANITIZER_LDFLAGS="-fsanitize=$SANITIZERS"
   SANITIZER_CFLAGS="$SANITIZER_LDFLAGS -fno-omit-frame-pointer"
   AS_CASE([,$SANITIZERS,], [*,undefined,*],
     [SANITIZER_CFLAGS="$SANITIZER_CFLAGS -fno-sanitize-recover=undefined"])
   # ThreadSanitizer does not follow fences, and gcc warns of each. Ours stand
   # between atomic accesses alone, which are no races in whatever order.
   AS_CASE([,$SANITIZERS,], [*,thread,*],
     [AX_CHECK_COMPILE_FLAG([-Wtsan],
       [SANITIZER_CFLAGS="$SANITIZER_CFLAGS -Wno-tsan"], [], [-Werror])])
   AC_MSG_CHECKING([whether $CC $SANITIZER_LDFLAGS links])
   ashlar_save_CFLAGS=$CFLAGS
   CFLAGS="$CFLAGS $SANITIZER_CFLAGS"
   AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
     [AC_MSG_RESULT([yes])],
     [AC_MSG_RESULT([no])
      AC_MSG_ERROR([$CC cannot build with $SANITIZER_LDFLAGS; clang keeps its
        sanitizers in a package of its own (Debian: libclang-rt-VERSION-dev)])])
   CFLAGS=$ashlar_save_CFLAGS])
AC_SUBST([SANITIZERS])
AC_DEFINE_UNQUOTED([ASHLAR_SANITIZER_LIST], ["$SANITIZERS"],
  [The sanitizers that this build has, separated by commas.])
])
