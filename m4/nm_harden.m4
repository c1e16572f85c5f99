# SPDX-License-Identifier: Apache-2.0

# NM_HARDEN_TRY(FLAGS): sets nm_harden_ok: whether the compiler links a program with these and its other flags, without
# a warning.
AC_DEFUN([NM_HARDEN_TRY], [dnl
AC_MSG_CHECKING([whether $CC hardens with $1])
nm_saved_CFLAGS=$CFLAGS
CFLAGS="$CFLAGS $1 -Werror"
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <string.h>
		#include <unistd.h>
		static char to[16];]],
		[[memset(to, 1, (size_t)getpid()); return to[0];]])],
	[nm_harden_ok=yes], [nm_harden_ok=no])
CFLAGS=$nm_saved_CFLAGS
AC_MSG_RESULT([$nm_harden_ok])])

# NM_HARDEN: unless --disable-hardening, or a sanitizer has its own ways: functions that know the sizes of what they
# write to, guards on the stack, a program that can be loaded anywhere, and no table of it that can be written to
# while it runs. NM_HARDEN_CFLAGS, and NM_HARDEN_LDFLAGS of the program.
AC_DEFUN([NM_HARDEN], [dnl
AC_ARG_ENABLE([hardening], [AS_HELP_STRING([--disable-hardening],
	[leave out _FORTIFY_SOURCE, the stack protector, PIE and full RELRO])], [], [enable_hardening=yes])
AS_IF([test "x$enable_asan$enable_ubsan$enable_tsan$enable_fuzz" != xnononono], [enable_hardening=no])
AS_IF([test "x$enable_hardening" = xyes], [
	NM_HARDEN_TRY([-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3])
	AS_IF([test $nm_harden_ok = yes], [NM_HARDEN_CFLAGS="-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3"], [
		NM_HARDEN_TRY([-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2])
		AS_IF([test $nm_harden_ok = yes], [NM_HARDEN_CFLAGS="-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2"])])
	NM_HARDEN_TRY([-fstack-protector-strong])
	AS_IF([test $nm_harden_ok = yes], [NM_HARDEN_CFLAGS="$NM_HARDEN_CFLAGS -fstack-protector-strong"])
	NM_HARDEN_TRY([-Wl,-z,relro,-z,now])
	AS_IF([test $nm_harden_ok = yes], [NM_HARDEN_LDFLAGS="-Wl,-z,relro,-z,now"])
	NM_HARDEN_TRY([-fPIE -pie])
	AS_IF([test $nm_harden_ok = yes], [NM_HARDEN_PIE_CFLAGS=-fPIE NM_HARDEN_PIE_LDFLAGS=-pie])])
AC_SUBST([NM_HARDEN_CFLAGS])
AC_SUBST([NM_HARDEN_LDFLAGS])
AC_SUBST([NM_HARDEN_PIE_CFLAGS])
AC_SUBST([NM_HARDEN_PIE_LDFLAGS])])
