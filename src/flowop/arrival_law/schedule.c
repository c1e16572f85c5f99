/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the attribute `arrivals`, and merges lanes. */
#include "flowop/arrival_law/schedule.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/units.h"

/* So many arrivals are expected without that one comes, once in 10^17 times. */
#define RANDOM_PLACES 40

/* As no clock here is finer than a nanosecond, and no run is longer than months. */
#define LEAST_PER_S 1e-6
#define MOST_PER_S  1e9

#define LEAST_SPEED 1e-3
#define MOST_SPEED  1e6

static const struct nm_arrival_law *find_law(const char *name, size_t length)
{
	for (size_t i = 0; nm_arrival_laws[i]; i++)
		if (strncmp(nm_arrival_laws[i]->name, name, length) == 0 &&
		    !nm_arrival_laws[i]->name[length])
			return nm_arrival_laws[i];
	return NULL;
}

static int refuse_form(const char *text, const struct nm_arrival_law *law, char *why,
		       size_t why_size)
{
	size_t used = (size_t)snprintf(why, why_size, "\"%.64s\": must be", text);

	for (size_t i = 0; nm_arrival_laws[i] && used < why_size; i++)
		if (!law || law == nm_arrival_laws[i])
			used += (size_t)snprintf(why + used, why_size - used, "%s %s",
						 law || !i		  ? ""
						 : nm_arrival_laws[i + 1] ? ","
									  : " or",
						 nm_arrival_laws[i]->form);
	if (!law && used < why_size)
		snprintf(why + used, why_size - used, ", as poisson(50k/s)");
	return -EINVAL;
}

/* Words behind the arguments, in the order in which they are written again. */
static const struct {
	const char *name;
	enum nm_arrival_word word;
} words[] = {{"speed=", NM_ARRIVAL_SPEED},	{"loop", NM_ARRIVAL_LOOP},
	     {"exact", NM_ARRIVAL_EXACT},	{"mirrored", NM_ARRIVAL_MIRRORED},
	     {"shuffled", NM_ARRIVAL_SHUFFLED}, {"poisson", NM_ARRIVAL_POISSON}};
#define N_WORDS (sizeof words / sizeof *words)

/* A number above 0 with at most a point in it. */
static bool read_factor(const char *text, double *ret)
{
	char *end;

	*ret = strtod(text, &end);
	return text[strspn(text, "0123456789.")] == '\0' && end != text && !*end;
}

/* Reads a word behind the arguments: 0, or -EINVAL with a phrase in why if that is known. */
static int read_word(const char *text, struct nm_arrivals *ret, char *why, size_t why_size)
{
	for (size_t i = 0; i < N_WORDS; i++) {
		size_t length = strlen(words[i].name);
		bool has_value = words[i].name[length - 1] == '=';

		if (strncmp(text, words[i].name, length) != 0 || (!has_value && text[length]) ||
		    !(ret->law->words & words[i].word) || ret->words & words[i].word)
			continue;
		ret->words |= words[i].word;
		if (!has_value || (read_factor(text + length, &ret->speed) &&
				   ret->speed >= LEAST_SPEED && ret->speed <= MOST_SPEED))
			return 0;
		snprintf(why, why_size, "\"%.47s\" is no speed: from 0.001 to 1000000",
			 text + length);
		return -EINVAL;
	}
	return -EINVAL;
}

