# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors

# ASHLAR_MERGE_OBJECTS
# --------------------
# Can the library's objects be merged into one whose internal names are local?
# Not with link-time optimisation (those objects hold no code yet), and not to
# be risked with the sanitizers' and gcov's linked sections.
# Sets the condition MERGE_OBJECTS and ashlar_merge_note.
AC_DEFUN([ASHLAR_MERGE_OBJECTS], [
AC_REQUIRE([LT_INIT])
AC_REQUIRE([ASHLAR_SANITIZERS])
AC_CHECK_TOOL([OBJCOPY], [objcopy])
AC_MSG_CHECKING([whether objects can be merged])
ashlar_merge=no
AS_IF([test -n "$OBJCOPY" && test -z "$SANITIZERS" &&
       test "x$enable_coverage" != xyes],
  [AC_LANG_CONFTEST([AC_LANG_SOURCE([[
     int inner(void); int inner(void) { return 0; }
     int outer(void); int outer(void) { return inner(); }]])])
   AS_IF([(eval "$ac_compile") >&AS_MESSAGE_LOG_FD 2>&1 &&
          $LD -r -o conftest-merged.$ac_objext conftest.$ac_objext \
            >&AS_MESSAGE_LOG_FD 2>&1 &&
          $OBJCOPY -G outer conftest-merged.$ac_objext \
            >&AS_MESSAGE_LOG_FD 2>&1],
     [ashlar_save_LIBS=$LIBS
      LIBS="conftest-merged.$ac_objext $LIBS"
      AC_LINK_IFELSE([AC_LANG_PROGRAM([[int outer(void);
          int inner(void); int inner(void) { return 1; }]],
          [[return outer() + inner();]])],
        [ashlar_merge=yes])
      LIBS=$ashlar_save_LIBS])
   rm -f conftest-merged.$ac_objext])
AC_MSG_RESULT([$ashlar_merge])
AS_IF([test "x$ashlar_merge" = xyes], [ashlar_merge_note=],
  [ashlar_merge_note=" (its internal names are visible)"])
AM_CONDITIONAL([MERGE_OBJECTS], [test "x$ashlar_merge" = xyes])
])
