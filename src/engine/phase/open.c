/* SPDX-License-Identifier: Apache-2.0 */
/* Open arrivals: which flow makes the pass that is due. */
#include "engine/phase/open.h"

#include "base/rng.h"
#include "engine/engine_priv.h"
#include "engine/tune.h"
#include "flowop/pipeline.h"

/* How many passes may wait with this worker. */
static uint32_t queue_of(const struct nm_worker *worker, const struct nm_phase *phase)
{
	uint32_t n_workers = worker->group->n_workers;

	return phase->arrivals.backlog.queue / n_workers +
	       (worker->worker_no < phase->arrivals.backlog.queue % n_workers);
}

int nm_open_init(struct nm_worker *worker)
{
	const struct nm_group *group = worker->group;
	uint32_t most = 0, depth = 1;
	size_t room = 0;

	for (uint32_t k = 0; k < group->n_phases; k++) {
		const struct nm_phase *phase = &group->phases[k];

		if (!nm_phase_is_open(phase))
			continue;
		if (phase->arrivals.n_lanes > most)
			most = phase->arrivals.n_lanes;
		if (phase->arrivals.backlog.limited && queue_of(worker, phase) >= room)
			room = queue_of(worker, phase) + (size_t)1;
		if (phase->pipeline > depth)
			depth = phase->pipeline;
	}
	/* What the flows are about to take waits, too. */
	if (room)
		room += (size_t)worker->n_flows * depth;
	if (room && nm_backlog_init(&worker->run.open.backlog, room) < 0)
		return -ENOMEM;
	return most ? nm_schedule_init(&worker->run.open.schedule, worker->worker_no,
				       group->n_workers, most)
		    : 0;
}

void nm_open_fini(struct nm_open *open)
{
	nm_schedule_fini(&open->schedule);
	nm_backlog_fini(&open->backlog);
}

/* What random numbers of arrivals are for. Those of flows have the numbers of flows here, of 32
 * bits. */
enum nm_purpose { NM_PURPOSE_DRAWS, NM_PURPOSE_TIMES };

/* The key of the arrivals of the present phase. Transactions that are measured are numbered for
 * themselves, so that a warm-up before them, or what else is not measured, changes none. */
static uint64_t key_of(const struct nm_worker *worker, enum nm_purpose purpose)
{
	const struct nm_phase *phase = worker->run.phase, *phases = worker->group->phases;
	uint64_t number = 0;

	for (uint32_t k = 0; k < worker->run.number; k++)
		number += nm_phase_is_open(&phases[k]) && phases[k].measured == phase->measured;
	return nm_rng(nm_rng(worker->io.seed, UINT64_MAX - purpose),
		      phase->measured ? number : UINT64_MAX - number);
}

void nm_open_begin(struct nm_worker *worker)
{
	const struct nm_phase *phase = worker->run.phase;
	struct nm_open *open = &worker->run.open;
	const struct nm_backlog_rules *rules = &phase->arrivals.backlog;
	uint64_t begin_ns = worker->commands.begin_ns;

	*open = (struct nm_open){.schedule = open->schedule,
				 .backlog = {.ring = open->backlog.ring,
					     .room = open->backlog.room,
					     .most = queue_of(worker, phase),
					     .on = rules->limited},
				 .on = nm_phase_is_open(phase),
				 .drops = rules->limited || rules->late_ns,
				 .begin_ns = begin_ns,
				 .last_ns = begin_ns + phase->duration_ns,
				 .drain_ns = begin_ns + phase->duration_ns + rules->drain_ns};
	if (!open->on)
		return;
	open->due = (struct nm_due){.arrivals = &phase->arrivals,
				    .begin_ns = begin_ns,
				    .from_ns = begin_ns,
				    .to_ns = open->last_ns,
				    .parts = worker->stats[worker->run.number].parts,
				    .n_parts = worker->stats[worker->run.number].n_parts};
	if (phase->measured) {
		open->due.from_ns += worker->engine->edges_ns[0];
		open->due.to_ns -= worker->engine->edges_ns[1];
	}
	worker->io.apps.draws = key_of(worker, NM_PURPOSE_DRAWS);
	worker->io.apps.sums_load = phase->measured;
	nm_schedule_begin(&open->schedule, &phase->arrivals, key_of(worker, NM_PURPOSE_TIMES));
}

