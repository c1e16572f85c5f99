/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a report by its name, lists all of them, and makes the line that is shown while a run goes
 * on. */
#include "report/report.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/units.h"
#include "report/common.h"

const struct nm_report *nm_report_find(const char *name)
{
	for (const struct nm_report *const *r = nm_reports; *r; r++)
		if (strcmp((*r)->name, name) == 0)
			return *r;
	return NULL;
}

/* Appends a field where it fits whole; false: the line is full. */
__attribute__((format(printf, 3, 4))) static bool add_field(char *buf, size_t size, const char *fmt,
							    ...)
{
	size_t used = strlen(buf);
	va_list args;

	va_start(args, fmt);
	int length = vsnprintf(buf + used, size - used, fmt, args);
	va_end(args);
	if (length >= 0 && (size_t)length < size - used)
		return true;
	buf[used] = '\0';
	return false;
}

static const char *const parts[] = {"  warm-up", "", "  cool-down"}; /* by enum nm_part */

char *nm_report_choices(char *buf, size_t size)
{
	buf[0] = '\0';
	for (const struct nm_report *const *r = nm_reports; *r; r++) {
		const char *before = r == nm_reports ? "" : r[1] ? ", " : " or ";
		const char *help = (*r)->help;

		if (!add_field(buf, size, "%s%s%s%s%s", before, (*r)->name, help ? " (" : "",
			       help ? help : "", help ? ")" : ""))
			break;
	}
	return buf;
}

void nm_report_live_line(const struct nm_result_interval *row, char *buf, size_t size)
{
	const struct nm_window *window = &row->window;
	double seconds = window->seconds > 0 ? window->seconds : 1;
	char text[32];

	if (size == 0)
		return;
	buf[0] = '\0';
	if (!add_field(buf, size, "%6.1f s%s", row->to_s, parts[row->part]))
		return;
	nm_format_count((double)window->counts.iterations / seconds, text, sizeof(text));
	if (!add_field(buf, size, "  %s trans/s", text))
		return;
	nm_format_bitrate((double)window->counts.bytes_sent * 8 / seconds, text, sizeof(text));
	if (!add_field(buf, size, "  out %s", text))
		return;
	nm_format_bitrate((double)window->counts.bytes_received * 8 / seconds, text, sizeof(text));
	if (!add_field(buf, size, "  in %s", text) || window->latency.count == 0)
		return;
	nm_format_duration(window->latency.mean_s, text, sizeof(text));
	if (!add_field(buf, size, "  mean %s", text))
		return;
	nm_format_duration(window->latency.max_s, text, sizeof(text));
	(void)add_field(buf, size, "  max %s", text);
}

/* "window 3/60"; an interval that was missed makes one of two: "window 3-4/60". */
static void add_number(const struct nm_result *so_far, const struct nm_result_interval *row,
		       char *buf, size_t size)
{
	double interval_s = so_far->grid.interval_s;
	unsigned long long count = so_far->grid.windows;
	unsigned long long first = (unsigned long long)llround(row->from_s / interval_s) + 1;
	unsigned long long last = (unsigned long long)llround(row->to_s / interval_s);
	int width = snprintf(NULL, 0, "%llu", count);

	/* The last one reaches to the end of the last pass, which may be long after it. */
	last = last > count ? count : last;
	if (first > count)
		(void)add_field(buf, size, "after window %llu", count);
	else if (last > first)
		(void)add_field(buf, size, "window %llu-%llu/%llu", first, last, count);
	else
		(void)add_field(buf, size, "window %*llu/%llu", width, first, count);
}

/* The name of a transaction that is measured; NULL: none of that number is. */
static const char *measured_name(const struct nm_result *result, size_t phase)
{
	for (size_t g = 0; g < result->n_groups; g++) {
		const struct nm_result_group *group = &result->groups[g];

		if (phase >= group->n_phases || !group->phases[phase].measured)
			continue;
		const char *name = group->phases[phase].name;

		return name && *name ? name : "transaction";
	}
	return NULL;
}

/* Where several transactions are measured: which one it is, as each counts its windows from 1. */
static void add_transaction(const struct nm_result *so_far, uint32_t phase, char *buf, size_t size)
{
	size_t n_phases = 0, n_measured = 0;

	for (size_t g = 0; g < so_far->n_groups; g++)
		if (so_far->groups[g].n_phases > n_phases)
			n_phases = so_far->groups[g].n_phases;
	for (size_t k = 0; k < n_phases; k++)
		n_measured += measured_name(so_far, k) != NULL;
	const char *name = measured_name(so_far, phase);

	if (n_measured > 1 && name)
		(void)add_field(buf, size, "  %s", name);
}

/* A share in per cent, rounded down: 100 is all. */
static void add_share(const char *name, uint64_t part, uint64_t whole, char *buf, size_t size)
{
	if (whole)
		(void)add_field(buf, size, "  %s %.4g %%", name,
				(double)(uint64_t)((double)part * 1e4 / (double)whole) / 1e2);
}

static void add_percentiles(const char *name, const struct nm_latency *latency,
			    const struct nm_percentiles *percentiles, char *buf, size_t size)
{
	char key[32], text[32];

	for (size_t i = 0; latency->count && i < percentiles->count; i++)
		if (!add_field(buf, size, "  %s%s%s %7s", i ? "" : name, i ? "" : " ",
			       nm_percentile_key(percentiles->pct[i], key, sizeof(key)),
			       nm_format_duration(latency->pct_s[i], text, sizeof(text))))
			return;
}

void nm_report_window_line(const struct nm_result *so_far, const struct nm_result_interval *row,
			   char *buf, size_t size)
{
	const struct nm_window *window = &row->window;
	const struct nm_counts *counts = &window->counts;
	char text[32];

	buf[0] = '\0';
	/* A flowop that may fail is passed over, and its pass counts all the same. */
	const uint64_t failed = counts->errors + counts->refused;

	add_number(so_far, row, buf, size);
	add_transaction(so_far, row->phase, buf, size);
	(void)add_field(buf, size, "%s", parts[row->part]);
	nm_format_count(nm_window_transactions_per_s(window), text, sizeof(text));
	(void)add_field(buf, size, "  %6s trans/s", text);
	add_share("success", counts->iterations > failed ? counts->iterations - failed : 0,
		  counts->iterations + counts->unanswered, buf, size);
	add_share("hits", counts->hits, counts->hits + counts->misses, buf, size);
	add_percentiles(nm_time_labels[NM_TIME_LATENCY], &window->latency, &so_far->percentiles,
			buf, size);
	add_percentiles(nm_time_labels[NM_TIME_RESPONSE], &window->response, &so_far->percentiles,
			buf, size);
}
