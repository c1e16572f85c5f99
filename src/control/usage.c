/* SPDX-License-Identifier: Apache-2.0 */
/* Reads CPU times, counters and the engine's counts at the edges of the measured window and of each
 * row. */
#include "control/usage.h"

#include <stdlib.h>
#include <string.h>

#include "control/interval.h"

#define LOOKS	100u /* so many in as much time as the transactions have had, for a better end */
#define LOOK_NS 10000000u

struct part;

/* This host's counts in the measured transactions of the phase, and their times. */
struct sum {
	const struct part *parts; /* of which it is the sum: until the next one is read */
	struct nm_counts counts;
	uint64_t arrived_bytes; /* received over transports that may lose messages */
	bool arrived;		/* there are such transports */
	uint64_t arrived_to_ns;
	uint64_t begin_ns, to_ns; /* 0: this host does nothing in the phase */
};

/* A group in the present phase. */
struct part {
	bool measured;
	/* As they were read last (struct sum); nothing of a group that is not measured. */
	struct nm_counts counts;
	uint64_t begin_ns, end_ns; /* until then, where it has not left */
	bool left;
	uint64_t tail_at_ns; /* a timer: when its time is over; UINT64_MAX: none, or it is over */
	struct nm_tail tail;
	bool stopped;	     /* by the master */
	bool cut;	     /* its window closes as tail has it, not with its last flow */
	uint64_t over_bytes; /* received until over_ns */
	struct nm_tail best; /* as usage->best, of this group */
};

struct nm_usage_sampler {
	struct nm_sampler base;
	struct nm_usage_config config;
	/* The measured window, which may reach over several phases. */
	bool has_before, has_after;
	struct nm_usage before, after;
	struct nm_unhalted_window *unhalted; /* NULL: none, or it has ended */
	struct nm_cpu_loads cpus_before, cpus_after;
	struct nm_vectors vectors_before, vectors_after;
	struct nm_perf_values counters_before, counters_after;
	struct nm_arrived arrived;
	struct nm_host_window window;
	/* The present phase. */
	bool running;
	struct nm_phase_order order;
	uint64_t begin_ns;
	/* When the usage is read; UINT64_MAX: not by a timer in this phase. */
	uint64_t from_ns, to_ns;
	/* When the frequencies are read the first time, while flows run, and long enough before the
	 * window opens: some kernels are slow to tell them. UINT64_MAX: not, or they have been. */
	uint64_t warm_ns;
	/* The window is open in this phase since count_from_ns; count_from: the sum until then. */
	bool counting;
	uint64_t count_from_ns;
	struct sum count_from;
	struct part *parts; /* of the groups; owned */
	/* When the time of the last timed transaction is over; UINT64_MAX: not, or it is over since
	 * over_ns (0: not yet). */
	uint64_t over_at_ns, over_ns;
	/* Since then: the end of the window that is the best so far where data go one way, and when
	 * to look at the next one; UINT64_MAX: at none. */
	struct nm_tail_stream best;
	bool closed; /* the window, there */
	uint64_t look_at_ns;
	/* Rows: where the present one begins, after the begin, and the usage and the counts until
	 * then. */
	struct nm_interval grid;
	uint64_t row_ns;
	struct nm_usage row_usage;
	struct nm_counts row_counts;
	/* The reading at which the window has opened or closed, and when: a row that begins or ends
	 * there has the same, so that rows add up to the window. */
	const struct nm_usage *edge;
	uint64_t edge_ns;
	struct nm_usage warm;	    /* has the frequencies of warm_ns alone */
	struct nm_usage now, delta; /* room to work in */
};

static struct nm_usage_sampler *usage_of(struct nm_sampler *base)
{
	return (struct nm_usage_sampler *)base;
}

static uint64_t at(uint64_t begin_ns, int64_t after_ns)
{
	return after_ns == NM_USAGE_NEVER || after_ns == NM_USAGE_AT_END
		       ? UINT64_MAX
		       : begin_ns + (uint64_t)after_ns;
}

static uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void read_part(struct nm_usage_sampler *usage, uint32_t g, uint64_t now_ns)
{
	const struct nm_engine *engine = usage->config.engine;
	struct part *part = &usage->parts[g];

	if (!part->measured)
		return;
	nm_engine_counts(engine, g, usage->order.phase, &part->counts);
	nm_engine_times(engine, g, usage->order.phase, &part->begin_ns, &part->end_ns);
	part->left = part->end_ns;
	part->end_ns = part->left ? part->end_ns : now_ns;
}