/* Reads one argument; false with a phrase in why. */
static bool read_arg(const char *arg, enum nm_arrival_arg kind, double *ret, char *why,
		     size_t why_size)
{
	double per_s = -1;
	uint64_t ns = 0;

	switch (kind) {
	case NM_ARRIVAL_TIME:
		if (nm_parse_duration(arg, NM_READING_NETMODEL, &ns) == 0 && ns > 0)
			break;
		snprintf(why, why_size, "\"%.47s\" is no time above 0, as 10ms", arg);
		return false;
	case NM_ARRIVAL_BITRATE:
		if (nm_parse_bitrate(arg, ret) == 0 && *ret > 0)
			return true;
		snprintf(why, why_size, "\"%.47s\" is no rate of a link above 0, as 10Gb/s", arg);
		return false;
	case NM_ARRIVAL_FILE:
		return *arg;
	case NM_ARRIVAL_SHARE:
		if (read_factor(arg, ret) && *ret <= 1)
			return true;
		snprintf(why, why_size, "\"%.47s\" is no share: from 0 to 1", arg);
		return false;
	default:
		if (nm_parse_rate(arg, NM_READING_NETMODEL, &per_s) == 0 && per_s <= MOST_PER_S &&
		    (per_s >= LEAST_PER_S || (per_s == 0 && kind == NM_ARRIVAL_RATE_OR_0)))
			break;
		snprintf(why, why_size,
			 "\"%.47s\" is no rate of arrivals: from 0.000001 to 1G a second, as 500, "
			 "2.5k/s or 50k",
			 arg);
		return false;
	}
	*ret = kind == NM_ARRIVAL_TIME ? (double)ns : per_s;
	return true;
}

/* Reads what stands between the parentheses, which is changed: 0, or -EINVAL with a phrase in why,
 * or an empty one if it is not of the form of the law. */
static int read_args(char *text, struct nm_arrivals *ret, char *why, size_t why_size)
{
	const struct nm_arrival_law *law = ret->law;
	size_t i = 0;
	char *next = text;

	*why = '\0';
	for (char *arg; (arg = strsep(&next, ",")); i++) {
		bool more = i < NM_ARRIVAL_ARGS && law->args[i];

		if (more ? !read_arg(arg, law->args[i], &ret->args[i], why, why_size)
			 : read_word(arg, ret, why, why_size) < 0)
			return -EINVAL;
		if (more && law->args[i] == NM_ARRIVAL_FILE)
			snprintf(ret->file, sizeof ret->file, "%s", arg);
	}
	return i < NM_ARRIVAL_ARGS && law->args[i] ? -EINVAL : 0;
}

/* Reads the text of a law that is known. */
static int read_law(const char *text, const char *inner, struct nm_arrivals *ret, char *why,
		    size_t why_size)
{
	const char *wrong;
	char args[NM_ARRIVAL_TEXT], what[160];
	size_t length = strlen(inner);

	if (length < 2 || length > sizeof(args) || inner[length - 1] != ')')
		return refuse_form(text, ret->law, why, why_size);
	snprintf(args, sizeof(args), "%.*s", (int)length - 1, inner);
	if (read_args(args, ret, what, sizeof(what)) != 0) {
		if (!*what)
			return refuse_form(text, ret->law, why, why_size);
		wrong = what;
	} else {
		wrong = ret->law->check ? ret->law->check(ret) : NULL;
	}
	if (wrong)
		snprintf(why, why_size, "\"%.64s\": %s", text, wrong);
	return wrong ? -EINVAL : 0;
}

static void set_rate(struct nm_arrivals *arrivals)
{
	arrivals->per_s =
		nm_arrivals_expected(arrivals, arrivals->length_ns) * 1e9 / arrivals->length_ns;
}

/* As nm_arrivals_parse, which does not leave a law behind that was not read. */
static int parse(const char *text, uint64_t length_ns, struct nm_arrivals *ret, char *why,
		 size_t why_size)
{
	size_t length = strcspn(text, "(");

	*ret = (struct nm_arrivals){.law = find_law(text, length), .speed = 1, .n_lanes = NM_LANES};
	if (!ret->law || !text[length])
		return refuse_form(text, NULL, why, why_size);
	ret->length_ns = (double)(length_ns ? length_ns : 1000000000);
	if (read_law(text, text + length + 1, ret, why, why_size) != 0)
		return -EINVAL;
	if (ret->law->by_bytes || ret->law->by_trace)
		return 0;
	set_rate(ret);
	if (ret->per_s >= LEAST_PER_S)
		return 0;
	snprintf(why, why_size, "\"%.64s\": nothing becomes due in the time of the transaction",
		 text);
	return -EINVAL;
}

int nm_arrivals_parse(const char *text, uint64_t length_ns, struct nm_arrivals *ret, char *why,
		      size_t why_size)
{
	int error = parse(text, length_ns, ret, why, why_size);

	if (error)
		*ret = (struct nm_arrivals){.law = NULL};
	return error;
}