/* When the next pass is due; UINT64_MAX: none is any more. */
static uint64_t due_ns(const struct nm_open *open)
{
	double at_ns = nm_schedule_at_ns(&open->schedule);

	if (open->backlog.count)
		return open->begin_ns + nm_backlog_head(&open->backlog).at_ns;
	return at_ns < (double)(open->last_ns - open->begin_ns) ? open->begin_ns + (uint64_t)at_ns
								: UINT64_MAX;
}

/* The pass that is due next is made, or dropped. */
static void step(struct nm_open *open)
{
	if (open->backlog.count)
		nm_backlog_step(&open->backlog);
	else
		nm_schedule_step(&open->schedule);
}

/* How many passes the flow can begin beside those that it makes: of those that make several. */
static uint32_t places_of(const struct nm_worker *worker, struct nm_flow *flow)
{
	return worker->run.phase->pipeline - nm_pipe_of(&worker->io, flow)->outstanding;
}

/* Of all that flows on the list can begin, this one has so many. */
static void set_room(struct nm_worker *worker, struct nm_pipe *pipe, uint32_t room)
{
	worker->run.open.room += room - pipe->room;
	pipe->room = room;
}

/* Whether most flows have no connection: it is being opened anew, or was given up. */
static bool is_unconnected(const struct nm_worker *worker)
{
	uint32_t count = 0;

	for (uint32_t i = 0; worker->reconnect.openings && i < worker->n_flows; i++) {
		const struct nm_flow *flow = nm_worker_flow(worker, i);

		count += nm_is_reopening(worker, flow->at) || flow->conn->flags == NM_CONN_HUP;
	}
	return 2 * count > worker->n_flows;
}

/* Passes that never begin. Where that may be for want of connections it is looked at, once some do
 * not. */
struct never {
	bool may_starve, looked, starve;
};

/* So many that were due at at_ns, for the reason that has this counter. */
static void count_never(struct nm_worker *worker, struct never *never, uint64_t at_ns,
			size_t counter, uint64_t n)
{
	struct nm_counters *count = nm_due_counters(&worker->run.open.due, worker->io.count, at_ns);

	if (!n)
		return;
	if (never->may_starve && !never->looked) {
		never->looked = true;
		never->starve = is_unconnected(worker);
	}
	nm_counter_add((_Atomic uint64_t *)(void *)((char *)count + counter), n);
	nm_counter_add(&count->starved, never->starve ? n : 0);
}

/* What has become due by now_ns waits for a flow, or is dropped. So many passes can begin at once,
 * beside those of flows on the list. */
static void admit(struct nm_worker *worker, uint64_t now_ns, uint32_t room, struct never *never)
{
	struct nm_open *open = &worker->run.open;
	uint64_t to_ns = now_ns < open->last_ns ? now_ns + 1 : open->last_ns, edge_ns;

	if (!open->backlog.on || to_ns <= open->begin_ns)
		return;
	do {
		uint64_t at_ns = open->begin_ns + (uint64_t)nm_schedule_at_ns(&open->schedule), n;

		edge_ns = nm_due_edge(&open->due, at_ns);
		if (edge_ns > to_ns)
			edge_ns = to_ns;
		n = nm_backlog_admit(&open->backlog, &open->schedule,
				     (double)(edge_ns - open->begin_ns), open->room + room);
		count_never(worker, never, at_ns, offsetof(struct nm_counters, dropped_queue), n);
	} while (edge_ns < to_ns &&
		 nm_schedule_at_ns(&open->schedule) >= (double)(edge_ns - open->begin_ns));
}

/* Drops what may not begin any more by the rules of the phase, where so many passes can begin
 * beside those of flows on the list. Flows may have been away at its end, and when one has come
 * back: at other times some make passes. */
