/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict on an open loop. */
#include "result/load.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "result/result.h"

static const char *const names[NM_LOAD__COUNT] = {"ok", "connections", "generator", "overload",
						  "errors"};

/* Where the other end, and not the number of connections, is the limit, passes take so much longer
 * than those that began while few others were under way; or, where there were few of those, than
 * the shortest. */
#define SLOWER	   1.5
#define FEW_PASSES 100
/* Of the passes, what may fail or be late before the load is not as asked for. */
#define TOLERANCE 0.01
/* How far the passes that were outstanding may be off Little's law. */
#define LAW_TOLERANCE 0.01
/* How many times as many flows as are busy on average are enough at most times. */
#define SPARE_FLOWS 1.2
/* How many times as many passes as Little's law has may be under way when the time is over. */
#define UNDER_WAY 2

/* That of which the verdict is. */
static const struct nm_window *window_of(const struct nm_result_phase *phase)
{
	return phase->due.seconds > 0 ? &phase->due : &phase->whole;
}

/* How long a pass takes that has the other end for itself. */
static double alone_s(const struct nm_window *window)
{
	const struct nm_counts *counts = &window->counts;

	return counts->light < FEW_PASSES ? nm_window_passes(window)->min_s
					  : (double)counts->light_ns / 1e9 / (double)counts->light;
}

static bool has_dropped(const struct nm_load *load)
{
	return load->dropped_queue + load->dropped_late > 0;
}

/* Passes that had not begun in time are too many; or so many were under way when it was over that
 * they have been piling up. */
static bool is_short(const struct nm_load *load, const struct nm_window *window)
{
	double due = (double)load->due, never = (double)nm_counts_never_begun(&window->counts);
	double waiting = never + (double)window->counts.overdue, late = never + (double)load->tardy;

	return waiting > TOLERANCE * due ||
	       late > TOLERANCE * due + UNDER_WAY * load->offered_per_s * alone_s(window) + 1;
}

/* The backlog has grown to the end. Where more was dropped than it has, it has been as great as the
 * profile allows for longer than it took to grow. */
static bool grows(const struct nm_load *load, const struct nm_window *window)
{
	return is_short(load, window) &&
	       load->tardy + load->unsent > load->dropped_queue + load->dropped_late;
}

/* Passes never began since connections could not be opened anew: what those that had begun waited
 * for tells nothing of that. */
static bool is_starved(const struct nm_window *window)
{
	return window->counts.starved > nm_counts_never_begun(&window->counts) / 2;
}

/* Flows were free for longer before this end began what was due than it had waited for them. What
 * waits in vain is dropped, so that those that begin have hardly waited for a flow: then flows must
 * have been without a pass for longer than with one. */
static bool were_free(const struct nm_load *load, const struct nm_window *window)
{
	return load->generator_s > fmax(load->busy_s + load->kernel_s,
					has_dropped(load) ? nm_window_passes(window)->mean_s : 0);
}

/* This end was too late by more than passes were slowed down, as by a queue at the other end. */
static bool is_own(const struct nm_load *load, const struct nm_window *window)
{
	return load->generator_s > nm_window_passes(window)->mean_s - alone_s(window);
}

static enum nm_load_verdict judge(const struct nm_load *load, const struct nm_window *window)
{
	if ((double)load->failed > TOLERANCE * (double)load->due)
		return NM_LOAD_ERRORS;
	if (!is_short(load, window))
		return NM_LOAD_OK;
	if (is_starved(window))
		return NM_LOAD_CONNECTIONS;
	if (were_free(load, window))
		return is_own(load, window) ? NM_LOAD_GENERATOR : NM_LOAD_OVERLOAD;
	/* More connections would be as full. */
	if (load->kernel_s > load->busy_s)
		return NM_LOAD_OVERLOAD;
	return nm_window_passes(window)->mean_s < SLOWER * alone_s(window) ? NM_LOAD_CONNECTIONS
									   : NM_LOAD_OVERLOAD;
}