/* Reads each group once. `cut`: without what is too late for the windows. */
static void read_sum(struct nm_usage_sampler *usage, uint64_t now_ns, bool cut, struct sum *ret)
{
	*ret = (struct sum){.parts = usage->parts};
	for (uint32_t g = 0; g < usage->config.plan->n_groups; g++) {
		const struct part *part = &usage->parts[g];

		read_part(usage, g, now_ns);
		struct nm_counts counts = part->counts;
		uint64_t begin_ns = part->begin_ns, end_ns = part->end_ns;

		if (cut && part->cut) {
			nm_tail_cut(&part->tail, &counts);
			end_ns = part->tail.at_ns;
		}
		nm_counts_add(&ret->counts, &counts);
		ret->to_ns = greater(ret->to_ns, end_ns);
		if (begin_ns && (ret->begin_ns == 0 || begin_ns < ret->begin_ns))
			ret->begin_ns = begin_ns;
		if (counts.messages_sent == 0 && counts.messages_received == 0)
			continue;
		ret->arrived = true;
		ret->arrived_bytes += counts.message_bytes;
		ret->arrived_to_ns = greater(ret->arrived_to_ns, end_ns);
	}
}

/* What had been received, of what belongs to the windows, when the time was over. */
static uint64_t over_bytes(const struct nm_usage_sampler *usage)
{
	uint64_t bytes = 0;

	for (uint32_t g = 0; g < usage->config.plan->n_groups; g++) {
		const struct part *part = &usage->parts[g];

		bytes += part->cut && part->tail.counts.bytes_received < part->over_bytes
				 ? part->tail.counts.bytes_received
				 : part->over_bytes;
	}
	return bytes;
}

/* What has come since the time of the transactions was over, of what is in the window: where that
 * is short, it may have opened later. */
static void add_after(struct nm_usage_sampler *usage, const struct sum *sum, uint64_t from_ns)
{
	uint64_t over_ns = greater(usage->over_ns, from_ns);
	uint64_t from_bytes = usage->count_from.counts.bytes_received;

	if (usage->over_ns == 0 || sum->to_ns <= over_ns)
		return;
	usage->window.after_bytes +=
		sum->counts.bytes_received - greater(over_bytes(usage), from_bytes);
	usage->window.after_ns += sum->to_ns - over_ns;
}

static void add_to_window(struct nm_usage_sampler *usage, struct sum *sum)
{
	struct nm_host_window *window = &usage->window;
	uint64_t from_ns = greater(usage->count_from_ns, sum->begin_ns);

	if (sum->begin_ns == 0 || sum->to_ns <= from_ns)
		return;
	add_after(usage, sum, from_ns);
	nm_counts_subtract(&sum->counts, &usage->count_from.counts);
	nm_counts_add(&window->counts, &sum->counts);
	window->ns += sum->to_ns - from_ns;
	window->from_ns = window->from_ns ? window->from_ns : from_ns;
	window->to_ns = sum->to_ns;
}

/* Whether the data of all groups that are measured go one way, for a time. */
static bool has_streams_alone(const struct nm_usage_sampler *usage, const struct sum *sum)
{
	const struct nm_plan *plan = usage->config.plan;

	for (uint32_t g = 0; g < plan->n_groups; g++) {
		const struct part *part = &sum->parts[g];

		if (part->measured && ((part->counts.bytes_sent && part->counts.bytes_received) ||
				       plan->groups[g].phases[usage->order.phase].duration_ns == 0))
			return false;
	}
	return true;
}