static void drop(struct nm_worker *worker, uint64_t now_ns, uint32_t room, bool is_back)
{
	struct nm_open *open = &worker->run.open;
	const uint64_t late_ns = worker->run.phase->arrivals.backlog.late_ns;
	struct never never = {.may_starve = open->stopped || is_back};

	admit(worker, now_ns, room, &never);
	for (uint64_t n = 0; late_ns && n < NM_TUNE_OPEN_COUNTED; n++) {
		uint64_t at_ns = due_ns(open);

		if (at_ns >= now_ns || now_ns - at_ns <= late_ns)
			break;
		step(open);
		count_never(worker, &never, at_ns, offsetof(struct nm_counters, dropped_late), 1);
	}
}

/* Arrivals that are skipped, to the end. Once they are too many to be counted one by one they are
 * reckoned from where the schedule stands then. */
struct skipped {
	uint64_t countable, reckoned;
};

/* How many are due before at_ns, and after what was skipped before. */
static uint64_t skip(struct nm_open *open, uint64_t at_ns, struct skipped *skipped)
{
	const uint64_t n = nm_schedule_skip(&open->schedule, (double)(at_ns - open->begin_ns),
					    skipped->countable);
	const uint64_t counted = n < skipped->countable ? n : skipped->countable;
	const uint64_t before = skipped->reckoned;

	skipped->countable -= counted;
	skipped->reckoned = n - counted;
	return n - before;
}

/* All that is due and has not begun by now never does. */
static void count_unsent(struct nm_worker *worker, uint64_t now_ns)
{
	struct nm_open *open = &worker->run.open;
	struct never never = {.may_starve = true};
	struct skipped skipped = {.countable = NM_TUNE_OPEN_COUNTED};
	uint64_t at_ns, edge_ns;
	/* What was too much to be let in at once came to a full queue. */
	const size_t counter = open->backlog.on ? offsetof(struct nm_counters, dropped_queue)
						: offsetof(struct nm_counters, unsent);

	if (open->closed)
		return;
	open->closed = true;
	if (open->drops)
		drop(worker, now_ns, 0, false);
	while (open->backlog.count) {
		count_never(worker, &never, due_ns(open), offsetof(struct nm_counters, unsent), 1);
		step(open);
	}
	for (at_ns = due_ns(open); at_ns < open->last_ns;
	     at_ns = skipped.reckoned ? edge_ns : due_ns(open)) {
		edge_ns = nm_due_edge(&open->due, at_ns);
		if (edge_ns > open->last_ns)
			edge_ns = open->last_ns;
		count_never(worker, &never, at_ns, counter, skip(open, edge_ns, &skipped));
	}
}

void nm_open_reconnected(struct nm_worker *worker, uint64_t now_ns)
{
	if (!worker->run.open.closed)
		drop(worker, now_ns, 0, true);
}

void nm_open_look(struct nm_worker *worker, uint64_t now_ns)
{
	const struct nm_open *open = &worker->run.open;

	/* Flows with room that have their turn next take by themselves what is due. */
	if (open->first || !open->drops || open->closed ||
	    (worker->run.phase->pipeline && worker->runq.first))
		return;
	/* What waits in a queue has its place there until its turn comes. */
	if (open->backlog.on)
		admit(worker, now_ns, 0, &(struct never){.may_starve = true});
	else
		drop(worker, now_ns, 0, true);
}

/* Nothing is due from now_ns on. */
static void end_due(struct nm_open *open, uint64_t now_ns)
{
	open->last_ns = now_ns;
	open->due.to_ns = now_ns < open->due.from_ns ? open->due.from_ns
			  : now_ns < open->due.to_ns ? now_ns
						     : open->due.to_ns;
}

/* How long passes have become due in the window, and in each of its steps. */
static void count_open_time(const struct nm_worker *worker)
{
	const struct nm_due *due = &worker->run.open.due;
	const uint64_t from_ns = due->from_ns - due->begin_ns, to_ns = due->to_ns - due->begin_ns;

	if (due->n_parts <= NM_DUE_STEPS)
		nm_counter_add(&worker->io.count->open_ns, to_ns - from_ns);
	for (uint32_t i = NM_DUE_STEPS; i < due->n_parts; i++)
		nm_counter_add(
			&due->parts[i].tally.counters.open_ns,
			nm_arrivals_in_step_ns(due->arrivals, i - NM_DUE_STEPS, to_ns) -
				nm_arrivals_in_step_ns(due->arrivals, i - NM_DUE_STEPS, from_ns));
}