__attribute__((format(printf, 2, 3))) static void append(struct nm_load *load, const char *fmt, ...)
{
	size_t used = strlen(load->advice);
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(load->advice + used, sizeof(load->advice) - used, fmt, args);
	va_end(args);
}

/* How many never began, and which limits of the profile have dropped them. */
static void advise_never_begun(struct nm_load *load, uint64_t never_begun)
{
	const struct {
		const char *name;
		uint64_t count;
	} limits[] = {{"queue", load->dropped_queue}, {"late", load->dropped_late}};
	const char *before = " (";

	if (!never_begun)
		return;
	append(load, ", and %" PRIu64 " of the %" PRIu64 " that were due never began", never_begun,
	       load->due);
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		if (!limits[i].count)
			continue;
		append(load, "%s%s dropped %" PRIu64, before, limits[i].name, limits[i].count);
		before = ", ";
	}
	if (*before == ',')
		append(load, ")");
}

static void advise_more(struct nm_load *load, const struct nm_result_phase *phase,
			const struct nm_result_group *group)
{
	const double pass_s = nm_window_passes(window_of(phase))->mean_s;
	const uint32_t depth = phase->pipeline ? phase->pipeline : 1;

	append(load, "%" PRIu32 " connections", group->n_flows);
	if (depth > 1)
		append(load, " with %" PRIu32 " requests outstanding each", depth);
	append(load, " carry %.0f/s at most, as each pass takes %.3g ms: use nflows=%.0f%s",
	       (double)group->n_flows * depth / pass_s, pass_s * 1e3,
	       fmax(ceil(SPARE_FLOWS * load->offered_per_s * pass_s / depth), group->n_flows + 1.0),
	       depth > 1 ? ", or a deeper pipeline" : "");
}

/* With the CPU that this process took, where its threads are the workers of this group alone. */
static void advise_generator(struct nm_load *load, const struct nm_result *result,
			     const struct nm_result_group *group)
{
	const struct nm_result_host *master = result->n_hosts ? &result->hosts[0] : NULL;

	append(load, "this end began passes too late, though connections were free");
	if (master && master->has_usage && master->usage.at_ns && !group->processes &&
	    result->n_groups == 1) {
		const struct nm_rusage *process = &master->usage.process;

		append(load, ", and took %.0f %% of a CPU, with %u worker%s",
		       100 * (double)(process->utime_ns + process->stime_ns) /
			       (double)master->usage.at_ns,
		       (unsigned)group->n_workers, group->n_workers == 1 ? "" : "s");
	}
	append(load, ": use more workers, or more CPU");
}

static void advise(struct nm_load *load, const struct nm_result *result,
		   const struct nm_result_phase *phase, const struct nm_result_group *group)
{
	const struct nm_window *window = window_of(phase);
	size_t size = sizeof(load->advice);

	switch (load->verdict) {
	case NM_LOAD_OK:
		snprintf(load->advice, size, "the load was as asked for");
		break;
	case NM_LOAD_CONNECTIONS:
		if (is_starved(window)) {
			snprintf(load->advice, size,
				 "connections could not be opened anew, as the server was away");
			break;
		}
		advise_more(load, phase, group);
		break;
	case NM_LOAD_GENERATOR:
		advise_generator(load, result, group);
		break;
	case NM_LOAD_OVERLOAD:
		snprintf(load->advice, size,
			 "the other end, or the CPU of this one, does %.0f/s at most",
			 load->achieved_per_s);
		if (load->grows && load->achieved_per_s > 0)
			append(load,
			       ": the backlog grows by %.3g/s, and response times by %.3g s in "
			       "each second",
			       load->backlog_per_s, load->backlog_per_s / load->achieved_per_s);
		break;
	case NM_LOAD_ERRORS:
	case NM_LOAD__COUNT:
		snprintf(load->advice, size, "%.3g failures for each 100 passes",
			 100 * (double)load->failed / fmax((double)load->due, 1));
		break;
	}
	advise_never_begun(load, nm_counts_never_begun(&window->counts));
}

