/* SPDX-License-Identifier: Apache-2.0 */
/* Reads lists of percentiles, and fills latencies from histograms. */
#include "result/result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One number of digits and a point, ended by a comma or the end; strtod alone takes more. */
static int parse_one(const char *text, double *ret_pct, const char **ret_end)
{
	size_t length = strspn(text, "0123456789.");
	char *end;

	if (length == 0 || (text[length] != ',' && text[length] != '\0'))
		return -EINVAL;
	double pct = strtod(text, &end);
	if (end != text + length || pct < 0 || pct > 100)
		return -EINVAL;
	*ret_pct = pct;
	*ret_end = end;
	return 0;
}

int nm_percentiles_add(struct nm_percentiles *list, double pct)
{
	size_t at = 0;

	while (at < list->count && list->pct[at] < pct)
		at++;
	if (at < list->count && list->pct[at] == pct)
		return 0;
	if (list->count == NM_RESULT_MAX_PERCENTILES)
		return -ERANGE;
	memmove(&list->pct[at + 1], &list->pct[at], (list->count - at) * sizeof(list->pct[0]));
	list->pct[at] = pct;
	list->count++;
	return 0;
}

int nm_percentiles_parse(const char *text, struct nm_percentiles *ret_percentiles)
{
	struct nm_percentiles list = {.count = 0};

	for (;;) {
		double pct;
		int error = parse_one(text, &pct, &text);
		if (!error)
			error = nm_percentiles_add(&list, pct);
		if (error)
			return error;
		if (*text == '\0')
			break;
		text++;
	}
	*ret_percentiles = list;
	return 0;
}

void nm_percentiles_default(struct nm_percentiles *ret_percentiles)
{
	*ret_percentiles = (struct nm_percentiles){.pct = {50, 90, 95, 99, 99.9}, .count = 5};
}
