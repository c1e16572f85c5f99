/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a worker, all of which are allocated before it runs, and released when it has
 * ended. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "app/batch.h"
#include "base/rng.h"
#include "engine/engine_priv.h"
#include "engine/phase/reconnect.h"
#include "flowop/files.h"
#include "flowop/pipeline.h"
#include "host/busy_poll.h"
#include "plan/shape.h"
#include "transport/udp_batch.h"
#include "transport/transport.h"

#define TX_ALIGNMENT 4096u
#define STACK_SIZE   (256 * 1024)

/* Whether this end may think in the phase while nothing is on its way. */
static bool thinks(const struct nm_group *group, const struct nm_phase *phase)
{
	for (uint32_t i = phase->first; i < phase->first + phase->n_instrs; i++) {
		const struct nm_instr *instr = &group->instrs[i];

		if (instr->op && (instr->op->flags & NM_FLOWOP_THINKS) && !instr->expects_reply)
			return true;
	}
	return false;
}

/* An empty histogram; NULL when out of memory. */
static struct nm_hist *new_hist(bool shared)
{
	struct nm_hist *hist = nm_engine_alloc(sizeof(*hist), shared);

	if (hist)
		nm_hist_init_zeroed(hist);
	return hist;
}

/* Whether the worker keeps times of the phase's passes. */
static bool keeps_times(const struct nm_worker *worker, const struct nm_phase *phase)
{
	return (worker->engine->details & NM_OBSERVE_TIMES) ||
	       (worker->engine->measures && nm_phase_has_times(phase));
}

/* Where the requests of one verb are counted. */
static struct nm_verb_tally *name_verb(const struct nm_worker *worker, struct nm_tally *tally,
				       uint32_t number)
{
	tally->verbs[number].name = worker->engine->plan->verbs[number].name;
	return &tally->verbs[number];
}

/* The same of those that the instruction asks with, and their times kept. 0 or -ENOMEM. */
static int init_asked(const struct nm_worker *worker, const struct nm_instr *instr,
		      struct nm_tally *tally)
{
	struct nm_verb_tally *verb = name_verb(worker, tally, instr->ask.verb);
	const struct nm_app *app = worker->engine->plan->verbs[instr->ask.verb].app;

	verb->usual = (uint8_t)app->usual;
	verb->missed = (uint8_t)app->missed;
	for (unsigned t = 0; t < NM_TIME__SIZED; t++) {
		if (t == NM_TIME_PASS || !tally->times[t] || verb->times[t])
			continue;
		verb->times[t] =
			instr->ask.alone ? tally->times[t] : new_hist(worker->group->processes);
		if (!verb->times[t])
			return -ENOMEM;
	}
	return 0;
}

/* Nothing is counted by verbs where nothing asks, and no end that others do not count serves. */
static int init_verbs(const struct nm_worker *worker, const struct nm_phase *phase,
		      struct nm_tally *tally)
{
	const uint32_t n_verbs = worker->engine->plan->n_verbs;
	int r = 0;

	for (uint32_t i = phase->first; r == 0 && i < phase->first + phase->n_instrs; i++) {
		const struct nm_instr *instr = &worker->group->instrs[i];

		if (!nm_instr_asks(instr) || (nm_instr_serves(instr) && !instr->ask.verbs))
			continue;
		if (!tally->verbs)
			tally->verbs = nm_engine_alloc(n_verbs * sizeof(*tally->verbs),
						       worker->group->processes);
		if (!tally->verbs)
			return -ENOMEM;
		tally->n_verbs = n_verbs;
		for (unsigned v = 0; instr->ask.verbs && v < NM_VERB__COUNT; v++)
			(void)name_verb(worker, tally, instr->ask.verbs[v]);
		if (!instr->ask.verbs)
			r = init_asked(worker, instr, tally);
	}
	return r;
}

