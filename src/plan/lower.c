/* SPDX-License-Identifier: Apache-2.0 */
/* Lowers a checked intermediate representation to the instructions of one side, without any
 * cleverness: notes.c and shape.c look at their form afterwards. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flowop/abandoned.h"
#include "flowop/ask.h"
#include "flowop/greet.h"
#include "flowop/living.h"
#include "flowop/pseudo_ops.h"
#include "flowop/copy_modes.h"
#include "plan/ir.h"
#include "plan/lower_priv.h"
#include "plan/notes.h"
#include "plan/shape.h"
#include "plan/plan.h"
#include "plan/public_check.h"
#include "transport/preamble.h"

/* One side: the master, or the mirror on one host. */
struct side {
	bool master;
	uint32_t host; /* of the ir; NM_NO_HOST for the master */
};

static bool has_part(const struct nm_ir_group *group, const struct nm_ir_transaction *t,
		     const struct side *side)
{
	NM_EACH_STEP(step, group, t)
		if (nm_ir_has_conn(step) && step->host == side->host)
			return true;
	return false;
}

/* Whether the step is part of the side's program; the transaction is, already. */
static bool belongs(const struct nm_ir_step *step, const struct side *side)
{
	if (step->op->runs_on && !step->op->runs_on(step->opts, side->master))
		return false;
	if (step->common->count == 0)
		return false;
	if (side->master)
		return true;
	bool elsewhere =
		step->host != side->host && (nm_ir_has_conn(step) || step->host != NM_NO_HOST);

	return step->op->mirror_op && !elsewhere;
}

/* How long a leader waits for an answer that may be lost, when the profile does not say. */
#define ANSWER_NS 1000000000u

static bool is_lossy(const struct nm_ir_step *step)
{
	return step->lossy || (step->transport && !(step->transport->caps & NM_TRANSPORT_RELIABLE));
}

/* How often a step is done in each pass. */
static uint64_t times(const struct nm_ir_step *step, const struct nm_instr *instr)
{
	const struct nm_common_opts *common = step->common;

	if (step->unrolled)
		return 1;
	if (!nm_ir_moves_messages(step))
		return common->count;
	return common->count * common->repeat * (instr->datagram.batch ? 1 : common->batch);
}

/* How many messages one call is to move; 0: one. An answer is taken alone: it may be late. */
static uint32_t batch_of(const struct nm_ir_step *step, const struct nm_instr *instr)
{
	bool plain = is_lossy(step) && (instr->op->flags & NM_FLOWOP_MOVES) &&
		     !step->transport->send && !step->transport->recv;

	if (!plain || instr->datagram.is_reply || (instr->pass.drains && step->law))
		return 0;
	if (step->law)
		return step->common->batch == 1 && (instr->op->flags & NM_FLOWOP_FOLLOWS);
	return (uint32_t)step->common->batch;
}

/* Whether the profile says from where the connection comes. */
static bool names_source(const struct nm_ir_step *step)
{
	const struct nm_transport_socket *socket = step->transport->socket;
	struct nm_addr named;

	return socket && socket->source && socket->source(step->transport_opts, 0, &named);
}

/* Whether a connection has to name its flow and prove it: when its listener serves several flows,
 * and it matters which; when its source may not be its host's known one; and wherever that costs no
 * measured pass anything. */
static bool has_preamble(const struct nm_group *group, const struct nm_phase *phase,
			 const struct nm_ir_step *step)
{
	const struct nm_opts_open *opts = step->opts;

	if (!step->transport ||
	    !(step->transport->preamble || (step->transport->caps & NM_TRANSPORT_MUX)))
		return false;
	if (nm_ir_is_to_server(step) || nm_ir_is_public(step))
		return false;
	if (step->transport->caps & (NM_TRANSPORT_MUX | NM_TRANSPORT_PREAMBLE))
		return true;
	return opts->port || nm_has_data_host(opts) || step->transport->datagram ||
	       group->needs_identity || !nm_phase_has_times(phase) || names_source(step);
}