void nm_open_end(struct nm_worker *worker)
{
	struct nm_open *open = &worker->run.open;
	uint64_t now_ns = nm_clock_ns();

	if (!open->on)
		return;
	nm_worker_disarm(worker, &open->timer);
	if (!open->closed && now_ns < open->last_ns)
		end_due(open, now_ns);
	count_unsent(worker, now_ns);
	count_open_time(worker);
	if (worker->run.latency) /* else the ends of passes have no time */
		nm_outstanding_count(&open->outstanding, worker->io.count,
				     open->due.to_ns - open->begin_ns);
	open->on = false;
}

void nm_open_arm(struct nm_worker *worker)
{
	struct nm_open *open = &worker->run.open;
	uint64_t at_ns = open->first   ? due_ns(open)
			 : open->drops ? worker->io.now_ns + NM_TUNE_OPEN_LOOK_NS
				       : UINT64_MAX;

	if (open->stopped && open->drain_ns < at_ns)
		at_ns = open->drain_ns;
	if (at_ns == UINT64_MAX || open->closed)
		return;
	/* In this turn of the loop the timer would fire again and again. */
	if (at_ns <= worker->io.now_ns)
		at_ns = worker->io.now_ns + 1;
	if (open->timer.at_ns && open->timer.at_ns <= at_ns)
		return;
	nm_timers_remove(&worker->timers, &open->timer);
	nm_worker_arm(worker, &open->timer, NM_TIMER_ARRIVAL, at_ns);
}

/* Where a flow that has room is on queues, too, the list has a link of its own. */
static struct nm_flow **link_of(const struct nm_worker *worker, struct nm_flow *flow)
{
	return worker->run.phase->pipeline ? &nm_pipe_of(&worker->io, flow)->next_with_room
					   : &flow->next;
}

static uint64_t *free_ns_of(const struct nm_worker *worker, struct nm_flow *flow)
{
	return worker->run.phase->pipeline ? &nm_pipe_of(&worker->io, flow)->free_ns
					   : &flow->request.sent_ns;
}

/* The flow has been free by then at the latest: notes since when it has, or another that is free
 * now. Of those on the list some may be full by now. */
static uint64_t note_free(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns)
{
	struct nm_open *open = &worker->run.open;
	uint64_t *free_ns = free_ns_of(worker, flow);

	while (open->first && *free_ns_of(worker, open->first) == NM_PIPE_FULL)
		(void)nm_open_take_free(worker);
	if (*free_ns > now_ns)
		*free_ns = now_ns;
	if (open->first && *free_ns_of(worker, open->first) < *free_ns)
		*free_ns = *free_ns_of(worker, open->first);
	return *free_ns;
}

void nm_open_free(struct nm_worker *worker, struct nm_flow *flow)
{
	struct nm_open *open = &worker->run.open;

	if (worker->run.phase->pipeline) {
		struct nm_pipe *pipe = nm_pipe_of(&worker->io, flow);

		set_room(worker, pipe, places_of(worker, flow));
		if (pipe->has_room)
			return;
		pipe->has_room = true;
	} else {
		/* For what has become due until now this flow was not free. */
		admit(worker, flow->request.sent_ns, 0, &(struct never){.may_starve = false});
		flow->state = NM_FLOW_ASLEEP;
		flow->paced = true;
		open->room++;
	}
	(void)note_free(worker, flow, NM_PIPE_FULL);
	*link_of(worker, flow) = NULL;
	if (open->last)
		*link_of(worker, open->last) = flow;
	else
		open->first = flow;
	open->last = flow;
	open->n_free++;
	nm_open_arm(worker);
}

struct nm_flow *nm_open_take_free(struct nm_worker *worker)
{
	struct nm_open *open = &worker->run.open;
	struct nm_flow *flow = open->first;

	if (!flow)
		return NULL;
	open->first = *link_of(worker, flow);
	if (!open->first)
		open->last = NULL;
	open->n_free--;
	*link_of(worker, flow) = NULL;
	if (worker->run.phase->pipeline) {
		nm_pipe_of(&worker->io, flow)->has_room = false;
		set_room(worker, nm_pipe_of(&worker->io, flow), 0);
	} else {
		flow->paced = false;
		open->room--;
	}
	return flow;
}