int nm_arrivals_set_bytes(struct nm_arrivals *arrivals, double pass_bytes, char *why,
			  size_t why_size)
{
	if (!arrivals->law->by_bytes)
		return 0;
	arrivals->pass_bytes = pass_bytes;
	set_rate(arrivals);
	if (arrivals->per_s >= LEAST_PER_S && arrivals->per_s <= MOST_PER_S)
		return 0;
	snprintf(why, why_size,
		 "with %.6g bytes a pass these are %.6g passes a second; must be from 0.000001 to "
		 "1G",
		 pass_bytes, arrivals->per_s);
	return -EINVAL;
}

int nm_arrivals_set_trace(struct nm_arrivals *arrivals, const struct nm_trace *trace, char *why,
			  size_t why_size)
{
	arrivals->trace = trace;
	set_rate(arrivals);
	if (arrivals->per_s <= MOST_PER_S)
		return 0;
	snprintf(why, why_size, "these are %.6g passes a second; must be at most 1G",
		 arrivals->per_s);
	return -EINVAL;
}

static size_t write_number(double number, const char *unit, char *buf, size_t size)
{
	size_t length = (size_t)snprintf(buf, size, "%.9f", number);

	while (buf[length - 1] == '0')
		buf[--length] = '\0';
	if (buf[length - 1] == '.')
		buf[--length] = '\0';
	return length + (size_t)snprintf(buf + length, size - length, "%s", unit);
}

char *nm_arrivals_text(const struct nm_arrivals *arrivals, char *buf, size_t size)
{
	static const struct {
		const char *name;
		double of;
	} units[] = {[NM_ARRIVAL_RATE] = {"/s", 1},
		     [NM_ARRIVAL_RATE_OR_0] = {"/s", 1},
		     [NM_ARRIVAL_SHARE] = {"", 1},
		     [NM_ARRIVAL_TIME] = {"ms", 1e6},
		     [NM_ARRIVAL_BITRATE] = {"Mb/s", 1e6}};
	size_t used = (size_t)snprintf(buf, size, "%s", arrivals->law->name);

	for (size_t i = 0; i < NM_ARRIVAL_ARGS && arrivals->law->args[i] && used < size; i++) {
		enum nm_arrival_arg kind = arrivals->law->args[i];
		char arg[48];

		if (kind != NM_ARRIVAL_FILE)
			write_number(arrivals->args[i] / units[kind].of, units[kind].name, arg,
				     sizeof(arg));
		used += (size_t)snprintf(buf + used, size - used, "%c%s", i ? ',' : '(',
					 kind == NM_ARRIVAL_FILE ? arrivals->file : arg);
	}
	for (size_t i = 0; i < N_WORDS && used < size; i++) {
		char value[48] = "";

		if (!(arrivals->words & words[i].word))
			continue;
		if (words[i].word == NM_ARRIVAL_SPEED)
			write_number(arrivals->speed, "", value, sizeof value);
		used += (size_t)snprintf(buf + used, size - used, ",%s%s", words[i].name, value);
	}
	if (used < size)
		snprintf(buf + used, size - used, ")");
	return buf;
}

double nm_arrivals_expected(const struct nm_arrivals *arrivals, double ns)
{
	return arrivals->law->expected ? arrivals->law->expected(arrivals, ns)
				       : arrivals->args[0] * ns / 1e9;
}

double nm_arrivals_when_ns(const struct nm_arrivals *arrivals, double place)
{
	return arrivals->law->when_ns ? arrivals->law->when_ns(arrivals, place)
				      : place * (1e9 / arrivals->args[0]);
}

uint64_t nm_arrivals_in_step_ns(const struct nm_arrivals *arrivals, uint32_t step, uint64_t ns)
{
	const uint64_t over = ns / arrivals->step_ns;
	const uint32_t at = (uint32_t)(over % arrivals->n_steps);

	return (over / arrivals->n_steps + (step < at)) * arrivals->step_ns +
	       (step == at ? ns % arrivals->step_ns : 0);
}