/* How many bytes beyond the message a read may take. */
static uint32_t ahead_of(const struct nm_group *group, const struct nm_ir_step *step,
			 const struct side *side)
{
	uint64_t rsize = step->rsize < group->messages.chunk_bytes ? step->rsize
								   : group->messages.chunk_bytes;

	/* A read must not take bytes beyond the message that stands before a file. */
	if (!side->master && group->messages.moves_files)
		return 0;
	return !side->master && rsize > step->size ? (uint32_t)(rsize - step->size) : 1;
}

/* The step that options of the flowop ask for, or the usual one. */
static nm_step_fn step_of(const struct nm_ir_step *step, const struct nm_flowop *op,
			  const void *opts)
{
	if (op == &nm_flowop_serve && step->op == op)
		return is_lossy(step) ? nm_serve_messages_step
				      : nm_serve_all_step(opts, step->ask.faults);
	if (is_lossy(step) && op->lossy_step)
		return op->lossy_step;
	if (nm_ir_is_public(step))
		return nm_accept_any_step;
	if (op == &nm_flowop_connect && nm_lives(opts))
		return nm_living_step;
	if (op == &nm_flowop_connect && nm_ir_is_to_server(step) && nm_greets(opts))
		return nm_greet_step;
	if (!nm_flowop_moves_message(op) || !step->transport ||
	    !(step->transport->caps & NM_TRANSPORT_TCP))
		return op->step;
	nm_step_fn copying = nm_copy_modes_step(opts, op->flags & NM_FLOWOP_INITIATES);

	return copying ? copying : op->step;
}

static struct nm_instr instr_of(const struct nm_group *group, const struct nm_phase *phase,
				const struct nm_ir_step *step, const struct side *side)
{
	const struct nm_flowop *op = side->master ? step->op : step->op->mirror_op;
	bool direct = step->transport && !step->transport->send && !step->transport->recv &&
		      !(step->transport->caps & NM_TRANSPORT_MESSAGES);
	bool opens = op->flags & NM_FLOWOP_OPENS;
	bool whole = nm_flowop_moves_message(op) && !step->law &&
		     step->size <= group->messages.chunk_bytes;
	uint32_t ahead = op->flags & NM_FLOWOP_FOLLOWS ? ahead_of(group, step, side) : 0;

	const void *opts = side->master ? step->opts : step->mirror_opts;

	return (struct nm_instr){.step = step_of(step, op, opts),
				 .size = step->size,
				 .timeout_ns = step->common->timeout_ns,
				 .message.opts = step->message.opts,
				 .can_fail = step->common->can_fail,
				 .slot = step->slot,
				 .stride = step->stride,
				 .opts = opts,
				 .open.transport_opts = side->master ? step->transport_opts
								     : step->mirror_transport_opts,
				 .lossy = is_lossy(step),
				 .op = op,
				 .transport = nm_ir_has_conn(step) ? step->transport : NULL,
				 .opening = step->opening,
				 .ask.app = step->ask.app,
				 .open.port = opens ? nm_ir_port(step) : 0,
				 .open.has_preamble = opens && has_preamble(group, phase, step),
				 .host = side->master && nm_ir_has_conn(step) ? step->host : 0,
				 .message.law = step->law,
				 .message.files = side->master ? step->files : NULL,
				 .site = step->site.site,
				 .pass.site = step->site.own_site,
				 .ahead = ahead,
				 .single_call = whole && direct && !group->messages.gives_up &&
						(ahead == 1 || (op->flags & NM_FLOWOP_INITIATES)),
				 .line = step->line};
}

/* Whether there is no other end that counts the same bytes. */
static bool is_unmatched(const struct nm_ir_step *step)
{
	if (step->op->flags & NM_FLOWOP_OPENS)
		return nm_ir_is_to_server(step) && nm_greets(step->opts);
	return (step->op->flags & (NM_FLOWOP_MOVES | NM_FLOWOP_ASKS)) &&
	       (!step->op->mirror_op || (step->transport->caps & NM_TRANSPORT_NO_PEER) ||
		nm_ir_is_to_server(step->opened) || nm_ir_is_public(step->opened));
}