static bool is_due(struct nm_worker *worker, uint64_t now_ns, uint32_t room)
{
	struct nm_open *open = &worker->run.open;

	if (open->closed)
		return false;
	if (open->drops)
		drop(worker, now_ns, room, false);
	return due_ns(open) <= now_ns;
}

bool nm_open_is_due(struct nm_worker *worker, uint64_t now_ns)
{
	return is_due(worker, now_ns, 0);
}

/* Whether the kernel takes no more for it now. */
static bool is_refused(const struct nm_pipe *pipe)
{
	return pipe->refused && pipe->free_ns == NM_PIPE_FULL;
}

/* How many more passes the flow can begin, where the list does not tell that. */
static uint32_t room_beside(const struct nm_worker *worker, struct nm_flow *flow)
{
	const struct nm_pipe *pipe = nm_pipe_of(&worker->io, flow);

	return pipe->has_room || is_refused(pipe) ? 0 : places_of(worker, flow);
}

bool nm_open_is_due_for(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns)
{
	(void)note_free(worker, flow, now_ns);
	if (nm_pipe_of(&worker->io, flow)->has_room)
		set_room(worker, nm_pipe_of(&worker->io, flow), places_of(worker, flow));
	return is_due(worker, now_ns, room_beside(worker, flow));
}

void nm_open_count_end(struct nm_worker *worker, const struct nm_request *request, uint64_t now_ns)
{
	struct nm_open *open = &worker->run.open;
	uint64_t begin_ns = open->begin_ns;

	if (request->marks & NM_REQUEST_OUTSIDE)
		open->beside--;
	else
		nm_outstanding_end(&open->outstanding, request, request->sent_ns - begin_ns,
				   now_ns - begin_ns, open->due.to_ns - begin_ns);
}

/* The flow has no place for a pass, or the kernel takes no more of it. */
static void leave(struct nm_worker *worker, struct nm_pipe *pipe, bool refused)
{
	pipe->free_ns = NM_PIPE_FULL;
	pipe->refused = refused;
	set_room(worker, pipe, 0);
}

void nm_open_leave(struct nm_worker *worker, struct nm_flow *flow)
{
	if (worker->run.open.on && worker->run.phase->pipeline)
		leave(worker, nm_pipe_of(&worker->io, flow), false);
}

/* Where a flow makes one pass at a time, and something comes behind what it sends, it is free only
 * after that. One that opens its connection anew has nothing to send. */
void nm_open_refused(struct nm_worker *worker, struct nm_flow *flow)
{
	const struct nm_instr *instr = flow->at;

	if (!worker->run.phase->pipeline)
		flow->request.marks |=
			nm_flowop_sends(instr->op) && !instr[1].step ? NM_REQUEST_REFUSED : 0;
	else if (places_of(worker, flow) && !nm_is_reopening(worker, instr))
		leave(worker, nm_pipe_of(&worker->io, flow), true);
}

void nm_open_end_pass(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns)
{
	struct nm_open *open = &worker->run.open;
	struct nm_pipe *pipe = nm_pipe_of(&worker->io, flow);
	const uint32_t beside = room_beside(worker, flow);

	if (!now_ns && (open->drops || pipe->free_ns == NM_PIPE_FULL))
		now_ns = nm_clock_ns();
	/* What has become due before had not its place. */
	if (open->drops && !open->closed)
		drop(worker, now_ns, beside - (beside > 0), false);
	if (is_refused(pipe))
		return;
	if (pipe->free_ns == NM_PIPE_FULL)
		(void)note_free(worker, flow, now_ns);
	if (pipe->has_room)
		set_room(worker, pipe, places_of(worker, flow));
}

/* The request is that of the present arrival, whichever flow makes it. */
static void take_arrival(struct nm_worker *worker, struct nm_request *request)
{
	const struct nm_open *open = &worker->run.open;
	uint64_t number = open->backlog.count ? nm_backlog_head(&open->backlog).number
					      : nm_schedule_number(&open->schedule);

	if (worker->io.apps.sums_load)
		nm_count_load(worker->io.count, number, due_ns(open) - open->begin_ns);
	worker->io.apps.turns.arrival = number;
	/* After so many the draws are those of before. */
	if (open->schedule.arrivals.draws)
		request->arrival = (uint32_t)(number % UINT32_MAX) + 1;
}