/* Keeps what all have counted at the present moment, if it is a better end of the window. */
static void look(struct nm_usage_sampler *usage, uint64_t now_ns)
{
	struct sum sum;

	usage->look_at_ns = UINT64_MAX;
	read_sum(usage, now_ns, false, &sum);
	if (!usage->counting || sum.begin_ns == 0 || sum.to_ns < now_ns ||
	    !has_streams_alone(usage, &sum))
		return;
	usage->look_at_ns = now_ns + greater(usage->order.stop_ns / LOOKS, LOOK_NS);
	usage->best.begin_ns = sum.begin_ns;
	usage->best.from_ns = greater(usage->count_from_ns, sum.begin_ns);
	usage->best.from_bytes = usage->count_from.counts.bytes_received;
	if (!nm_tail_look(&usage->best, now_ns, sum.counts.bytes_received))
		return;
	for (uint32_t g = 0; g < usage->config.plan->n_groups; g++) {
		struct part *part = &usage->parts[g];

		if (part->measured)
			part->best = (struct nm_tail){.at_ns = now_ns, .counts = part->counts};
	}
}

/* When the last of what is late had come, at most; where nothing is, the last flow has left. */
static uint64_t late_until(const struct nm_usage_sampler *usage, const struct sum *sum)
{
	uint64_t to_ns = 0;

	for (uint32_t g = 0; g < usage->config.plan->n_groups; g++) {
		const struct part *part = &sum->parts[g];

		if (part->counts.bytes_received > part->best.counts.bytes_received)
			to_ns = greater(to_ns, part->end_ns);
	}
	return to_ns > usage->best.at_ns ? to_ns : sum->to_ns;
}

/* Whether what this host receives comes too late for its window. Of a group that answers, or waits
 * for answers, all is in the window: what it sends and receives belongs together. */
static bool is_late(const struct nm_usage_sampler *usage, const struct sum *sum)
{
	for (uint32_t g = 0; g < usage->config.plan->n_groups; g++) {
		const struct part *part = &sum->parts[g];

		if (part->counts.bytes_sent && part->counts.bytes_received &&
		    part->end_ns > usage->best.at_ns)
			return false;
	}
	return nm_tail_is_late(&usage->best, sum->to_ns, sum->counts.bytes_received);
}

void nm_usage_sampler_close(struct nm_usage_sampler *usage, uint64_t now_ns)
{
	struct sum sum;

	if (!usage->counting || usage->closed || !usage->best.at_ns)
		return;
	read_sum(usage, now_ns, false, &sum);
	if (!is_late(usage, &sum))
		return;
	for (uint32_t g = 0; g < usage->config.plan->n_groups; g++) {
		struct part *part = &usage->parts[g];

		part->cut = part->end_ns > part->best.at_ns;
		part->tail = part->best;
	}
	usage->window.late_bytes += sum.counts.bytes_received - usage->best.bytes;
	usage->window.late_ns += late_until(usage, &sum) - usage->best.at_ns;
	usage->closed = true;
}

/* Adds the counts of the phase since its window opened, once. */
static void count_until(struct nm_usage_sampler *usage, uint64_t now_ns)
{
	struct sum sum;

	if (!usage->counting)
		return;
	nm_usage_sampler_close(usage, now_ns);
	usage->counting = false;
	read_sum(usage, now_ns, true, &sum);
	if (sum.arrived && sum.arrived_to_ns > usage->count_from_ns) {
		usage->arrived.bytes += sum.arrived_bytes - usage->count_from.arrived_bytes;
		usage->arrived.ns += sum.arrived_to_ns - usage->count_from_ns;
	}
	add_to_window(usage, &sum);
}

static void begin_part(struct nm_usage_sampler *usage, uint32_t g)
{
	const struct nm_group *group = &usage->config.plan->groups[g];
	uint32_t phase = usage->order.phase;
	bool measured = group->runs && phase < group->n_phases && group->phases[phase].measured;
	uint64_t duration_ns = measured ? group->phases[phase].duration_ns : 0;

	usage->parts[g] = (struct part){.measured = measured,
					.tail_at_ns = duration_ns ? usage->begin_ns + duration_ns
								  : UINT64_MAX};
}

