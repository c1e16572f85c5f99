/* SPDX-License-Identifier: Apache-2.0 */
/* think: waits as an application does between messages, asleep or burning the CPU. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

#include "flowop/common.h"
#include "flowop/flowop.h"
#include "flowop/message.h"
#include "host/clock.h"

struct think_opts {
	struct nm_law duration; /* ns */
	bool idle, busy;
	int at;
};

static const struct nm_opt think_opts[] = {
	{.name = "duration",
	 .type = NM_TYPE_DURATIONS,
	 .offset = offsetof(struct think_opts, duration),
	 .required = true,
	 .help = "how long; a law draws it anew each time, as exp(10ms)"},
	{.name = "idle",
	 .type = NM_TYPE_FLAG,
	 .offset = offsetof(struct think_opts, idle),
	 .help = "sleep; other flows of the worker go on (this is what happens without idle or "
		 "busy)"},
	{.name = "busy",
	 .type = NM_TYPE_FLAG,
	 .offset = offsetof(struct think_opts, busy),
	 .help = "burn the CPU; the worker does nothing else meanwhile"},
	{.name = "at",
	 .type = NM_TYPE_ENUM,
	 .offset = offsetof(struct think_opts, at),
	 .choices = nm_at_words,
	 .def = "both",
	 .help = "which end thinks"},
	NM_OPT_END};

static int think_check(const void *opts, char *why, size_t why_size)
{
	const struct think_opts *o = opts;

	if (!o->idle || !o->busy)
		return 0;
	snprintf(why, why_size, "idle and busy exclude each other");
	return -EINVAL;
}

static bool think_runs_on(const void *opts, bool master)
{
	return nm_runs_at(((const struct think_opts *)opts)->at, master);
}

/* How long the flow thinks now; it may be asked again while it does. */
static uint64_t duration_ns(const struct nm_io *io, const struct nm_flow *flow,
			    const struct nm_instr *instr)
{
	const struct nm_law *law = &((const struct think_opts *)instr->opts)->duration;

	if (law->kind == NM_LAW_CONST)
		return law->min;
	return nm_law_draw(law, nm_step_key(io, flow, instr), flow->repeated);
}

/* The flow has thought until it goes on, which may be later than it wanted. */
static enum nm_step done(const struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr,
			 uint64_t now_ns)
{
	if ((flow->request.marks & NM_REQUEST_RECORDED) && !instr->expects_reply)
		flow->request.think_ns +=
			now_ns - (flow->timer.at_ns - duration_ns(io, flow, instr));
	flow->timer.at_ns = 0;
	flow->progress = 0;
	return NM_STEP_NEXT;
}

/* A worker that only burns the CPU would not see that the transaction is over: so it yields after
 * each time. */
static enum nm_step burn(struct nm_io *io, struct nm_flow *flow)
{
	while ((io->now_ns = nm_clock_ns()) < flow->timer.at_ns)
		if (io->quit && atomic_load_explicit(io->quit, memory_order_relaxed))
			break;
	flow->progress = 1;
	return NM_STEP_YIELD;
}

static enum nm_step think_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	const struct think_opts *o = instr->opts;

	uint64_t now_ns = nm_clock_ns();

	if (flow->progress) /* it is over, and the others have had their turn */
		return done(io, flow, instr, now_ns);
	if (!flow->timer.at_ns)
		flow->timer.at_ns = now_ns + duration_ns(io, flow, instr);
	if (o->busy)
		return burn(io, flow);
	return now_ns < flow->timer.at_ns ? NM_STEP_SLEEP : done(io, flow, instr, now_ns);
}

const struct nm_flowop nm_flowop_think = {
	.name = "think",
	.mirror_op = &nm_flowop_think,
	.help = "waits, as an application does between messages; the master's wait is no part of "
		"the latency of a pass, unless a read comes next",
	.flags = NM_FLOWOP_THINKS,
	.opts = think_opts,
	.opts_size = sizeof(struct think_opts),
	.check = think_check,
	.runs_on = think_runs_on,
	.step = think_step,
};