/* The connection that is selected when the next instruction is emitted. */
struct selected {
	bool known;
	uint32_t slot;
	int32_t stride;
};

/* Where flows have several connections, each step selects the one that it means, unless that one is
 * selected already. */
static void emit_select(struct nm_group *group, const struct nm_phase *phase,
			const struct nm_ir_step *step, struct selected *selected)
{
	if (group->n_conns == 1 || !nm_ir_has_conn(step) || phase->pipeline)
		return;
	if (selected->known && selected->slot == step->slot && selected->stride == step->stride)
		return;
	*selected = (struct selected){.known = true, .slot = step->slot, .stride = step->stride};
	group->instrs[group->n_instrs++] = (struct nm_instr){.step = nm_pseudo_select.step,
							     .op = &nm_pseudo_select,
							     .count = phase->iterations,
							     .slot = step->slot,
							     .stride = step->stride,
							     .line = step->line};
}

/* The cause of the message that a read of the leader waits for, where messages may be lost. */
enum cause {
	CAUSE_NONE,    /* the other end sends by itself */
	CAUSE_WRITES,  /* writes before the read, in the same pass */
	CAUSE_OPENING, /* the opening of the connection, in the same pass */
};

static enum cause cause_of(const struct nm_group *group, const struct nm_phase *phase)
{
	const struct nm_instr *read = &group->instrs[group->n_instrs - 1];

	for (const struct nm_instr *i = read - 1; i >= &group->instrs[phase->first]; i--) {
		if (i->slot != read->slot || !(i->op->flags & NM_FLOWOP_INITIATES))
			continue;
		if (i->op->flags & NM_FLOWOP_MOVES)
			return CAUSE_WRITES;
		if (i->op->flags & NM_FLOWOP_OPENS)
			return CAUSE_OPENING;
	}
	return CAUSE_NONE;
}

/* Datagrams; over TCP that is a step of its own. */
static bool sends_zerocopy(const struct nm_instr *instr)
{
	const struct nm_opts_message *opts = instr->opts;

	return nm_flowop_sends_message(instr->op) && opts->zerocopy && instr->lossy &&
	       (instr->transport->caps & NM_TRANSPORT_UDP);
}

static bool is_mapped(const struct nm_instr *instr)
{
	const struct nm_opts_message *opts = instr->opts;

	return nm_flowop_moves_message(instr->op) && opts->rx_zerocopy &&
	       (instr->transport->caps & NM_TRANSPORT_TCP);
}

/* Whether the passes of an end that follows begin with the read. */
static bool awaits(const struct nm_group *group, const struct nm_phase *phase,
		   const struct nm_instr *read)
{
	bool by_master = phase->leader == NM_NO_HOST;

	if (phase->leads || (read->op->flags & NM_FLOWOP_FILES) ||
	    !nm_flowop_awaits_bytes(read->op) || (!by_master && read->host != phase->leader))
		return false;
	for (const struct nm_instr *i = &group->instrs[phase->first]; i < read; i++)
		if (nm_flowop_awaits_bytes(i->op) && (by_master || i->host == phase->leader))
			return false;
	return true;
}

/* Whether this end has sent something, or may have, since it last read from the connection. */
static bool has_sent_last(const struct nm_group *group, const struct nm_phase *phase,
			  const struct nm_instr *close)
{
	if (nm_phase_mixes(group, phase))
		return true;
	for (const struct nm_instr *i = close - 1; i >= &group->instrs[phase->first]; i--)
		if ((i->op->flags & NM_FLOWOP_MOVES) && i->slot == close->slot)
			return i->can_fail || !(i->op->flags & NM_FLOWOP_FOLLOWS) ||
			       (i->op->flags & NM_FLOWOP_BOTH);
	return true;
}

/* Whether the profile says which answers are refusals, of which the other end does not know. */
static bool expects(const struct nm_ir_step *step)
{
	const struct nm_opts_ask *opts = step->opts;

	return step->op->verb == NM_VERB_HTTP && opts->expect && *opts->expect;
}