static void take_place(struct nm_worker *worker, struct nm_flow *flow)
{
	struct nm_pipe *pipe = nm_pipe_of(&worker->io, flow);
	const uint32_t left = places_of(worker, flow) - 1;

	if (pipe->has_room)
		set_room(worker, pipe, left);
	if (!left) {
		pipe->free_ns = NM_PIPE_FULL;
		pipe->refused = false;
	}
}

/* Why the flow was not free before it was. */
static bool was_refused(const struct nm_worker *worker, struct nm_flow *flow)
{
	return worker->run.phase->pipeline ? nm_pipe_of(&worker->io, flow)->refused
					   : flow->request.marks & NM_REQUEST_REFUSED;
}

/* Whether at most an eighth of what the flows can have under way is. */
static bool is_light(const struct nm_worker *worker)
{
	const uint32_t depth = worker->run.phase->pipeline;

	return (uint64_t)worker->run.open.outstanding.now + worker->run.open.beside <=
	       (uint64_t)worker->n_flows * (depth ? depth : 1) / 8;
}

/* A pass with such marks begins at now_ns: where it is counted. */
static struct nm_counters *begin_apart(const struct nm_due *due, uint8_t marks, uint64_t at_ns,
				       uint64_t now_ns)
{
	struct nm_due_part *part = nm_due_part(due, marks, at_ns);

	if (marks & NM_REQUEST_OF_STEP && now_ns >= nm_due_part_end_ns(due, at_ns))
		nm_counter_add(&part->overdue, 1);
	return &part->tally.counters;
}

void nm_open_begin_pass(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns)
{
	struct nm_open *open = &worker->run.open;
	struct nm_request *request = &flow->request;
	uint64_t at_ns = due_ns(open);
	const uint8_t marks = nm_due_marks(&open->due, at_ns);
	struct nm_counters *count =
		marks ? begin_apart(&open->due, marks, at_ns, now_ns) : worker->io.count;
	uint64_t free_ns = note_free(worker, flow, now_ns);
	uint64_t busy_ns = free_ns > at_ns ? free_ns - at_ns : 0;

	take_arrival(worker, request);
	step(open);
	nm_counter_add(&count->arrivals, 1);
	nm_counter_add(was_refused(worker, flow) ? &count->delay_kernel : &count->delay_busy,
		       busy_ns / NM_DELAY_STEP_NS);
	nm_counter_add(&count->delay_own, (now_ns - at_ns - busy_ns) / NM_DELAY_STEP_NS);
	if (now_ns >= open->due.to_ns)
		nm_counter_add(&count->overdue, 1);
	request->due_ns = at_ns;
	request->sent_ns = now_ns;
	if (marks & NM_REQUEST_OUTSIDE)
		open->beside++;
	else
		nm_outstanding_begin(&open->outstanding, now_ns - open->begin_ns,
				     open->due.to_ns - open->begin_ns);
	if (worker->run.phase->pipeline)
		take_place(worker, flow);
	request->marks = worker->run.marks | (is_light(worker) ? NM_REQUEST_LIGHT : 0) | marks;
}

void nm_open_stop(struct nm_worker *worker, uint64_t now_ns, bool is_interrupted)
{
	struct nm_open *open = &worker->run.open;
	bool early = !open->stopped && now_ns < open->last_ns;

	if (early) {
		open->drain_ns -= open->last_ns - now_ns;
		end_due(open, now_ns);
	}
	if ((early || is_interrupted) && now_ns + NM_TUNE_OPEN_INTERRUPT_NS < open->drain_ns)
		open->drain_ns = now_ns + NM_TUNE_OPEN_INTERRUPT_NS;
	open->stopped = true;
}

bool nm_open_close(struct nm_worker *worker, uint64_t now_ns)
{
	struct nm_open *open = &worker->run.open;

	if (open->closed || !open->stopped)
		return open->closed;
	if (open->drops)
		drop(worker, now_ns, 0, false);
	if (due_ns(open) != UINT64_MAX && now_ns < open->drain_ns)
		return false;
	count_unsent(worker, now_ns);
	return true;
}
