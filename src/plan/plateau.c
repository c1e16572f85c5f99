/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what a transaction waits for, and tells when a figure has settled. Pure. */
#include "plan/plateau.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORM "must be plateau(FIGURE,SHARE), as plateau(latency.p50,5%); " NM_PLATEAU_FIGURES

/* "mean" or "p99.9": NaN or the percentile; false: neither. */
static bool read_statistic(const char *text, double *ret)
{
	char *end;

	*ret = NAN;
	if (strcmp(text, "mean") == 0)
		return true;
	if (*text != 'p' || text[1 + strspn(text + 1, "0123456789.")])
		return false;
	*ret = strtod(text + 1, &end);
	return end != text + 1 && !*end && *ret <= 100;
}

static bool read_figure(const char *name, struct nm_plateau *ret)
{
	static const struct {
		const char *name;
		enum nm_plateau_figure figure;
	} known[] = {{"transactions_per_s", NM_PLATEAU_TRANSACTIONS},
		     {"bits_per_s", NM_PLATEAU_BITS},
		     {"latency.", NM_PLATEAU_LATENCY},
		     {"response.", NM_PLATEAU_RESPONSE}};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		size_t length = strlen(known[i].name);

		if (strncmp(name, known[i].name, length) != 0)
			continue;
		ret->figure = known[i].figure;
		return ret->figure < NM_PLATEAU_LATENCY
			       ? !name[length]
			       : read_statistic(name + length, &ret->percentile);
	}
	return false;
}

/* "5%", above 0 and up to 100. */
static bool read_share(const char *text, double *ret)
{
	char *end;

	if (text[strspn(text, "0123456789.")] != '%')
		return false;
	*ret = strtod(text, &end) / 100;
	return end != text && strcmp(end, "%") == 0 && *ret > 0 && *ret <= 1;
}

int nm_plateau_parse(const char *text, struct nm_plateau *ret, char *why, size_t why_size)
{
	struct nm_plateau plateau = {.percentile = NAN};
	char share[16] = "";
	int end = 0;

	if (sscanf(text, "plateau(%31[^,()],%15[^,()])%n", plateau.name, share, &end) != 2 ||
	    !end || text[end] || !read_figure(plateau.name, &plateau)) {
		(void)snprintf(why, why_size, "%s", FORM);
		return -EINVAL;
	}
	if (!read_share(share, &plateau.share)) {
		(void)snprintf(why, why_size, "\"%s\" is no share above 0, as 5%%", share);
		return -EINVAL;
	}
	*ret = plateau;
	return 0;
}

bool nm_plateau_add(const struct nm_plateau *plateau, struct nm_plateau_seen *seen, double value)
{
	double sum = 0;

	if (isnan(value)) {
		seen->count = 0;
		return false;
	}
	seen->values[seen->count++ % NM_PLATEAU_ROWS] = value;
	if (seen->count < NM_PLATEAU_ROWS)
		return false;
	for (unsigned i = 0; i < NM_PLATEAU_ROWS; i++)
		sum += seen->values[i];
	for (unsigned i = 0; i < NM_PLATEAU_ROWS; i++)
		if (fabs(seen->values[i] * NM_PLATEAU_ROWS - sum) > plateau->share * sum)
			return false;
	return true;
}