/* What asks or serves needs more than its options. */
static void complete_ask(struct nm_group *group, struct nm_phase *phase,
			 const struct nm_ir_step *step, const struct side *side,
			 struct nm_instr *instr)
{
	const struct nm_app *app = step->ask.app;
	const bool asks = side->master && step->op != &nm_flowop_serve;
	size_t bytes = asks ? nm_ask_bytes(instr->site)
			    : nm_serve_bytes(app->answer_bytes + (app->echoes ? step->size : 0));

	instr->opening = step->opened->opening;
	instr->ask = step->ask;
	instr->ask.lives = nm_lives(step->opened->opts);
	group->batches |= asks && instr->ask.batch;
	phase->anew.lives |= instr->ask.lives;
	phase->counts.expects |= asks && expects(step);
	group->app_bytes = bytes > group->app_bytes ? bytes : group->app_bytes;
	/* The limit is that of an answer; when the next request comes is the client's choice. */
	if (!asks)
		instr->timeout_ns = 0;
	else if (instr->lossy && !instr->timeout_ns)
		instr->timeout_ns = ANSWER_NS;
}

/* Without a limit a flow that may try again would wait for one attempt until nothing moves. */
static void limit_attempt(struct nm_instr *connect)
{
	const struct nm_opts_open *opts = connect->opts;

	if (!connect->timeout_ns)
		connect->timeout_ns =
			opts->reconnect_ns < NM_ATTEMPT_NS ? opts->reconnect_ns : NM_ATTEMPT_NS;
}

static void emit_step(struct nm_group *group, struct nm_phase *phase, const struct nm_ir_step *step,
		      const struct side *side, bool free)
{
	struct nm_instr *instr = &group->instrs[group->n_instrs++];

	*instr = instr_of(group, phase, step, side);
	instr->pass.drains = free;
	if (nm_flowop_awaits_bytes(instr->op) && instr->lossy && phase->leads) {
		enum cause cause = cause_of(group, phase);

		instr->datagram.is_reply = cause == CAUSE_WRITES;
		if (cause != CAUSE_NONE && !instr->timeout_ns)
			instr->timeout_ns = ANSWER_NS;
	}
	if (nm_instr_is_to_server(instr))
		limit_attempt(instr);
	instr->datagram.batch = batch_of(step, instr);
	group->messages.moves_datagrams |= is_lossy(step) && !step->transport->recv;
	instr->datagram.zerocopy = sends_zerocopy(instr);
	group->messages.sends_zerocopy |= instr->datagram.zerocopy;
	group->messages.maps |= is_mapped(instr);
	instr->pass.sent_last =
		(instr->op->flags & NM_FLOWOP_CLOSES) && has_sent_last(group, phase, instr);
	uint64_t count = times(step, instr);

	if (group->messages.gives_up && !instr->lossy && (instr->op->flags & NM_FLOWOP_MOVES)) {
		instr->carried_step = instr->step;
		instr->step = nm_abandoning_step;
		instr->pass.is_first = awaits(group, phase, instr);
	}
	if (instr->open.has_preamble && instr->transport->datagram &&
	    (instr->op->flags & NM_FLOWOP_INITIATES)) {
		/* The step's own limit ends the repetitions of its preamble. */
		instr->open.preamble_ns =
			instr->timeout_ns ? instr->timeout_ns : NM_PREAMBLE_LIMIT_NS;
		instr->timeout_ns = 0;
	}
	if ((instr->step == nm_greet_step || instr->step == nm_living_step) &&
	    group->app_bytes < nm_ask_bytes(0))
		group->app_bytes = nm_ask_bytes(0);
	if (instr->op->flags & NM_FLOWOP_ASKS)
		complete_ask(group, phase, step, side, instr);
	phase->counts.reliable &= !instr->lossy;
	phase->counts.can_fail |= instr->can_fail;
	phase->counts.unmatched |= side->master && is_unmatched(step);
	if ((instr->op->flags & NM_FLOWOP_MOVES) && (instr->op->flags & NM_FLOWOP_INITIATES))
		phase->counts.bytes_sent +=
			instr->size * count * (instr->datagram.batch + !instr->datagram.batch);
	const struct nm_flowop *repeat =
		step->in.sequence ? &nm_pseudo_repeat_in_round : &nm_pseudo_repeat;

	if (count > 1)
		group->instrs[group->n_instrs++] = (struct nm_instr){
			.step = repeat->step, .op = repeat, .count = count, .line = step->line};
}

