# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors

# ASHLAR_PYTHON
# -------------
# Can the Python package be built, and for which Python?
#   --with-python=PATH  for this one; an error if it cannot be
#   --with-python       for the one found; an error if there is none
#   --with-python=auto  the same, or not at all
# The one found is $PYTHON, if set; else the distribution's python3, before any
# other that PATH has: it is the one that distribution packages are for.
#
# Sets PYTHON, PYTHON_CPPFLAGS, ashlarpydir (where the package is installed),
# the condition HAVE_PYTHON and have_python ("yes", or why not).
AC_DEFUN([ASHLAR_PYTHON], [
AC_REQUIRE([LT_INIT])
AC_REQUIRE([ASHLAR_SANITIZERS])
AC_ARG_VAR([PYTHON], [the Python that the package is built for])
AC_ARG_WITH([python],
  [AS_HELP_STRING([--with-python=auto|yes|no|PATH],
    [build the Python package, for the python3 at PATH @<:@auto@:>@])],
  [], [with_python=auto])
AS_CASE([$with_python],
  [auto | yes | no], [],
  [PYTHON=$with_python
   with_python=yes])

AS_IF([test -z "$PYTHON" && test -x /usr/bin/python3],
  [PYTHON=/usr/bin/python3])
AC_PATH_PROG([PYTHON], [python3])
PYTHON_CPPFLAGS=
ashlarpydir=
AS_IF([test "x$with_python" = xno], [have_python="no (--without-python)"],
  [test "x$enable_shared" = xno], [have_python="no (--disable-shared)"],
  [test -n "$SANITIZERS"],
    [have_python="no (the runtime of sanitizers cannot be loaded late)"],
  [test -z "$PYTHON"], [have_python="no (python3 not found)"],
  [_ASHLAR_PYTHON_LOOK])
AS_IF([test "x$with_python" = xyes && test "x$have_python" != xyes],
  [AC_MSG_ERROR([--with-python: $have_python])])
AC_SUBST([PYTHON_CPPFLAGS])
AC_SUBST([ashlarpydir])
AC_SUBST([have_python])
AM_CONDITIONAL([HAVE_PYTHON], [test "x$have_python" = xyes])
])

# The limited API of 3.11 is what the extension module is built on. Debian looks
# for packages in dist-packages, and below /usr in one folder for all versions.
AC_DEFUN([_ASHLAR_PYTHON_LOOK], [
AC_MSG_CHECKING([whether the Python package can be built for $PYTHON])
cat >conftest.py <<'EOT'
import sys, sysconfig
if sys.version_info < (3, 11) or sys.implementation.name != "cpython":
    sys.exit("it is no CPython of 3.11 or later")
if sysconfig.get_config_var("Py_GIL_DISABLED"):
    sys.exit("it has no interpreter lock, and so no limited API")
site = "python%d.%d/site-packages" % sys.version_info@<:@:2@:>@
if sysconfig.get_default_scheme() in ("posix_local", "deb_system"):
    site = site.replace("site-", "dist-")
    if sys.argv@<:@1@:>@ == "/usr":
        site = "python3/dist-packages"
print("ashlar_py_include=%s" % sysconfig.get_path("include"))
print("ashlar_py_site=%s" % site)
EOT
AS_IF([ashlar_py=`"$PYTHON" conftest.py "$prefix" 2>conftest.err`],
  [eval "$ashlar_py"
   PYTHON_CPPFLAGS="-isystem $ashlar_py_include"
   ashlarpydir="\${prefix}/lib/$ashlar_py_site/ashlar"
   ashlar_save_CPPFLAGS=$CPPFLAGS
   CPPFLAGS="$CPPFLAGS $PYTHON_CPPFLAGS"
   AC_COMPILE_IFELSE([AC_LANG_SOURCE([[#define Py_LIMITED_API 0x030B0000
#include <Python.h>]])],
     [have_python=yes],
     [have_python="no (no usable Python.h in $ashlar_py_include)"])
   CPPFLAGS=$ashlar_save_CPPFLAGS],
  [have_python="no ($PYTHON: `tail -n 1 conftest.err | tr -d \'`)"])
rm -f conftest.py conftest.err
AC_MSG_RESULT([$have_python])
])
