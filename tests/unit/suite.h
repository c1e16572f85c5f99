/* SPDX-License-Identifier: Apache-2.0 */
/* What each program of unit tests ends with. */
#ifndef NM_TESTS_UNIT_SUITE_H
#define NM_TESTS_UNIT_SUITE_H

#include <check.h>
#include <stdlib.h>

/* Each assertion that holds tells check where the test is, by a system call, for what it says of a
 * crash. A test that makes many tells it of the first ones alone. */
static inline void mark_some(const char *file, int line)
{
	static unsigned marks;

	if (marks < 1000) {
		marks++;
		_mark_point(file, line);
	}
}
#define _mark_point(file, line) mark_some(file, line)

/* Runs the suite, which it takes over, as the environment asks for: the exit status of the
 * program. */
static inline int run_suite(Suite *suite)
{
	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