static void begin(struct nm_sampler *base, const struct nm_phase_order *order, uint64_t begin_ns)
{
	struct nm_usage_sampler *usage = usage_of(base);

	usage->order = *order;
	usage->running = true;
	usage->begin_ns = begin_ns;
	usage->from_ns = at(begin_ns, order->usage_from_ns);
	usage->to_ns = at(begin_ns, order->usage_to_ns);
	usage->warm_ns = order->usage_from_ns > 0 ? usage->from_ns - (usage->from_ns - begin_ns) / 2
						  : UINT64_MAX;
	nm_interval_begin(&usage->grid, begin_ns, order->measured ? usage->config.interval_ns : 0,
			  order->stop_ns);
	usage->row_ns = 0;
	usage->row_counts = (struct nm_counts){.iterations = 0};
	usage->counting = order->measured && !usage->has_after &&
			  (usage->has_before || order->usage_from_ns == 0);
	usage->count_from_ns = begin_ns;
	usage->count_from = (struct sum){.arrived = false};
	usage->over_at_ns = order->stop_ns ? begin_ns + order->stop_ns : UINT64_MAX;
	usage->over_ns = 0;
	usage->look_at_ns = UINT64_MAX;
	usage->best = (struct nm_tail_stream){.at_ns = 0};
	usage->closed = false;
	for (uint32_t g = 0; g < usage->config.plan->n_groups; g++)
		begin_part(usage, g);
	usage->edge = NULL;
	if (usage->grid.interval_ns && usage->from_ns != begin_ns)
		nm_usage_read(&usage->row_usage); /* else as the window opens */
}

static uint64_t next_ns(const struct nm_sampler *base)
{
	const struct nm_usage_sampler *usage = (const struct nm_usage_sampler *)base;
	uint64_t next = usage->from_ns < usage->to_ns ? usage->from_ns : usage->to_ns;

	if (!usage->running)
		return UINT64_MAX;
	next = usage->over_at_ns < next ? usage->over_at_ns : next;
	next = usage->warm_ns < next ? usage->warm_ns : next;
	next = usage->look_at_ns < next ? usage->look_at_ns : next;
	for (uint32_t g = 0; g < usage->config.plan->n_groups; g++)
		if (usage->parts[g].tail_at_ns < next)
			next = usage->parts[g].tail_at_ns;
	return usage->grid.next_ns < next ? usage->grid.next_ns : next;
}

static const struct nm_usage *read_for_row(struct nm_usage_sampler *usage, uint64_t now_ns)
{
	if (usage->edge && usage->edge_ns == now_ns)
		return usage->edge;
	nm_usage_read(&usage->now);
	return &usage->now;
}

static void end_row(struct nm_usage_sampler *usage, uint64_t to_ns, uint64_t now_ns)
{
	struct nm_host_interval row = {.from_s = (double)usage->row_ns / 1e9,
				       .to_s = (double)to_ns / 1e9,
				       .phase = usage->order.phase};
	struct sum sum;

	const struct nm_usage *now = read_for_row(usage, now_ns);

	nm_usage_delta(&usage->row_usage, now, &usage->delta);
	if (usage->delta.has_cpu)
		row.cpu = usage->delta.cpu;
	nm_usage_row_of(&usage->delta, &row.usage);
	usage->row_usage = *now;
	read_sum(usage, now_ns, false, &sum);
	row.counts = sum.counts;
	nm_counts_subtract(&row.counts, &usage->row_counts);
	usage->row_counts = sum.counts;
	usage->row_ns = to_ns;
	usage->config.row(usage->config.arg, &row);
}

/* At the end of the window. Without a warm-up there was no time before it in which flows ran, and
 * these are the only ones. */
static void read_frequencies(struct nm_usage_sampler *usage)
{
	nm_usage_read_cpufreq(&usage->after);
	nm_usage_copy_cpufreq(&usage->before,
			      usage->warm.has_cpufreq ? &usage->warm : &usage->after);
}

static void close_window(struct nm_usage_sampler *usage, uint64_t now_ns)
{
	count_until(usage, now_ns);
	nm_perf_read(usage->config.perf, &usage->counters_after);
	nm_usage_read_with_cpus(&usage->after, &usage->cpus_after);
	nm_usage_unhalted_end(usage->unhalted, &usage->after);
	usage->unhalted = NULL;
	nm_vectors_read(&usage->after, &usage->before, &usage->vectors_after);
	read_frequencies(usage);
	usage->has_after = true;
	usage->edge = &usage->after;
	usage->edge_ns = now_ns;
}

