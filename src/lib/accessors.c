/* SPDX-License-Identifier: Apache-2.0 */
/* Gives the result of the last run: whether it is complete, its document, its figures. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/netmodel_priv.h"
#include "report/report.h"
#include "report/requirement.h"

int netmodel_complete(const struct netmodel *nm)
{
	return nm->result ? nm->result->complete : -1;
}

const char *netmodel_incomplete_why(const struct netmodel *nm)
{
	if (!nm->result || nm->result->complete)
		return NULL;
	return nm->result->verdict.incomplete_why ? nm->result->verdict.incomplete_why
						  : "interrupted";
}

static char *write_json(const struct netmodel *nm, const struct nm_report *report)
{
	struct nm_result *runs[] = {nm->result};
	struct nm_verdicts verdicts = {.items = NULL};
	struct nm_view view = {.verdicts = nm->judged.count ? &verdicts : NULL};
	struct nm_runs series = {.runs = runs, .n_runs = 1, .view = &view};
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);
	int error = stream ? 0 : -ENOMEM;

	if (!error && view.verdicts)
		error = nm_requirements_judge(&nm->judged, &series, &verdicts, NULL);
	if (!error)
		error = report->write(&series, stream);
	nm_verdicts_fini(&verdicts);
	if (stream && fclose(stream) != 0)
		error = -ENOMEM;
	if (!error)
		return text;
	free(text);
	return NULL;
}

char *netmodel_result_json(const struct netmodel *nm)
{
	const struct nm_report *report = nm_report_find("json");

	if (!nm->result || !report)
		return NULL;
	locale_t before = uselocale(nm->locale);
	char *text = write_json(nm, report);
	(void)uselocale(before);
	return text;
}

/* The measured window; NULL: nothing was measured. */
static const struct nm_window *measured(const struct netmodel *nm)
{
	return nm->result && nm->result->totals.seconds > 0 ? &nm->result->totals : NULL;
}

static const struct nm_latency *latency(const struct netmodel *nm)
{
	return nm->result && nm->result->totals.latency.count ? &nm->result->totals.latency : NULL;
}

double netmodel_seconds(const struct netmodel *nm)
{
	return measured(nm) ? measured(nm)->seconds : NAN;
}

double netmodel_transactions_per_s(const struct netmodel *nm)
{
	return measured(nm) ? nm_window_transactions_per_s(measured(nm)) : NAN;
}

double netmodel_bits_per_s(const struct netmodel *nm)
{
	return measured(nm) ? nm_window_bits_per_s(measured(nm)) : NAN;
}

double netmodel_latency_min_s(const struct netmodel *nm)
{
	return latency(nm) ? latency(nm)->min_s : NAN;
}

double netmodel_latency_mean_s(const struct netmodel *nm)
{
	return latency(nm) ? latency(nm)->mean_s : NAN;
}

double netmodel_latency_max_s(const struct netmodel *nm)
{
	return latency(nm) ? latency(nm)->max_s : NAN;
}

double netmodel_latency_percentile_s(const struct netmodel *nm, double percentile)
{
	const struct nm_latency *of = latency(nm);

	for (size_t i = 0; of && i < nm->result->percentiles.count; i++)
		if (fabs(nm->result->percentiles.pct[i] - percentile) < 1e-9)
			return of->pct_s[i];
	return NAN;
}

uint64_t netmodel_transactions(const struct netmodel *nm)
{
	return nm->result ? nm->result->totals.counts.iterations : 0;
}

uint64_t netmodel_bytes_sent(const struct netmodel *nm)
{
	return nm->result ? nm->result->totals.counts.bytes_sent : 0;
}

uint64_t netmodel_bytes_received(const struct netmodel *nm)
{
	return nm->result ? nm->result->totals.counts.bytes_received : 0;
}

uint64_t netmodel_errors(const struct netmodel *nm)
{
	return nm->result ? nm->result->totals.counts.errors : 0;
}