static void free_tally(struct nm_tally *tally, bool shared)
{
	for (uint32_t v = 0; v < tally->n_verbs; v++)
		for (unsigned t = 0; t < NM_TIME__SIZED; t++)
			if (tally->verbs[v].times[t] != tally->times[t])
				nm_engine_release(tally->verbs[v].times[t], sizeof(struct nm_hist),
						  shared);
	for (unsigned t = 0; t < NM_TIME__COUNT; t++)
		nm_engine_release(tally->times[t], sizeof(struct nm_hist), shared);
	nm_engine_release(tally->verbs, tally->n_verbs * sizeof(*tally->verbs), shared);
}

/* Of a part, with its distributions. */
static size_t part_bytes(const struct nm_phase_stats *stats)
{
	return sizeof *stats->parts + nm_tally_bytes(&stats->tally);
}

static void free_stats(struct nm_phase_stats *stats, bool shared)
{
	nm_engine_unmap(stats->parts, stats->n_parts * part_bytes(stats));
	free_tally(&stats->tally, shared);
}

static int init_times(const struct nm_worker *worker, const struct nm_phase *phase,
		      struct nm_tally *tally)
{
	const bool kept[NM_TIME__SIZED] = {
		[NM_TIME_LATENCY] = true,
		[NM_TIME_PASS] = thinks(worker->group, phase),
		[NM_TIME_RESPONSE] = phase->rate_per_s > 0 || nm_phase_is_open(phase),
		[NM_TIME_SEND_DELAY] = nm_phase_is_open(phase),
	};

	for (unsigned t = 0; t < NM_TIME__COUNT; t++) {
		if (t < NM_TIME__SIZED ? !kept[t] : !nm_phase_measures_flows(phase))
			continue;
		tally->times[t] = new_hist(worker->group->processes);
		if (!tally->times[t])
			return -ENOMEM;
	}
	return 0;
}

/* 0 or -ENOMEM. */
static int init_tally(const struct nm_worker *worker, const struct nm_phase *phase,
		      struct nm_tally *tally)
{
	int r = keeps_times(worker, phase) ? init_times(worker, phase, tally) : 0;

	return r == 0 ? init_verbs(worker, phase, tally) : r;
}

/* The parts of a measured phase with open arrivals, each of which keeps what the phase does: 0 or
 * -ENOMEM. There may be many of them, each with few values. */
static int init_parts(const struct nm_worker *worker, const struct nm_phase *phase,
		      struct nm_phase_stats *stats)
{
	const uint64_t *edges_ns = worker->engine->edges_ns;

	stats->n_parts = nm_due_count(&phase->arrivals, edges_ns[0] || edges_ns[1]);
	if (!stats->n_parts)
		return 0;
	stats->parts = nm_engine_map(stats->n_parts * part_bytes(stats), worker->group->processes);
	if (!stats->parts)
		return -ENOMEM;
	char *behind = (char *)&stats->parts[stats->n_parts];

	for (uint32_t i = 0; i < stats->n_parts; i++)
		nm_tally_init_like(&stats->parts[i].tally, &stats->tally,
				   behind + i * nm_tally_bytes(&stats->tally));
	return 0;
}

static int init_stats(struct nm_worker *worker)
{
	const struct nm_group *group = worker->group;
	int r = 0;

	worker->stats = nm_engine_alloc(group->n_phases * sizeof(*worker->stats), group->processes);
	if (!worker->stats)
		return -ENOMEM;
	for (uint32_t i = 0; i < group->n_phases && r == 0; i++) {
		const struct nm_phase *phase = &group->phases[i];
		struct nm_phase_stats *stats = &worker->stats[i];

		r = init_tally(worker, phase, &stats->tally);
		if (r == 0 && phase->measured && nm_phase_is_open(phase))
			r = init_parts(worker, phase, stats);
	}
	return r;
}

