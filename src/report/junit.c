/* SPDX-License-Identifier: Apache-2.0 */
/* JUnit's XML, which CI systems show as test results: a test case for each run, and one for each
 * requirement. */
#include "report/report.h"

#include <errno.h>
#include <string.h>

#include "report/common.h"
#include "report/requirement.h"

/* The bytes of the UTF-8 character that the text begins with, as XML may have it; 0: they are no
 * such character. */
static size_t character(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;
	size_t length = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;

	if (c[0] > 0xf4 || (length == 1 && c[0] < 0x20 && !strchr("\t\n\r", c[0])))
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	/* Forms that are too long, surrogates, the two noncharacters, and what lies beyond. */
	if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) ||
	    (c[0] == 0xef && c[1] == 0xbf && c[2] > 0xbd) || (c[0] == 0xf0 && c[1] < 0x90) ||
	    (c[0] == 0xf4 && c[1] > 0x8f))
		return 0;
	return length;
}

/* Text of anybody, as the value of an attribute or between elements. */
static void print_text(FILE *out, const char *text)
{
	while (text && *text) {
		size_t length = character(text);

		if (length == 0)
			fputc('?', out);
		else if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if (*text == '"')
			fputs("&quot;", out);
		else if (strchr("\t\n\r", *text))
			fputc(' ', out);
		else
			fwrite(text, 1, length, out);
		text += length ? length : 1;
	}
}

static void print_attribute(FILE *out, const char *name, const char *value)
{
	fprintf(out, " %s=\"", name);
	print_text(out, value ? value : "");
	fputc('"', out);
}

static void begin_case(FILE *out, const struct nm_result *result, const char *name)
{
	fputs("    <testcase", out);
	print_attribute(out, "classname", result->profile.name ? result->profile.name : "netmodel");
	print_attribute(out, "name", name);
}

static void print_problem(FILE *out, const char *element, const char *type, const char *message)
{
	fprintf(out, ">\n      <%s", element);
	print_attribute(out, "type", type);
	print_attribute(out, "message", message);
	fputs("/>\n    </testcase>\n", out);
}

static void print_runs(FILE *out, const struct nm_runs *series)
{
	for (size_t i = 0; i < series->n_runs; i++) {
		const struct nm_result *result = series->runs[i];
		const char *why = result->verdict.incomplete_why;
		char name[32] = "run";

		if (series->n_runs > 1)
			snprintf(name, sizeof(name), "run %zu", i + 1);
		begin_case(out, result, name);
		fprintf(out, " time=\"%.6f\"", result->elapsed_s);
		if (result->complete)
			fputs("/>\n", out);
		else
			print_problem(out, "error", "incomplete",
				      why ? why : "the run is incomplete");
	}
}

static void print_requirements(FILE *out, const struct nm_runs *series,
			       const struct nm_verdicts *verdicts)
{
	char name[512];

	for (size_t i = 0; i < verdicts->count; i++) {
		const struct nm_verdict *verdict = &verdicts->items[i];

		snprintf(name, sizeof(name), "%s%s", verdict->negated ? "not " : "", verdict->text);
		begin_case(out, nm_runs_last(series), name);
		fputs(" time=\"0\"", out);
		if (verdict->met)
			fputs("/>\n", out);
		else
			print_problem(out, "failure",
				      verdict->measured ? "requirement" : "not measured",
				      verdict->reason);
	}
}

static void print_properties(FILE *out, const struct nm_result *result)
{
	fputs("    <properties>\n", out);
	for (size_t i = 0; i < result->params.count; i++) {
		fputs("      <property", out);
		print_attribute(out, "name", result->params.items[i].name);
		print_attribute(out, "value", result->params.items[i].value);
		fputs("/>\n", out);
	}
	fputs("    </properties>\n", out);
}

static void print_warnings(FILE *out, const struct nm_runs *series)
{
	bool any = false;

	for (size_t i = 0; i < series->n_runs; i++) {
		const struct nm_result_warnings *warnings = &series->runs[i]->warnings;

		for (size_t k = 0; k < warnings->count; k++) {
			fputs(any ? "\nwarning: " : "    <system-err>warning: ", out);
			print_text(out, warnings->items[k]);
			any = true;
		}
	}
	if (any)
		fputs("</system-err>\n", out);
}

static double seconds_of(const struct nm_runs *series)
{
	double seconds = 0;

	for (size_t i = 0; i < series->n_runs; i++)
		seconds += series->runs[i]->elapsed_s;
	return seconds;
}

static size_t count_errors(const struct nm_runs *series)
{
	size_t errors = 0;

	for (size_t i = 0; i < series->n_runs; i++)
		errors += !series->runs[i]->complete;
	return errors;
}

static int write_junit(const struct nm_runs *series, FILE *out)
{
	static const struct nm_verdicts none = {.count = 0};
	const struct nm_verdicts *verdicts = nm_runs_verdicts(series);
	const struct nm_result *last = nm_runs_last(series);
	char start[48], counts[160];

	if (!last)
		return -EINVAL;
	if (!verdicts)
		verdicts = &none;
	snprintf(counts, sizeof(counts),
		 " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" time=\"%.6f\"",
		 series->n_runs + verdicts->count, verdicts->count - verdicts->n_met,
		 count_errors(series), seconds_of(series));
	/* Seconds and no zone: that is what the schemas of JUnit's readers take. */
	nm_format_utc(series->runs[0]->wall.start_ns, start, sizeof(start));
	fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites%s>\n  <testsuite",
		counts);
	print_attribute(out, "name", last->profile.name ? last->profile.name : "netmodel");
	fprintf(out, "%s skipped=\"0\" timestamp=\"%.19s\" hostname=\"localhost\">\n", counts,
		start);
	print_properties(out, last);
	print_runs(out, series);
	print_requirements(out, series, verdicts);
	print_warnings(out, series);
	fputs("  </testsuite>\n</testsuites>\n", out);
	return nm_stream_status(out);
}

const struct nm_report nm_report_junit = {
	.name = "junit",
	.help = "test results for CI",
	.write = write_junit,
};