double nm_arrivals_longest_pause_ns(const struct nm_arrivals *arrivals)
{
	double places =
		arrivals->law->place || arrivals->words & NM_ARRIVAL_POISSON ? RANDOM_PLACES : 1;

	return arrivals->law->quiet_ns ? arrivals->law->quiet_ns(arrivals, places)
				       : places * 1e9 / arrivals->args[0];
}

double nm_lane_draw(const struct nm_lane *lane)
{
	return ((double)(nm_rng(lane->key, lane->number) >> 11) + 1) * 0x1p-53;
}

double nm_lane_poisson(const struct nm_lane *lane, const struct nm_arrivals *arrivals)
{
	return lane->place - log(nm_lane_draw(lane)) * arrivals->n_lanes;
}

static double next_place(const struct nm_lane *lane, const struct nm_arrivals *arrivals)
{
	if (arrivals->words & NM_ARRIVAL_POISSON)
		return nm_lane_poisson(lane, arrivals);
	if (arrivals->law->place)
		return arrivals->law->place(lane, arrivals);
	return (double)nm_lane_slot(lane, arrivals) + 0.5;
}

/* How many of the lanes are the worker's. */
static uint32_t share_of(const struct nm_schedule *schedule, uint32_t n_lanes)
{
	return (n_lanes - schedule->worker + schedule->n_workers - 1) / schedule->n_workers;
}

int nm_schedule_init(struct nm_schedule *schedule, uint32_t worker, uint32_t n_workers,
		     uint32_t most_lanes)
{
	*schedule = (struct nm_schedule){.worker = worker, .n_workers = n_workers};
	schedule->lanes = calloc(share_of(schedule, most_lanes), sizeof *schedule->lanes);
	return schedule->lanes ? 0 : -ENOMEM;
}

void nm_schedule_fini(struct nm_schedule *schedule)
{
	free(schedule->lanes);
	schedule->lanes = NULL;
}

/* Puts the lane where it belongs at or below the place `at` of the heap. */
static void sift_down(struct nm_schedule *schedule, uint32_t at, struct nm_lane lane)
{
	struct nm_lane *heap = schedule->lanes;

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child + 1 < schedule->n_lanes && heap[child + 1].place < heap[child].place)
			child++;
		if (child >= schedule->n_lanes || heap[child].place >= lane.place)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = lane;
}

void nm_schedule_begin(struct nm_schedule *schedule, const struct nm_arrivals *arrivals,
		       uint64_t key)
{
	schedule->arrivals = *arrivals;
	schedule->n_lanes = share_of(schedule, arrivals->n_lanes);
	for (uint32_t i = 0; i < schedule->n_lanes; i++) {
		struct nm_lane *lane = &schedule->lanes[i];
		uint32_t index = schedule->worker + i * schedule->n_workers;

		*lane = (struct nm_lane){.key = nm_rng(key, index), .index = index};
		lane->place = next_place(lane, arrivals);
	}
	for (uint32_t i = schedule->n_lanes / 2; i-- > 0;)
		sift_down(schedule, i, schedule->lanes[i]);
	schedule->at_ns = nm_arrivals_when_ns(arrivals, schedule->lanes[0].place);
}

void nm_schedule_step(struct nm_schedule *schedule)
{
	struct nm_lane lane = schedule->lanes[0];

	lane.number++;
	lane.place = next_place(&lane, &schedule->arrivals);
	sift_down(schedule, 0, lane);
	schedule->at_ns = nm_arrivals_when_ns(&schedule->arrivals, schedule->lanes[0].place);
}

uint64_t nm_schedule_skip(struct nm_schedule *schedule, double at_ns, uint64_t most)
{
	uint64_t count = 0;

	for (; count < most && nm_schedule_at_ns(schedule) < at_ns; count++)
		nm_schedule_step(schedule);
	double left = nm_arrivals_expected(&schedule->arrivals, at_ns) - schedule->lanes[0].place;

	if (left > 0)
		count += (uint64_t)(left * schedule->n_lanes / schedule->arrivals.n_lanes);
	return count;
}