static int init_io(struct nm_worker *worker)
{
	const struct nm_engine_group *group = &worker->engine->groups[worker->group_no];
	struct nm_io *io = &worker->io;

	io->seed = nm_rng(worker->engine->seed, worker->group_no);
	io->chunk = worker->group->messages.chunk_bytes;

	/* Whole pages can be sent and received without a copy. */
	io->tx = aligned_alloc(TX_ALIGNMENT,
			       (io->chunk + TX_ALIGNMENT - 1) / TX_ALIGNMENT * TX_ALIGNMENT);
	io->rx = malloc(io->chunk + 1);
	if (worker->group->messages.moves_datagrams)
		io->udp_batch =
			nm_udp_batch_new(worker->group->messages.sends_zerocopy
						 ? (worker->n_flows + 1) * worker->group->n_conns
						 : 0);
	if (!io->tx || !io->rx || (worker->group->messages.moves_datagrams && !io->udp_batch))
		return -ENOMEM;
	io->recv_flags = MSG_DONTWAIT;
	io->in_kept = ~(uint32_t)NM_CONN_IN;
	io->quit = &worker->commands.quit;
	io->nonces = (const unsigned char(*)[NM_NONCE_BYTES])worker->engine->nonces;
	io->own_nonce = worker->engine->nonce;
	io->group = worker->group_no;
	io->n_conns = worker->group->n_conns;
	io->started = group->started;
	io->apps = (struct nm_io_apps){.pool = group->pool,
				       .due = &worker->run.open.due,
				       .servers = group->servers,
				       .services = group->services,
				       .n_flows = worker->group->n_flows};
	nm_rng_fill(io->tx, io->chunk);
	return 0;
}

static size_t flows_size(const struct nm_worker *worker)
{
	return (worker->n_flows + 1u) * worker->flow_bytes;
}

static int init_flows(struct nm_worker *worker)
{
	const struct nm_group *group = worker->group;

	worker->n_flows = group->n_flows / group->n_workers +
			  (worker->worker_no < group->n_flows % group->n_workers);
	worker->flow_bytes = NM_FLOW_BYTES + group->n_conns * sizeof(struct nm_conn);
	worker->io.behind.transfer_offset = worker->flow_bytes;
	if (group->messages.moves_files)
		worker->flow_bytes += sizeof(struct nm_transfer);
	/* Each is on lines of the cache of its own, as the flow is. */
	worker->io.behind.app_offset = worker->flow_bytes;
	const size_t app_bytes = group->app_bytes + (group->batches ? sizeof(struct nm_batch) : 0);

	worker->io.behind.app_bytes =
		(app_bytes + NM_LINE_BYTES - 1) & ~(size_t)(NM_LINE_BYTES - 1);
	worker->flow_bytes += group->n_conns * worker->io.behind.app_bytes;
	worker->io.behind.pipe_offset = worker->flow_bytes;
	if (group->pipeline)
		worker->flow_bytes += nm_pipe_bytes(group->pipeline);
	worker->flow_bytes =
		(worker->flow_bytes + NM_LINE_BYTES - 1) & ~(size_t)(NM_LINE_BYTES - 1);
	/* Zeroed, on a line of the cache, and taken from the system as it is used. */
	worker->flows = mmap(NULL, flows_size(worker), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (worker->flows == MAP_FAILED) {
		worker->flows = NULL;
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < worker->n_flows; i++) {
		struct nm_flow *flow = nm_worker_flow(worker, i);

		flow->index = i * group->n_workers + worker->worker_no;
		flow->conn = nm_flow_conn(flow, 0);
		for (uint32_t c = 0; c < group->n_conns; c++)
			*nm_flow_conn(flow, c) =
				(struct nm_conn){.fd = -1, .flow = flow, .number = flow->index};
		if (group->messages.moves_files)
			nm_transfer_of(&worker->io, flow)->fd = -1;
	}
	return nm_timers_init(&worker->timers, worker->n_flows + NM_TIMER__COUNT);
}

/* The longest busy polling for which an opening of the group asks; 0: none does. */
static uint64_t busy_poll_ns(const struct nm_group *group)
{
	uint64_t longest_ns = 0;

	for (uint32_t i = 0; i < group->n_instrs; i++) {
		const struct nm_instr *instr = &group->instrs[i];

		if (!nm_instr_opens(instr))
			continue;
		uint64_t ns =
			nm_transport_busy_poll_ns(instr->transport, instr->open.transport_opts);

		longest_ns = ns > longest_ns ? ns : longest_ns;
	}
	return longest_ns;
}

static int init_epoll(struct nm_worker *worker)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = NM_TAG_WAKE};

	worker->waiter.ops = &nm_waiter_epoll;
	worker->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	worker->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (worker->epoll_fd < 0 || worker->wake_fd < 0 ||
	    epoll_ctl(worker->epoll_fd, EPOLL_CTL_ADD, worker->wake_fd, &event) < 0)
		return -errno;
	uint64_t poll_ns = busy_poll_ns(worker->group);

	/* If the kernel cannot, the receives poll all the same. */
	if (poll_ns)
		(void)nm_epoll_busy_poll(worker->epoll_fd, poll_ns);
	return 0;
}