/* Of passes with an answer the law has the times that are reported. */
static void count_outstanding(struct nm_load *load, const struct nm_window *window, double seconds,
			      uint32_t n_workers)
{
	const struct nm_counts *counts = &window->counts;
	const struct nm_latency *passes = nm_window_passes(window);
	const double step_s = NM_DELAY_STEP_NS / 1e9;
	double sum_s = (double)counts->outstanding * step_s;
	double law_s =
		(double)passes->count * passes->mean_s +
		((double)counts->outstanding_failed - (double)counts->outstanding_after) * step_s;
	/* Each worker has rounded three of these. */
	double tolerance_s = LAW_TOLERANCE * fmax(sum_s, law_s) + 3 * step_s * n_workers;

	load->outstanding_max = counts->outstanding_most;
	load->outstanding_mean = sum_s / seconds;
	load->outstanding_by_law = law_s / seconds;
	load->keeps_law = fabs(sum_s - law_s) <= tolerance_s;
}

/* How long passes became due. */
static double open_s(const struct nm_result_group *group, const struct nm_counts *counts)
{
	return (double)counts->open_ns / 1e9 / group->n_workers;
}

static struct nm_load load_of(const struct nm_result_group *group, const struct nm_window *window)
{
	const struct nm_counts *counts = &window->counts;
	struct nm_load load = {.due = counts->arrivals + nm_counts_never_begun(counts),
			       .unsent = counts->unsent,
			       .dropped_queue = counts->dropped_queue,
			       .dropped_late = counts->dropped_late,
			       .tardy = counts->tardy,
			       .failed = counts->unanswered + counts->errors};

	double seconds = open_s(group, counts);
	double begun = fmax((double)counts->arrivals, 1);
	const double step_s = NM_DELAY_STEP_NS / 1e9;

	load.offered_per_s = (double)load.due / seconds;
	load.achieved_per_s = (double)(counts->iterations - counts->tardy) / seconds;
	load.backlog_per_s = (double)(counts->tardy + counts->unsent) / seconds;
	load.busy_s = (double)counts->delay_busy * step_s / begun;
	load.kernel_s = (double)counts->delay_kernel * step_s / begun;
	load.generator_s = (double)counts->delay_own * step_s / begun;
	load.grows = grows(&load, window);
	load.verdict = judge(&load, window);
	load.name = names[load.verdict];
	return load;
}

bool nm_phase_judge(const struct nm_result *result, const struct nm_result_group *group,
		    const struct nm_result_phase *phase, struct nm_load *ret_load)
{
	const struct nm_window *window = window_of(phase);

	if (!phase->arrivals || !phase->measured || !window->counts.open_ns)
		return false;
	*ret_load = load_of(group, window);
	count_outstanding(ret_load, window, open_s(group, &window->counts), group->n_workers);
	advise(ret_load, result, phase, group);
	return true;
}

/* Not as a run that has failed. */
static bool has_ended(const struct nm_result *result)
{
	return result->complete || result->verdict.interrupted;
}

bool nm_step_judge(const struct nm_result_group *group, const struct nm_result_step *step,
		   struct nm_load *ret_load)
{
	if (!step->window.counts.open_ns)
		return false;
	*ret_load = load_of(group, &step->window);
	return true;
}

bool nm_step_load(const struct nm_result *result, const struct nm_result_group *group,
		  const struct nm_result_step *step, struct nm_load *ret_load)
{
	return has_ended(result) && nm_step_judge(group, step, ret_load);
}

bool nm_phase_load(const struct nm_result *result, const struct nm_result_group *group,
		   const struct nm_result_phase *phase, struct nm_load *ret_load)
{
	return has_ended(result) && nm_phase_judge(result, group, phase, ret_load);
}

bool nm_result_load(const struct nm_result *result, struct nm_load *ret_load)
{
	bool any = false;

	for (size_t g = 0; g < result->n_groups; g++) {
		const struct nm_result_group *group = &result->groups[g];

		for (size_t k = 0; k < group->n_phases; k++) {
			struct nm_load load;

			if (!nm_phase_load(result, group, &group->phases[k], &load))
				continue;
			if (!any || load.verdict > ret_load->verdict)
				*ret_load = load;
			any = true;
		}
	}
	return any;
}