static void open_window(struct nm_usage_sampler *usage, uint64_t now_ns)
{
	/* The first, as this is the window's time. */
	if (!usage->counting) {
		usage->counting = true;
		usage->count_from_ns = now_ns;
		read_sum(usage, now_ns, false, &usage->count_from);
	}
	nm_usage_read_with_cpus(&usage->before, &usage->cpus_before);
	nm_perf_read(usage->config.perf, &usage->counters_before);
	usage->has_before = true;
	nm_unhalted_drop(usage->unhalted);
	usage->unhalted = nm_usage_unhalted_begin(&usage->before);
	/* The last, as at the end: they may be many. */
	nm_vectors_read(&usage->before, NULL, &usage->vectors_before);
	usage->edge = &usage->before;
	usage->edge_ns = now_ns;
	if (usage->order.usage_from_ns == 0)
		usage->row_usage = usage->before;
}

/* When so much of the time of the transactions has passed on this host: it began with the first
 * flow, and a window that opens after a warm-up opened no later than it should have. Until then all
 * of it is still to come. As nm_windows_time_from has it. */
static uint64_t reckon(const struct nm_usage_sampler *usage, uint64_t begin_ns, uint64_t after_ns,
		       uint64_t now_ns)
{
	uint64_t from_ns = begin_ns ? begin_ns : now_ns;

	if (begin_ns && usage->counting && usage->order.usage_from_ns > 0)
		from_ns = greater(from_ns,
				  usage->count_from_ns - (uint64_t)usage->order.usage_from_ns);
	return from_ns + after_ns;
}

/* The sum is that of the present moment. */
static void set_over(struct nm_usage_sampler *usage, const struct sum *sum, uint64_t now_ns)
{
	usage->over_at_ns = UINT64_MAX;
	usage->over_ns = usage->look_at_ns = now_ns;
	for (uint32_t g = 0; g < usage->config.plan->n_groups; g++)
		usage->parts[g].over_bytes = sum->parts[g].counts.bytes_received;
}

static void note_over(struct nm_usage_sampler *usage, uint64_t now_ns)
{
	struct sum sum;

	read_sum(usage, now_ns, false, &sum);
	usage->over_at_ns = reckon(usage, sum.begin_ns, usage->order.stop_ns, now_ns);
	if (now_ns >= usage->over_at_ns)
		set_over(usage, &sum, now_ns);
}

/* Whether a group has nothing more to begin here: it is stopped, or takes no part, or has left. */
static bool is_over(struct nm_usage_sampler *usage, uint32_t g, uint64_t now_ns)
{
	const struct part *part = &usage->parts[g];

	if (!part->measured || part->stopped ||
	    usage->config.plan->groups[g].phases[usage->order.phase].empty)
		return true;
	read_part(usage, g, now_ns);
	return part->left;
}

void nm_usage_sampler_stop(struct nm_usage_sampler *usage, uint32_t group, uint64_t now_ns)
{
	struct sum sum;

	usage->parts[group].stopped = true;
	if (!usage->running || usage->over_at_ns == UINT64_MAX)
		return;
	for (uint32_t g = 0; g < usage->config.plan->n_groups; g++)
		if (!is_over(usage, g, now_ns))
			return;
	read_sum(usage, now_ns, false, &sum);
	set_over(usage, &sum, now_ns);
}

/* What the group has done in its time is kept, for the case that its window closes with that. */
static void note_tail(struct nm_usage_sampler *usage, uint32_t g, uint64_t now_ns)
{
	struct part *part = &usage->parts[g];

	read_part(usage, g, now_ns);
	part->tail_at_ns = reckon(
		usage, part->begin_ns,
		usage->config.plan->groups[g].phases[usage->order.phase].duration_ns, now_ns);
	if (now_ns < part->tail_at_ns)
		return;
	part->tail_at_ns = UINT64_MAX;
	part->tail = (struct nm_tail){.at_ns = now_ns, .counts = part->counts};
}

/* Closes the window, unless the flows came late. */
static void close_in_time(struct nm_usage_sampler *usage, uint64_t now_ns)
{
	struct sum sum;

	read_sum(usage, now_ns, false, &sum);
	usage->to_ns = reckon(usage, sum.begin_ns, (uint64_t)usage->order.usage_to_ns, now_ns);
	if (now_ns < usage->to_ns)
		return;
	usage->to_ns = UINT64_MAX;
	close_window(usage, now_ns);
}

