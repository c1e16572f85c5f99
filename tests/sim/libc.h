/* SPDX-License-Identifier: Apache-2.0 */
/* The C library behind the functions that are defined here in its place. */
#ifndef NM_TESTS_SIM_LIBC_H
#define NM_TESTS_SIM_LIBC_H

/* The function of that name. */
#define SIM_REAL(name) ((__typeof__(&name))sim_real(#name))

void (*sim_real(const char *name))(void);

#endif
