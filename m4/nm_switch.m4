# SPDX-License-Identifier: Apache-2.0

# NM_SWITCH(NAME, HELP, COMPILER-FLAGS, LINKER-FLAGS): --enable-NAME adds the flags.
AC_DEFUN([NM_SWITCH], [dnl
AC_ARG_ENABLE([$1], [AS_HELP_STRING([--enable-$1], [$2])], [], [enable_$1=no])
AS_IF([test "x$enable_$1" = xyes], [NM_CFLAGS="$NM_CFLAGS $3" NM_LDFLAGS="$NM_LDFLAGS $4"])
AC_SUBST([NM_CFLAGS])
AC_SUBST([NM_LDFLAGS])])

# NM_TRY_SWITCHES: ends configure if the compiler cannot do what the switches ask for.
AC_DEFUN([NM_TRY_SWITCHES], [dnl
AC_MSG_CHECKING([whether $CC takes the flags of the switches])
nm_saved_CFLAGS=$CFLAGS
nm_saved_LDFLAGS=$LDFLAGS
CFLAGS="$CFLAGS $NM_CFLAGS"
LDFLAGS="$LDFLAGS $NM_LDFLAGS"
AC_LINK_IFELSE([AC_LANG_SOURCE([[int main(void) { return 0; }]])], [AC_MSG_RESULT([yes])],
	[AC_MSG_RESULT([no])
	AC_MSG_ERROR([$CC cannot compile and link with:$NM_CFLAGS$NM_LDFLAGS])])
CFLAGS=$nm_saved_CFLAGS
LDFLAGS=$nm_saved_LDFLAGS])
