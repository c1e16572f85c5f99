/* SPDX-License-Identifier: Apache-2.0 */
/* Files of recorded times and requests, which only the master reads: their lines, and arrivals by
 * their times. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/units.h"
#include "plan/diag.h"
#include "plan/ir.h"
#include "plan/lines.h"
#include "plan/recorder.h"
#include "plan/replays.h"

#define TIMES_MAX     100000000u
#define SEPARATORS    " \t\r,;"
#define MOST_SHOWN    24 /* bytes of what is wrong */
#define SECOND_NS     UINT64_C(1000000000)
#define SECOND_DIGITS 9
#define SECONDS_MAX   UINT64_C(9999999999)

/* What has been read so far. */
struct times {
	struct nm_trace *trace; /* owned */
	size_t room;
	uint64_t first_ns;
	bool fine;		      /* a time has a fraction of a second */
	struct nm_recorder *recorder; /* of the requests; NULL: there are times alone */
	bool is_timed;		      /* times count */
	bool is_begun;		      /* a line that is no comment has come */
};

static bool grow(struct times *into)
{
	size_t room = into->room ? 2 * into->room : 1024;
	struct nm_trace *grown = realloc(into->trace, sizeof *grown + room * sizeof *grown->at_ns);

	if (!grown)
		return false;
	if (!into->trace)
		grown->count = 0;
	into->trace = grown;
	into->room = room;
	return true;
}