/* Centuries are as good as for ever, and can still be added to. */
static void add_wait(uint64_t *to_ns, uint64_t wait_ns)
{
	const uint64_t most = NM_PLAN_MAX_WAIT_NS;

	*to_ns = wait_ns < most - *to_ns ? *to_ns + wait_ns : most;
}

/* With one socket for several peers, the end that accepts has another transport than the one that
 * connects. */
static struct nm_ir_step of_side(const struct nm_ir_step *step, const struct side *side)
{
	struct nm_ir_step own = *step;
	const struct nm_ir_step *opener = step->op->flags & NM_FLOWOP_OPENS ? step : step->opened;
	bool connects_here = opener && side->master == !!(opener->op->flags & NM_FLOWOP_INITIATES);

	if (opener && opener->transport && !connects_here)
		own.transport = nm_transport_accepting(opener->transport, opener->transport_opts);
	return own;
}

/* SO_RCVLOWAT while a step is the only one of its transaction; 0: as the connections have it. Data
 * that come slowly, at a rate, are to be seen in each interval. */
static int rcvlowat_of(const struct nm_ir_transaction *t, const struct nm_ir_step *step,
		       const struct side *side)
{
	const struct nm_flowop *op = side->master ? step->op : step->op->mirror_op;

	if (!op || !nm_flowop_awaits_bytes(op) || t->attrs.rate_per_s > 0 || t->arrivals.law)
		return 0;
	return (int)nm_ir_rcvlowat(t, step);
}

/* Messages without an answer tell when they were sent. */
static void date_messages(struct nm_group *group, const struct nm_phase *phase)
{
	struct nm_instr *end = &group->instrs[group->n_instrs];
	bool reads = false;

	for (struct nm_instr *i = &group->instrs[phase->first]; i < end; i++)
		reads |= i->lossy && (i->op->flags & NM_FLOWOP_FOLLOWS);
	for (struct nm_instr *i = &group->instrs[phase->first]; i < end; i++)
		i->datagram.timestamped = !reads && i->lossy;
}

/* The last phase of solitary flows before the group's latest one. */
static uint32_t probe_before(const struct nm_group *group)
{
	uint32_t k = group->n_phases - 1;

	while (k && group->phases[k].flows.ideal.kind != NM_IDEAL_PROBE)
		k--;
	return k;
}

