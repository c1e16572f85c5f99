/* SPDX-License-Identifier: Apache-2.0 */
/* Names, labels and look-ups that several reports need. */
#include "report/common.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/diag.h"

char *nm_percentile_key(double pct, char *buf, size_t size)
{
	snprintf(buf, size, "p%.10g", pct);
	return buf;
}

char *nm_percentile_name(double pct, char *buf, size_t size)
{
	char *point = strchr(nm_percentile_key(pct, buf, size), '.');

	if (point)
		*point = '_';
	return buf;
}

char *nm_verb_key(const char *name, char buf[NM_VERB_KEY])
{
	char *at = buf;

	for (; *name; name++)
		if ((unsigned char)*name <= ' ' || strchr("=#%,\"\x7f", *name))
			at += snprintf(at, sizeof("%XX"), "%%%02X", (unsigned char)*name);
		else
			*at++ = *name;
	*at = '\0';
	return buf;
}

char *nm_name_within(const char *name, const char *enders, char *buf, size_t size)
{
	snprintf(buf, size, "%s", name ? name : "");
	nm_make_plain(buf);
	for (char *c = buf; *c; c++)
		if (strchr(enders, *c))
			*c = '_';
	return buf;
}

const char *nm_result_param(const struct nm_result *result, const char *name)
{
	for (size_t i = 0; i < result->params.count; i++)
		if (strcmp(result->params.items[i].name, name) == 0)
			return result->params.items[i].value;
	return NULL;
}

char *nm_format_utc(uint64_t wall_ns, char *buf, size_t size)
{
	time_t seconds = (time_t)(wall_ns / 1000000000u);
	unsigned us = (unsigned)(wall_ns % 1000000000u / 1000u);
	struct tm tm;
	char date[32] = "";

	if (gmtime_r(&seconds, &tm))
		strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buf, size, "%s.%06uZ", date, us);
	return buf;
}

const char *nm_part_name(enum nm_part part)
{
	switch (part) {
	case NM_PART_WARMUP:
		return "warmup";
	case NM_PART_COOLDOWN:
		return "cooldown";
	case NM_PART_MEASURED:
		break;
	}
	return "measured";
}

const struct nm_view *nm_runs_view(const struct nm_runs *series)
{
	static const struct nm_view usual = {.cpus = NULL};

	return series->view ? series->view : &usual;
}

const struct nm_result *nm_runs_last(const struct nm_runs *series)
{
	return series->n_runs ? series->runs[series->n_runs - 1] : NULL;
}

bool nm_result_has_time(const struct nm_result *result, enum nm_time time)
{
	for (size_t i = 0; i < result->n_intervals; i++)
		if (nm_window_time(&result->intervals[i].window, time)->count)
			return true;
	return nm_window_time(&result->totals, time)->count > 0;
}

uint64_t nm_cpu_busy_ns(const struct nm_cpu_times *cpu)
{
	return cpu->user_ns + cpu->nice_ns + cpu->system_ns + cpu->irq_ns + cpu->softirq_ns +
	       cpu->steal_ns;
}

void nm_print_plain(FILE *out, const char *text)
{
	while (text && *text) {
		size_t control = nm_control_length(text);

		if (control)
			fprintf(out, "%*s", (int)control, "");
		else
			fputc(*text, out);
		text += control ? control : 1;
	}
}

void nm_print_line(FILE *out, const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	nm_print_plain(out, text);
	fputc('\n', out);
	free(text);
}

int nm_stream_status(FILE *out)
{
	errno = 0;
	if (fflush(out) == 0 && !ferror(out))
		return 0;
	return errno ? -errno : -EIO;
}