/* Whether the line names columns. */
static bool is_header(const char *line)
{
	char first = line[strspn(line, SEPARATORS "\"")];

	return (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
}

static bool is_empty(const char *line)
{
	char first = line[strspn(line, SEPARATORS)];

	return !first || first == '#';
}

/* Adds a line, which is changed. 0, -ENOMEM, or -EINVAL with a phrase in why. */
static int add_line(struct times *into, char *line, unsigned number, char *why, size_t why_size)
{
	int sent = 1;

	if (is_empty(line))
		return 0;
	if (into->recorder)
		sent = nm_recorder_add(into->recorder, line, number, why, why_size);
	if (sent <= 0 || !into->is_timed)
		return sent < 0 ? sent : 0;
	const char *time = line + strspn(line, SEPARATORS), *wrong = NULL;
	uint64_t ns = 0, last_ns = 0;

	line[strcspn(line, "#")] = '\0';
	line[(size_t)(time - line) + strcspn(time, SEPARATORS)] = '\0';
	if ((!into->trace || into->trace->count == into->room) && !grow(into))
		return -ENOMEM;
	struct nm_trace *trace = into->trace;

	if (nm_parse_decimal(time, SECOND_DIGITS, SECONDS_MAX, &ns) < 0)
		wrong = "no time: seconds, as 12 or 12.000345";
	else if (trace->count)
		last_ns = trace->at_ns[trace->count - 1] + into->first_ns;
	else
		into->first_ns = ns;
	if (!wrong && ns < last_ns)
		wrong = "before the time above it; times must not fall";
	if (wrong || trace->count == TIMES_MAX) {
		(void)snprintf(why, why_size, "\"%.*s\": %s", MOST_SHOWN, time,
			       wrong ? wrong : "one more than 100000000 times");
		return -EINVAL;
	}
	into->fine |= strchr(time, '.') != NULL;
	trace->at_ns[trace->count++] = ns - into->first_ns;
	return 0;
}

/* Takes a line, of which the first with anything but a comment may name columns. */
static int take_line(void *times, char *line, size_t n, unsigned number, char *why, size_t why_size)
{
	struct times *into = times;

	(void)n;
	if (into->is_begun || !is_header(line)) {
		into->is_begun |= !is_empty(line);
		return add_line(into, line, number, why, why_size);
	}
	into->is_begun = true;
	return into->recorder ? nm_recorder_name(into->recorder, line, why, why_size) : 0;
}

/* Spreads the arrivals of each second evenly over it. */
static void spread(struct nm_trace *trace)
{
	for (size_t i = 0, n; i < trace->count; i += n) {
		uint64_t second_ns = trace->at_ns[i];

		for (n = 1; i + n < trace->count && trace->at_ns[i + n] == second_ns; n++)
			;
		for (size_t k = 1; k < n; k++)
			trace->at_ns[i + k] += k * SECOND_NS / n;
	}
}

/* Whether two come in the same second of a clock that has no finer times. */
static bool is_coarse(const struct times *times)
{
	bool together = false;

	for (size_t i = 1; times->trace && i < times->trace->count; i++)
		together |= times->trace->at_ns[i] == times->trace->at_ns[i - 1];
	return together && !times->fine;
}

/* In a loop the first follows the last after the mean distance. */
static void measure(struct nm_trace *trace)
{
	uint64_t last_ns = trace->at_ns[trace->count - 1];

	trace->end_ns = last_ns;
	if (trace->count > 1)
		trace->end_ns += last_ns / (trace->count - 1);
	trace->longest_ns = trace->end_ns - last_ns;
	for (size_t i = 1; i < trace->count; i++)
		if (trace->at_ns[i] - trace->at_ns[i - 1] > trace->longest_ns)
			trace->longest_ns = trace->at_ns[i] - trace->at_ns[i - 1];
}

/* 0 with *ret, to be freed; -ENOMEM; or another error with a phrase in why. */
static int read_file(const char *path, struct times *ret, char *why, size_t why_size)
{
	int r = nm_lines_read(path, take_line, ret, why, why_size);

	if (r < 0 || (ret->recorder ? ret->recorder->count > 0 : ret->trace != NULL))
		return r;
	(void)snprintf(why, why_size, "has no %s",
		       ret->recorder ? "requests that can be sent" : "times");
	return -EINVAL;
}

/* Tells what the times of the file are not, as the transaction would have them. */
static void tell(struct nm_ir *ir, const struct nm_ir_transaction *t, bool spreads)
{
	const struct nm_arrivals *arrivals = &t->arrivals;
	const struct nm_trace *trace = arrivals->trace;
	double end_s = (double)trace->at_ns[trace->count - 1] / arrivals->speed / 1e9;

	if (spreads)
		nm_diag_warn(
			ir->diags, ir->file, t->line,
			"<transaction> arrivals=\"%s\": its times are whole seconds: those of a "
			"second are spread evenly over it (with the word exact they come at once)",
			t->attrs.arrivals);
	if (!(arrivals->words & NM_ARRIVAL_LOOP) && end_s * 1e9 < arrivals->length_ns)
		nm_diag_warn(ir->diags, ir->file, t->line,
			     "<transaction> arrivals=\"%s\": its last arrival is at %.6g s of %.6g "
			     "s; nothing is due after it (with the word loop it begins again)",
			     t->attrs.arrivals, end_s, arrivals->length_ns / 1e9);
}

int nm_times_read(const char *path, struct nm_recorder *recorder, bool is_timed,
		  struct nm_ir_times *ret, char *why, size_t why_size)
{
	struct times times = {.recorder = recorder, .is_timed = is_timed};
	int r = read_file(path, &times, why, why_size);

	if (r == 0)
		*ret = (struct nm_ir_times){.trace = times.trace, .is_coarse = is_coarse(&times)};
	else
		free(times.trace);
	return r;
}

/* Those of the file alone, which is not read again where its requests are. */
static int find_times(struct nm_ir *ir, const struct nm_arrivals *arrivals,
		      struct nm_ir_times *times, char *why, size_t why_size)
{
	if (times->trace)
		return 0;
	int r = nm_times_read(arrivals->file, NULL, true, times, why, why_size);

	return r == 0 ? nm_arena_keep(ir->arena, times->trace) : r;
}

void nm_ir_read_trace(struct nm_ir *ir, struct nm_ir_transaction *t,
		      const struct nm_ir_times *known)
{
	struct nm_arrivals *arrivals = &t->arrivals;
	struct nm_ir_times times = known ? *known : (struct nm_ir_times){.trace = NULL};
	char why[320];
	bool loops = arrivals->words & NM_ARRIVAL_LOOP, spreads = false;
	int r = find_times(ir, arrivals, &times, why, sizeof why);

	if (r == 0) {
		spreads = !(arrivals->words & NM_ARRIVAL_EXACT) && times.is_coarse;
		if (spreads)
			spread(times.trace);
		measure(times.trace);
		if (loops && !times.trace->end_ns) {
			(void)snprintf(why, sizeof why, "a loop needs two times that differ");
			r = -EINVAL;
		} else {
			r = nm_arrivals_set_trace(arrivals, times.trace, why, sizeof why);
		}
	}
	if (r == 0)
		tell(ir, t, spreads);
	else if (r == -ENOMEM)
		nm_diag_error(ir->diags, ir->file, t->line, "out of memory");
	else
		nm_attr_error(ir, t->node, "arrivals", " arrivals=\"%s\": %s: %s",
			      t->attrs.arrivals, arrivals->file, why);
}