static void emit_phase(const struct nm_ir_group *from, const struct nm_ir_transaction *t,
		       const struct side *side, struct nm_group *group)
{
	struct nm_phase *phase = &group->phases[group->n_phases++];
	uint32_t leader = nm_ir_leader(from, t);
	bool skipped = nm_ir_is_skipped(t);

	phase->line = t->line;
	phase->iterations = t->has_duration ? 0 : t->attrs.iterations;
	phase->duration_ns = t->has_duration ? t->attrs.duration_ns : 0;
	phase->total = t->attrs.total;
	phase->flows.solitary = t->ideal.kind == NM_IDEAL_PROBE;
	phase->rate_per_s = t->attrs.rate_per_s;
	if (!skipped)
		phase->arrivals = t->arrivals;
	phase->measured = t->measured;
	phase->waits.until = t->until;
	phase->first = group->n_instrs;
	phase->counts.reliable = true;
	phase->empty = skipped || (!side->master && !has_part(from, t, side));
	phase->open_sender = nm_ir_is_open_sender(from, t, side->host);
	phase->leads = leader == side->host || phase->open_sender;
	phase->leader = side->master ? leader : NM_NO_HOST;
	if (phase->leads && !phase->empty && t->attrs.pipeline > 1)
		phase->pipeline = (uint32_t)t->attrs.pipeline;
	struct selected selected = {.known = false};
	struct nm_mix_lowering mixing = {.member = 0};

	for (size_t i = 0; !phase->empty && i < t->n_steps; i++) {
		const struct nm_ir_step *step = &from->steps[t->first + i];

		add_wait(&phase->waits.think_ns, nm_ir_wait_ns(step));
		add_wait(&phase->waits.all_ns, nm_ir_wait_ns(step));
		add_wait(&phase->waits.all_ns, step->common->timeout_ns);
		phase->waits.is_public |= nm_ir_is_public(step);
		phase->counts.may_lose |= is_lossy(step) || step->common->can_fail;
		phase->drains |= side->master && nm_ir_is_open_sender(from, t, step->host);
		if (nm_mix_lower(&mixing, from, step, group))
			selected.known = false;
		if (!belongs(step, side))
			continue;
		struct nm_ir_step own = of_side(step, side);

		phase->rcvlowat = rcvlowat_of(t, step, side);
		emit_select(group, phase, &own, &selected);
		emit_step(group, phase, &own, side,
			  side->master && nm_ir_is_open_sender(from, t, step->host));
		if (phase->flows.solitary && step == t->flow)
			group->instrs[group->n_instrs - 1].message.in_order =
				(uint32_t)t->attrs.total;
		if (side->master && step == t->flow) {
			phase->flows.ideal = t->ideal;
			phase->flows.instr = group->n_instrs - 1;
			phase->flows.probe = probe_before(group);
		}
	}
	(void)nm_mix_lower(&mixing, from, NULL, group);
	if (phase->waits.is_public) /* as long as nobody comes */
		add_wait(&phase->waits.all_ns,
			 t->has_duration ? phase->duration_ns : NM_PLAN_MAX_WAIT_NS);
	date_messages(group, phase);
	if (phase->pipeline)
		nm_pipeline_lower(group, from, t, phase);
	phase->n_instrs = group->n_instrs - phase->first;
	nm_phase_note(group, from, phase);
	group->instrs[group->n_instrs++] = (struct nm_instr){.line = t->line};
	group->runs |= !phase->empty;
}

static void add_host(struct nm_group *group, uint32_t host)
{
	for (uint32_t i = 0; i < group->n_hosts; i++)
		if (group->hosts[i] == host)
			return;
	group->hosts[group->n_hosts++] = host;
}

static bool gives_up(const struct nm_ir_group *group)
{
	for (size_t i = 0; i < group->n_steps; i++)
		if (group->steps[i].common->can_fail && group->steps[i].common->timeout_ns)
			return true;
	return false;
}

static bool moves_files(const struct nm_ir_group *group, const struct side *side)
{
	for (size_t i = 0; i < group->n_steps; i++)
		if ((group->steps[i].op->flags & NM_FLOWOP_FILES) &&
		    (side->master || group->steps[i].host == side->host))
			return true;
	return false;
}

/* Whether both ends of a connection must know the flow: they draw sizes alike, or it depends on the
 * flow how many passes there are. */
static bool depends_on_flows(const struct nm_ir_group *group)
{
	for (size_t i = 0; i < group->n_sequences; i++)
		if (group->sequences[i].count->min < group->sequences[i].count->max)
			return true;
	for (size_t i = 0; i < group->n_steps; i++)
		if (group->steps[i].ask.fills ||
		    (group->steps[i].law && !(group->steps[i].op->flags & NM_FLOWOP_ASKS)))
			return true;
	return group->n_mixes > 0;
}

static int name_group(struct nm_group *group, const struct nm_ir_group *from, uint32_t number)
{
	char name[32];

	snprintf(name, sizeof name, "Group%u", number);
	group->name = strdup(from->attrs.name ? from->attrs.name : name);
	if (!group->name)
		return -ENOMEM;
	for (uint32_t i = 0; i < group->n_phases; i++) {
		const char *given = from->transactions[i].attrs.name;

		group->phases[i].name = strdup(given ? given : "");
		if (!group->phases[i].name)
			return -ENOMEM;
	}
	return 0;
}

