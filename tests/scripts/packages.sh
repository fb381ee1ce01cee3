#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# Debian's recipe packs each file that is installed, once, and nothing that is
# not there. With ASHLAR_LONG_TESTS set, and debhelper there, it is built.

. "$top_srcdir/tests/scripts/lib.sh"

recipe=$top_srcdir/packaging/debian
place=$scratch/place

changelog_has_the_version() {
  head -n 1 "$recipe/changelog" | grep -F "ashlar ($VERSION-"
}

# One file of names of files for each package.
packages_are_those_of_control() {
  sed -n 's/^Package: //p' "$recipe/control" | sort >"$scratch/packages"
  (cd "$recipe" && ls ./*.install) | sed 's|^\./||; s/\.install$//' |
    sort >"$scratch/lists"
  same "$scratch/packages" "$scratch/lists"
}

library_package_has_the_soname() {
  soname=$($READELF -d "$shared_library" |
    sed -n 's/.*soname: \[lib\(.*\)\.so\.\(.*\)\]/lib\1\2/p')
  [ -n "$soname" ] && grep -x "Package: $soname" "$recipe/control"
}

fields_are_there() {
  awk -v RS= -v FS='\n' '
    { split("Package Architecture Depends Description", wanted, " ")
      if (NR == 1)
        split("Source Maintainer Build-Depends Standards-Version", wanted, " ")
      for (i in wanted)
        if ("\n" $0 !~ "\n" wanted[i] ": *[^ ]" && "\n" $0 !~ "\n" wanted[i] ":\n")
          print $1 " has no " wanted[i] }' "$recipe/control" >"$scratch/lacking"
  empty "$scratch/lacking"
}

# Whether CUDA's headers are here, and so what the recipe packs with its profile.
has_cuda() {
  [ -f "$top_builddir/plugins/cuda/.libs/ashlar_cuda.so" ]
}

# The lists of files of the packages that this build has files for.
lists() {
  for list in "$recipe"/*.install; do
    package=${list##*/}
    sed -n "/^Package: ${package%.install}\$/,/^\$/p" "$recipe/control" \
      >"$scratch/paragraph"
    if has_cuda || ! grep -q '^Build-Profiles:.*cuda' "$scratch/paragraph"; then
      echo "$list"
    fi
  done
}

# The files of this installation, as they would lie below /usr on Debian, but
# for what the recipe does not pack: see its rules.
installed_files() {
  make_here install DESTDIR="$place" || return
  prefix=$(sed -n 's/^prefix=//p' "$top_builddir/ashlar.pc")
  libdir=$(PKG_CONFIG_PATH=$top_builddir $PKG_CONFIG --variable=libdir ashlar)
  (cd "$place" && find . ! -type d) | sed "s|^\.||
    s|.*/python3[^/]*/[a-z]*-packages/|usr/lib/python3/dist-packages/|
    s|^$libdir/|usr/lib/triplet/|
    s|^$prefix/|usr/|" |
    grep -vE '\.la$|/doc/ashlar/COPYING$' |
    sort >"$scratch/files"
  [ -s "$scratch/files" ]
}

# Patterns as dh_install has them: a folder stands for all that is in it.
each_file_is_packed_once() {
  # shellcheck disable=SC2046 # a list of files
  cat $(lists) >"$scratch/patterns"
  while read -r file; do
    times=0
    while read -r pattern; do
      # shellcheck disable=SC2254 # a pattern is what it is
      case $file in
        $pattern | $pattern/*) times=$((times + 1)) ;;
      esac
    done <"$scratch/patterns"
    [ $times -eq 1 ] || echo "$file: $times times"
  done <"$scratch/files" >"$scratch/wrong"
  empty "$scratch/wrong"
}

each_pattern_has_a_file() {
  while read -r pattern; do
    found=no
    while read -r file; do
      # shellcheck disable=SC2254
      case $file in
        $pattern | $pattern/*) found=yes; break ;;
      esac
    done <"$scratch/files"
    [ $found = yes ] || echo "$pattern"
  done <"$scratch/patterns" >"$scratch/idle"
  empty "$scratch/idle"
}

# The headers of CUDA need not be a package's: so -d.
builds() {
  make_here distdir || return
  set -- -us -uc -b
  if has_cuda; then
    set -- "$@" -d -Ppkg.ashlar.cuda
    headers=$(sed -n 's/^#define ASHLAR_CUDA_INCLUDE_DIR "\(.*\)"/\1/p' \
      "$top_builddir/config.h")
    ASHLAR_CUDA=${headers%/include}
    export ASHLAR_CUDA
  fi
  mv "$top_builddir/ashlar-$VERSION" "$scratch/source" &&
    cp -R "$recipe" "$scratch/source/debian" &&
    (cd "$scratch/source" && DEB_BUILD_OPTIONS=nocheck \
      ASHLAR_JEMALLOC=$(echo "$top_srcdir"/.deps/jemalloc-*) \
      dpkg-buildpackage "$@")
}

# What it says of an archive's bugs and keys is for who uploads to one.
lintian_finds_nothing() {
  lintian --fail-on error,warning --suppress-tags \
    initial-upload-closes-no-bugs "$scratch"/*.changes
}

installed_program_runs() {
  for package in "$scratch"/*_"$VERSION"-*.deb; do
    dpkg-deb -x "$package" "$scratch/root" || return
  done
  LD_LIBRARY_PATH=$(echo "$scratch"/root/usr/lib/*-linux-gnu*)
  export LD_LIBRARY_PATH
  "$scratch/root/usr/bin/ashlar" types | grep '^CUtensorMap' || return
  has_cuda || return 0
  driver=$(echo "$LD_LIBRARY_PATH"/ashlar/cudasim/libcuda.so.1)
  "$scratch/root/usr/bin/ashlar" prepare --driver="$driver" \
    "$scratch"/root/usr/share/ashlar/manifests/resnet50.jsonl
}

expect changelog_has_the_version changelog_has_the_version
expect packages_are_those_of_control packages_are_those_of_control
expect each_package_has_its_fields fields_are_there
if [ -f "$shared_library" ]; then
  expect library_package_has_the_soname library_package_has_the_soname
fi
if [ "${HAVE_PYTHON-}" = yes ] && [ -f "$static_library" ] &&
  [ -f "$shared_library" ] && [ -x "$top_builddir/tools/ashlar" ]; then
  expect make_install_works installed_files
  expect each_installed_file_is_packed_once each_file_is_packed_once
  expect each_pattern_has_a_file each_pattern_has_a_file
else
  skip each_installed_file_is_packed_once "not all of it is built here"
fi
if [ -z "${ASHLAR_LONG_TESTS-}" ]; then
  skip packages_are_built "ASHLAR_LONG_TESTS is not set"
elif ! have dpkg-buildpackage || ! have dh || ! have dh_python3; then
  skip packages_are_built "no debhelper"
else
  expect packages_are_built builds
  expect program_of_the_packages_runs installed_program_runs
  if have lintian; then
    expect lintian_finds_nothing_in_the_packages lintian_finds_nothing
  else
    skip lintian_finds_nothing_in_the_packages "no lintian"
  fi
fi
finish