int nm_worker_init(struct nm_worker *worker, struct nm_engine *engine, uint32_t group,
		   uint32_t number)
{
	worker->engine = engine;
	worker->group = engine->groups[group].plan;
	worker->group_no = group;
	worker->worker_no = number;
	worker->spawn.cpu = -1;
	worker->epoll_fd = worker->wake_fd = -1;
	worker->accept.handoff[0] = worker->accept.handoff[1] = -1;
	worker->observe.counts_passes = engine->details & (NM_OBSERVE_PASSES | NM_OBSERVE_PASS_LOG);
	worker->run.end_at = worker->run.check_at = UINT64_MAX; /* no pass counts yet */
	atomic_init(&worker->commands.follow, UINT64_MAX);
	int r = init_epoll(worker);

	if (r == 0)
		r = init_flows(worker);
	if (r == 0)
		r = init_io(worker);
	if (r == 0)
		r = nm_accept_init(worker);
	if (r == 0)
		r = init_stats(worker);
	if (r == 0)
		r = nm_reconnect_init(worker);
	if (r == 0)
		r = nm_open_init(worker);
	if (r == 0)
		r = nm_flowop_stats_new(worker, engine->details, worker->group->processes,
					&worker->observe.stats);
	if (r == 0)
		r = nm_tcp_sampler_new(worker, engine->details, worker->group->processes,
				       &worker->observe.tcp);
	return r;
}

void nm_worker_fini(struct nm_worker *worker)
{
	bool shared = worker->group && worker->group->processes;

	/* Sockets of a worker that is a process are closed with the process; their numbers mean
	 * nothing here. */
	if (!shared)
		nm_waiter_fini(worker);
	for (uint32_t i = 0; worker->flows && i < worker->n_flows; i++) {
		for (uint32_t c = 0; c < worker->group->n_conns; c++) {
			struct nm_conn *conn = nm_flow_conn(nm_worker_flow(worker, i), c);

			if (conn->flags & NM_CONN_OPEN)
				conn->transport->close(conn, false);
		}
		if (worker->group->messages.moves_files)
			nm_transfer_close(nm_transfer_of(&worker->io, nm_worker_flow(worker, i)));
	}
	for (uint32_t i = 0; worker->stats && i < worker->group->n_phases; i++)
		free_stats(&worker->stats[i], shared);
	worker->observe.stats = nm_flowop_stats_free(worker->observe.stats);
	worker->observe.tcp = nm_tcp_sampler_free(worker->observe.tcp, shared);
	nm_accept_fini(worker);
	nm_open_fini(&worker->run.open);
	nm_timers_fini(&worker->timers);
	if (worker->stats)
		nm_engine_release(worker->stats, worker->group->n_phases * sizeof(*worker->stats),
				  shared);
	if (worker->flows)
		(void)munmap(worker->flows, flows_size(worker));
	nm_reconnect_fini(&worker->reconnect);
	free(worker->io.tx);
	free(worker->io.rx);
	worker->io.udp_batch = nm_udp_batch_free(worker->io.udp_batch);
	if (worker->epoll_fd >= 0)
		(void)close(worker->epoll_fd);
	if (worker->wake_fd >= 0)
		(void)close(worker->wake_fd);
}

int nm_worker_start(struct nm_worker *worker)
{
	return nm_thread_start(&worker->spawn.thread, STACK_SIZE, nm_worker_main, worker);
}

void nm_worker_join(struct nm_worker *worker)
{
	nm_process_join(worker);
	nm_thread_join(&worker->spawn.thread);
}