static int emit_group(const struct nm_ir *ir, uint32_t number, const struct side *side,
		      struct nm_group *group)
{
	const struct nm_ir_group *from = &ir->groups[number];

	group->line = from->line;
	group->n_workers = (uint32_t)from->attrs.workers;
	group->processes = side->master && from->attrs.nprocs;
	group->posts = from->attrs.engine == NM_ENGINE_IO_URING;
	group->spins = from->attrs.wait == NM_WAIT_SPIN;
	group->awake = from->attrs.wait == NM_WAIT_AWAKE;
	group->opens_fast = from->opens_fast;
	group->max_events = (int)from->attrs.maxevents;
	group->level_triggered = !from->attrs.edge_trigger;
	group->n_flows = (uint32_t)from->attrs.nflows;
	group->n_openings = from->n_openings;
	group->n_conns = from->n_conns ? from->n_conns : 1;
	group->messages.chunk_bytes = nm_chunk_of(from);
	/* All connections of a flow must end at one flow. */
	group->needs_identity =
		(group->n_conns > 1 || depends_on_flows(from)) && group->n_flows > group->n_workers;
	group->phases = calloc(from->n_transactions + 1, sizeof(*group->phases));
	/* Each step may need a pseudo-operation before it and one behind it; mixes and sequences:
	 * nm_mix_lower. */
	group->instrs = calloc(3 * from->n_steps + 2 * from->n_members + from->n_sequences +
				       2 * from->n_transactions + 1,
			       sizeof(*group->instrs));
	group->hosts = calloc(ir->n_hosts + 1, sizeof(*group->hosts));
	if (!group->phases || !group->instrs || !group->hosts)
		return -ENOMEM;
	group->messages.moves_files = moves_files(from, side);
	group->messages.gives_up = gives_up(from);
	for (size_t k = 0; k < from->n_transactions; k++)
		emit_phase(from, &from->transactions[k], side, group);
	nm_group_find_shapes(group, side->master);
	for (size_t i = 0; i < from->n_steps; i++) {
		if (from->steps[i].host == NM_NO_HOST)
			continue;
		if (side->master)
			add_host(group, from->steps[i].host);
		else if (from->steps[i].host == side->host)
			add_host(group, 0);
	}
	return name_group(group, from, number);
}

static int emit_hosts(const struct nm_ir *ir, const struct side *side, struct nm_plan *plan)
{
	uint32_t count = side->master ? ir->n_hosts : 1;

	plan->hosts = calloc(count + 1, sizeof(*plan->hosts));
	for (uint32_t h = 0; plan->hosts && h < count; h++) {
		plan->hosts[h] = strdup(side->master ? ir->hosts[h] : "master");
		if (!plan->hosts[h])
			return -ENOMEM;
		plan->n_hosts++;
	}
	return plan->hosts ? 0 : -ENOMEM;
}

int nm_ir_lower(const struct nm_ir *ir, uint32_t host, struct nm_plan *plan)
{
	struct side side = {.master = host == NM_NO_HOST, .host = host};

	plan->master = side.master;
	plan->name = strdup(ir->attrs.name ? ir->attrs.name : "");
	plan->throughput = (enum nm_throughput)ir->attrs.throughput;
	plan->groups = calloc(ir->n_groups + 1, sizeof(*plan->groups));
	if (!plan->name || !plan->groups)
		return -ENOMEM;
	int r = emit_hosts(ir, &side, plan);

	for (uint32_t g = 0; r == 0 && g < ir->n_groups; g++) {
		plan->n_groups = g + 1;
		r = emit_group(ir, g, &side, &plan->groups[g]);
		if (plan->groups[g].n_phases > plan->n_phases)
			plan->n_phases = plan->groups[g].n_phases;
	}
	return r == 0 ? nm_plan_number_verbs(plan) : r;
}
