/* SPDX-License-Identifier: Apache-2.0 */
/* The fixture of tests that look for words in what a report writes of the sample. */
#include "rendered.h"

#include <stdlib.h>

struct nm_result *run;
char *text;

void rendered_set_up(void)
{
	run = sample_result();
	text = NULL;
}

void rendered_tear_down(void)
{
	nm_result_free(run);
	free(text);
}

void render(const char *format)
{
	struct nm_runs series = sample_series(&run);

	free(text);
	text = sample_write(format, &series);
}

size_t lines_of(const char *part)
{
	size_t count = 0;

	for (; *part; part++)
		count += *part == '\n';
	return count;
}