static void run(struct nm_sampler *base, uint64_t now_ns)
{
	struct nm_usage_sampler *usage = usage_of(base);

	if (!usage->running)
		return;
	if (now_ns >= usage->over_at_ns)
		note_over(usage, now_ns);
	if (now_ns >= usage->look_at_ns)
		look(usage, now_ns);
	for (uint32_t g = 0; g < usage->config.plan->n_groups; g++)
		if (now_ns >= usage->parts[g].tail_at_ns)
			note_tail(usage, g, now_ns);
	if (now_ns >= usage->warm_ns) {
		usage->warm_ns = UINT64_MAX;
		nm_usage_read_cpufreq(&usage->warm);
	}
	if (now_ns >= usage->from_ns) {
		usage->from_ns = UINT64_MAX;
		open_window(usage, now_ns);
	}
	if (now_ns >= usage->to_ns)
		close_in_time(usage, now_ns);
	if (now_ns >= usage->grid.next_ns)
		end_row(usage, nm_interval_pass(&usage->grid, now_ns), now_ns);
}

static void end(struct nm_sampler *base, uint64_t now_ns)
{
	struct nm_usage_sampler *usage = usage_of(base);
	struct sum sum;

	if (!usage->running)
		return;
	/* The last row ends with the last flow; on a host that has drained, with the last
	 * message. */
	read_sum(usage, now_ns, false, &sum);
	uint64_t end_ns = sum.to_ns && sum.to_ns < now_ns ? sum.to_ns : now_ns;

	usage->running = false;
	if (usage->order.usage_to_ns != NM_USAGE_NEVER && !usage->has_after)
		close_window(usage, now_ns);
	count_until(usage, now_ns);
	if (usage->grid.interval_ns && end_ns > usage->begin_ns + usage->row_ns)
		end_row(usage, end_ns - usage->begin_ns, now_ns);
}

struct nm_usage_sampler *nm_usage_sampler_new(const struct nm_usage_config *config)
{
	static const struct nm_sampler_ops ops = {
		.begin = begin, .next_ns = next_ns, .run = run, .end = end, .until_all = true};
	struct nm_usage_sampler *usage = calloc(1, sizeof *usage);

	if (!usage)
		return NULL;
	usage->base.ops = &ops;
	usage->config = *config;
	usage->parts = calloc(config->plan->n_groups + 1u, sizeof *usage->parts);
	return usage->parts ? usage : nm_usage_sampler_free(usage);
}

struct nm_usage_sampler *nm_usage_sampler_free(struct nm_usage_sampler *usage)
{
	if (usage) {
		nm_unhalted_drop(usage->unhalted);
		free(usage->parts);
	}
	free(usage);
	return NULL;
}

struct nm_sampler *nm_usage_sampler_base(struct nm_usage_sampler *usage)
{
	return &usage->base;
}

void nm_usage_sampler_cut(struct nm_usage_sampler *usage, uint32_t group, uint64_t now_ns)
{
	struct part *part = &usage->parts[group];

	read_part(usage, group, now_ns);
	/* Where this host has left in time, all of it is in the window; and a window that has
	 * opened later has nothing of the time in it. */
	part->cut = usage->running && part->tail.at_ns > usage->count_from_ns &&
		    part->tail.at_ns < part->end_ns;
}

const struct nm_tail *nm_usage_sampler_closed(const struct nm_usage_sampler *usage, uint32_t group)
{
	const struct part *part = &usage->parts[group];

	return part->cut ? &part->tail : NULL;
}

void nm_usage_sampler_window(struct nm_usage_sampler *usage, uint64_t now_ns,
			     struct nm_usage_window *ret_window)
{
	memset(ret_window, 0, sizeof *ret_window);
	ret_window->has_usage = usage->has_before;
	if (usage->has_before && !usage->has_after)
		close_window(usage, now_ns);
	if (usage->has_before) {
		nm_usage_delta(&usage->before, &usage->after, &ret_window->usage);
		nm_cpu_loads_delta(&usage->cpus_before, &usage->cpus_after, &ret_window->each.cpus);
		nm_vectors_delta(&usage->vectors_before, &usage->vectors_after, &ret_window->usage,
				 &ret_window->each.vectors);
		nm_perf_delta(&usage->counters_before, &usage->counters_after,
			      &ret_window->counters);
	}
	ret_window->arrived = usage->arrived;
	ret_window->counted = usage->window;
}
