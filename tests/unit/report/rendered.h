/* SPDX-License-Identifier: Apache-2.0 */
/* The fixture of tests that look for words in what a report writes of the sample. */
#ifndef NM_TEST_RENDERED_H
#define NM_TEST_RENDERED_H

#include <check.h>
#include <string.h>

#include "sample.h"

/* The sample of the test that runs, and what has been written of it last; NULL: nothing yet. */
extern struct nm_result *run;
extern char *text;

/* Of each test: a sample of its own. */
void rendered_set_up(void);
void rendered_tear_down(void);
/* Writes `run` into `text` in a format (text, kv, ...). */
void render(const char *format);
/* How many lines `part` ends. */
size_t lines_of(const char *part);

#define has(part)     ck_assert_msg(strstr(text, (part)) != NULL, "no \"%s\" in:\n%s", (part), text)
#define has_not(part) ck_assert_msg(strstr(text, (part)) == NULL, "\"%s\" in:\n%s", (part), text)

#endif
