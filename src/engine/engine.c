/* SPDX-License-Identifier: Apache-2.0 */
/* The life of an engine: it is made for a plan, learns the addresses of hosts and listeners,
 * starts, goes through its phases, and ends. */
#include "engine/apps.h"
#include "engine/engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/host_port.h"
#include "engine/accept/listener.h"
#include "engine/accept/rendezvous.h"
#include "engine/data_host.h"
#include "engine/engine_priv.h"
#include "engine/events.h"
#include "engine/tune.h"
#include "host/cpu_latency.h"
#include "host/clock.h"
#include "plan/shape.h"
#include "transport/address.h"
#include "transport/strangers.h"
#include "transport/transport.h"

static int init_groups(struct nm_engine *engine, const struct nm_engine_config *config)
{
	size_t placed = 0;

	for (uint32_t g = 0; g < engine->plan->n_groups; g++) {
		struct nm_engine_group *group = &engine->groups[g];

		group->plan = &engine->plan->groups[g];
		if (!group->plan->runs)
			continue;
		group->started = calloc(group->plan->n_openings + 1, sizeof(*group->started));
		group->servers = calloc(group->plan->n_openings + 1, sizeof *group->servers);
		if (nm_apps_init(engine, group) < 0)
			return -ENOMEM;
		group->workers = nm_engine_alloc(group->plan->n_workers * sizeof(*group->workers),
						 group->plan->processes);
		if (!group->workers || !group->started || !group->servers)
			return -ENOMEM;
		for (uint32_t w = 0; w < group->plan->n_workers; w++) {
			struct nm_worker *worker = &group->workers[w];

			group->n_workers = w + 1;
			int r = nm_worker_init(worker, engine, g, w);

			if (r < 0)
				return r;
			if (config->n_cpus)
				worker->spawn.cpu = (int)config->cpus[placed++ % config->n_cpus];
		}
	}
	return 0;
}

int nm_engine_new(const struct nm_engine_config *config, struct nm_engine **ret_engine)
{
	const struct nm_plan *plan = config->plan;
	struct nm_engine *engine = calloc(1, sizeof(*engine));

	if (!engine)
		return -ENOMEM;
	engine->plan = plan;
	engine->measures = config->measures;
	engine->edges_ns[0] = config->warmup_ns;
	engine->edges_ns[1] = config->cooldown_ns;
	memcpy(engine->secret, config->secret, sizeof engine->secret);
	engine->files = config->files;
	engine->allowed = config->allowed;
	engine->n_allowed = config->n_allowed;
	engine->timeout_ns = config->timeout_ns;
	engine->seed = config->seed;
	engine->details = config->details;
	engine->log.passes = config->log_passes;
	engine->localhost_words = config->localhost_words;
	engine->awake_fd = -1;
	engine->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	engine->hosts = calloc(plan->n_hosts + 1, sizeof(*engine->hosts));
	engine->nonces = calloc(plan->n_hosts + 1, sizeof(*engine->nonces));
	engine->groups = calloc(plan->n_groups, sizeof(*engine->groups));
	int r = engine->event_fd < 0 ? -errno : 0;

	engine->strangers = nm_engine_alloc(sizeof *engine->strangers, true);
	if (r == 0 && (!engine->strangers || !engine->hosts || !engine->nonces || !engine->groups))
		r = -ENOMEM;
	if (r == 0 && getrandom(engine->nonce, sizeof engine->nonce, 0) < 0)
		r = -errno;
	if (r == 0)
		r = init_groups(engine, config);
	if (r < 0) {
		nm_engine_free(engine);
		return r;
	}
	*ret_engine = engine;
	return 0;
}

/* Calls fn for every worker of the engine. */
static void each_worker(struct nm_engine *engine, void (*fn)(struct nm_worker *worker))
{
	for (uint32_t g = 0; g < engine->plan->n_groups; g++)
		for (uint32_t w = 0; w < engine->groups[g].n_workers; w++)
			fn(&engine->groups[g].workers[w]);
}

static void quit_worker(struct nm_worker *worker)
{
	atomic_store_explicit(&worker->commands.quit, true, memory_order_relaxed);
	nm_worker_wake(worker);
}

static void servers_fini(struct nm_servers *servers)
{
	free(servers->addrs);
	if (servers->greetings)
		explicit_bzero(servers->greetings, sizeof *servers->greetings);
	free(servers->greetings);
}

/* Has the transports of a group release the means that connections share. */
static void stop_group(struct nm_engine_group *group)
{
	for (uint32_t i = 0; group->started && i < group->plan->n_instrs; i++) {
		const struct nm_instr *instr = &group->plan->instrs[i];

		if (!nm_instr_opens(instr) || !group->started[instr->opening])
			continue;
		instr->transport->shared->stop(group->started[instr->opening]);
		group->started[instr->opening] = NULL;
	}
	free(group->started);
	for (uint32_t o = 0; group->servers && o < group->plan->n_openings; o++)
		servers_fini(&group->servers[o]);
	free(group->servers);
}

struct nm_engine *nm_engine_free(struct nm_engine *engine)
{
	if (!engine)
		return NULL;
	if (engine->groups)
		each_worker(engine, quit_worker);
	engine->rendezvous = nm_rendezvous_free(engine->rendezvous);
	engine->events = nm_events_free(engine->events);
	if (engine->groups) {
		each_worker(engine, nm_worker_join);
		each_worker(engine, nm_worker_fini);
		for (uint32_t g = 0; g < engine->plan->n_groups; g++) {
			struct nm_engine_group *group = &engine->groups[g];

			if (group->plan)
				stop_group(group);
			if (group->workers)
				nm_engine_release(group->workers,
						  group->plan->n_workers * sizeof(*group->workers),
						  group->plan->processes);
		}
		nm_apps_fini(engine);
	}
	if (engine->awake_fd >= 0)
		(void)close(engine->awake_fd);
	if (engine->event_fd >= 0)
		(void)close(engine->event_fd);
	free(engine->groups);
	for (uint32_t h = 0; engine->hosts && h < engine->plan->n_hosts; h++)
		nm_peers_fini(&engine->hosts[h].peers);
	free(engine->hosts);
	free(engine->nonces);
	nm_engine_release(engine->strangers, sizeof *engine->strangers, true);
	explicit_bzero(engine->secret, sizeof engine->secret);
	free(engine);
	return NULL;
}

void nm_engine_set_host(struct nm_engine *engine, uint32_t host, const struct nm_addr *peer,
			const struct nm_addr *local)
{
	struct nm_engine_host *of = &engine->hosts[host];

	nm_peers_fini(&of->peers);
	*of = (struct nm_engine_host){.peer = *peer, .local = *local};
	/* If this fails only loopback counts as this host's own addresses. */
	(void)nm_peers_init(&of->peers, peer, local);
	of->peers.allowed = engine->allowed;
	of->peers.n_allowed = engine->n_allowed;
	/* On the master the user's own profile decides which connections come. */
	of->peers.any = engine->plan->master;
	of->peers.strangers = engine->strangers;
}

uint64_t nm_engine_strangers(const struct nm_engine *engine, struct nm_addr *ret_last)
{
	return nm_strangers_read(engine->strangers, ret_last);
}

const struct nm_buffers *nm_engine_cut(const struct nm_engine *engine)
{
	return &engine->cut;
}

const unsigned char *nm_engine_nonce(const struct nm_engine *engine)
{
	return engine->nonce;
}

void nm_engine_set_nonce(struct nm_engine *engine, uint32_t host, const unsigned char *nonce)
{
	memcpy(engine->nonces[host], nonce, NM_NONCE_BYTES);
}

int nm_engine_start_opening(struct nm_engine *engine, struct nm_engine_group *group,
			    const struct nm_instr *instr, struct nm_start *how, char *why,
			    size_t why_size)
{
	how->accepting = nm_instr_accepts(instr);
	how->can_fail = instr->can_fail;
	how->secret = engine->secret;
	how->files = engine->files;
	how->cut = &engine->cut;
	how->localhost_words = engine->localhost_words;
	*why = '\0';
	int r = instr->transport->shared->start(instr->open.transport_opts, how,
						&group->started[instr->opening], why, why_size);
	if (r < 0 && !*why)
		snprintf(why, why_size, "%s", strerror(-r));
	return r;
}

static int start(struct nm_engine *engine, struct nm_engine_group *group,
		 const struct nm_instr *instr, struct nm_start *how, char *why, size_t why_size)
{
	char phrase[192];
	int r = nm_engine_start_opening(engine, group, instr, how, phrase, sizeof phrase);

	if (r < 0)
		snprintf(why, why_size, "the %s at line %u: %s", instr->op->name, instr->line,
			 phrase);
	return r;
}

static int start_to_host(struct nm_engine *engine, struct nm_engine_group *group,
			 const struct nm_instr *instr, char *why, size_t why_size)
{
	struct nm_addr room;
	const struct nm_addr *peer = nm_instr_accepts(instr) ? &engine->hosts[instr->host].peer
							     : nm_data_peer(engine, instr, &room);
	struct nm_start how = {.peer = peer, .local = &engine->hosts[instr->host].local};
	char address[NM_ADDRESS_TEXT], host[NM_HOST_MAX + 1];
	uint16_t control_port;

	/* A slave's peer is the master, for which the slave has no name. */
	if (engine->plan->master &&
	    nm_host_port_split(engine->plan->hosts[instr->host], host, &control_port) == 0)
		how.peer_name = host;
	else
		how.peer_name = nm_addr_text(peer, address, sizeof address);
	return start(engine, group, instr, &how, why, why_size);
}

/* Checks that connections may come from the addresses that the profile names: 0, or -EACCES with a
 * phrase in why. */
static int check_sources(const struct nm_engine *engine, const struct nm_instr *instr, char *why,
			 size_t why_size)
{
	const struct nm_transport_socket *socket = instr->transport->socket;
	const struct nm_peers *peers = &engine->hosts[instr->host].peers;
	char named[NM_ADDRESS_TEXT], known[NM_ADDRESS_TEXT];
	struct nm_addr source;

	for (uint32_t i = 0;
	     socket && socket->source && socket->source(instr->open.transport_opts, i, &source);
	     i++) {
		if (nm_peers_judge(peers, &source) != NM_PEER_STRANGER)
			continue;
		(void)nm_addr_text(&source, named, sizeof named);
		snprintf(why, why_size,
			 "its connections would come from %s (localhost), and the master is %s: "
			 "start this slave with --allow-peer %s if they may",
			 named, nm_addr_text(&peers->control, known, sizeof known), named);
		return -EACCES;
	}
	return 0;
}

static int check_reach(const struct nm_engine *engine, const struct nm_instr *instr, char *why,
		       size_t why_size)
{
	const struct nm_engine_host *host = &engine->hosts[instr->host];
	char phrase[256];
	int r = nm_transport_check_reach(instr->transport, &host->peers, phrase, sizeof phrase);

	/* An accept that may fail turns them away one by one. */
	if (r == 0 && nm_instr_accepts(instr) && !instr->can_fail)
		r = check_sources(engine, instr, phrase, sizeof phrase);
	if (r < 0)
		snprintf(why, why_size, "the %s at line %u: %s", instr->op->name, instr->line,
			 phrase);
	return r;
}

/* Keeps idle CPUs awake if a group asks for it. */
static int keep_awake(struct nm_engine *engine, char *why, size_t why_size)
{
	char phrase[192];

	for (uint32_t g = 0; g < engine->plan->n_groups; g++) {
		const struct nm_group *group = &engine->plan->groups[g];

		if (!group->runs || !group->awake)
			continue;
		engine->awake_fd = nm_cpu_latency_open(phrase, sizeof phrase);
		if (engine->awake_fd >= 0)
			return 0;
		snprintf(why, why_size, "wait=\"awake\" of the group at line %u: %s", group->line,
			 phrase);
		return engine->awake_fd;
	}
	return 0;
}

int nm_engine_prepare(struct nm_engine *engine, char *why, size_t why_size)
{
	int awake = keep_awake(engine, why, why_size);

	if (awake < 0)
		return awake;
	for (uint32_t g = 0; g < engine->plan->n_groups; g++) {
		struct nm_engine_group *group = &engine->groups[g];

		for (uint32_t i = 0; group->started && i < group->plan->n_instrs; i++) {
			const struct nm_instr *instr = &group->plan->instrs[i];

			if (!nm_instr_opens(instr) || group->started[instr->opening] ||
			    nm_instr_is_to_server(instr))
				continue;
			const bool public = nm_instr_is_public(instr);
			int r = public ? 0 : check_reach(engine, instr, why, why_size);

			if (r == 0 && instr->transport->shared)
				r = public ? start(engine, group, instr, &(struct nm_start){0}, why,
						   why_size)
					   : start_to_host(engine, group, instr, why, why_size);
			if (r < 0)
				return r;
		}
	}
	return nm_events_open(engine);
}

int nm_engine_listen(struct nm_engine *engine, char *why, size_t why_size)
{
	for (uint32_t g = 0; g < engine->plan->n_groups; g++) {
		for (uint32_t w = 0; w < engine->groups[g].n_workers; w++) {
			int r = nm_listeners_open(&engine->groups[g].workers[w], why, why_size);

			if (r < 0)
				return r;
		}
	}
	return nm_rendezvous_open(engine, &engine->rendezvous, why, why_size);
}

static struct nm_worker *worker_of(const struct nm_engine *engine, uint32_t group, uint32_t opening,
				   uint32_t worker)
{
	if (group >= engine->plan->n_groups || worker >= engine->groups[group].n_workers ||
	    opening >= engine->groups[group].plan->n_openings)
		return NULL;
	return &engine->groups[group].workers[worker];
}

const char *nm_engine_listener(const struct nm_engine *engine, uint32_t group, uint32_t opening,
			       uint32_t worker)
{
	const struct nm_worker *w = worker_of(engine, group, opening, worker);

	return w && *w->accept.texts[opening] ? w->accept.texts[opening] : NULL;
}

/* The connect of this side with that number, or NULL. */
static const struct nm_instr *connect_of(const struct nm_group *group, uint32_t opening)
{
	for (uint32_t i = 0; i < group->n_instrs; i++) {
		const struct nm_instr *instr = &group->instrs[i];

		if (nm_instr_opens(instr) && !nm_instr_accepts(instr) &&
		    instr->opening == opening && instr->transport->endpoint)
			return instr;
	}
	return NULL;
}

int nm_engine_set_endpoint(struct nm_engine *engine, uint32_t group, uint32_t opening,
			   uint32_t worker, const char *text)
{
	struct nm_worker *w = worker_of(engine, group, opening, worker);
	const struct nm_instr *instr = w ? connect_of(w->group, opening) : NULL;
	struct nm_addr room;

	if (!instr)
		return -EINVAL;
	/* If the profile names a port the peer must listen at that port. */
	if (instr->open.port && strtoul(text, NULL, 10) != instr->open.port)
		return -EINVAL;
	return instr->transport->endpoint(nm_data_peer(engine, instr, &room), text,
					  &w->accept.endpoints[opening]);
}

bool nm_engine_endpoints_complete(const struct nm_engine *engine)
{
	for (uint32_t g = 0; g < engine->plan->n_groups; g++) {
		const struct nm_engine_group *group = &engine->groups[g];

		for (uint32_t o = 0; o < group->plan->n_openings; o++) {
			if (!connect_of(group->plan, o) ||
			    (group->servers && group->servers[o].count))
				continue;
			for (uint32_t w = 0; w < group->n_workers; w++)
				if (!group->workers[w].accept.endpoints[o].len)
					return false;
		}
	}
	return true;
}

/* Starts the workers that are processes, or those that are threads. */
static int start_workers(struct nm_engine *engine, bool processes)
{
	for (uint32_t g = 0; g < engine->plan->n_groups; g++) {
		struct nm_engine_group *group = &engine->groups[g];

		for (uint32_t w = 0; w < group->n_workers; w++) {
			if (group->plan->processes != processes)
				continue;
			int r = processes ? nm_process_start(&group->workers[w])
					  : nm_worker_start(&group->workers[w]);

			if (r < 0)
				return r;
		}
	}
	return 0;
}

int nm_engine_start(struct nm_engine *engine)
{
	/* Processes first: a process that forks must not have threads yet. */
	int r = start_workers(engine, true);

	if (r == 0)
		r = start_workers(engine, false);
	if (r == 0 && engine->rendezvous)
		r = nm_rendezvous_start(engine->rendezvous);
	return r;
}

int nm_engine_fd(const struct nm_engine *engine)
{
	return nm_events_fd(engine);
}

void nm_engine_clear(struct nm_engine *engine)
{
	uint64_t count;

	(void)!read(engine->event_fd, &count, sizeof count);
	nm_events_read(engine);
}

void nm_engine_begin(struct nm_engine *engine, uint32_t phase)
{
	uint64_t now_ns = nm_clock_ns();

	engine->begun = phase + 1;
	for (uint32_t g = 0; g < engine->plan->n_groups; g++) {
		struct nm_engine_group *group = &engine->groups[g];

		if (phase >= group->plan->n_phases)
			continue;
		for (uint32_t w = 0; w < group->n_workers; w++) {
			struct nm_worker *worker = &group->workers[w];

			atomic_store_explicit(&worker->commands.stop, NM_STOP_NOT,
					      memory_order_relaxed);
			atomic_store_explicit(&worker->commands.follow, UINT64_MAX,
					      memory_order_relaxed);
			atomic_store_explicit(&worker->commands.drain, UINT64_MAX,
					      memory_order_relaxed);
			worker->commands.begin_ns = now_ns;
			atomic_store_explicit(&worker->commands.begin, phase + 1,
					      memory_order_release);
			nm_worker_wake(worker);
		}
	}
}

void nm_engine_stop(struct nm_engine *engine, uint32_t group, bool interrupted)
{
	for (uint32_t w = 0; w < engine->groups[group].n_workers; w++) {
		struct nm_worker *worker = &engine->groups[group].workers[w];

		atomic_store_explicit(&worker->commands.stop,
				      interrupted ? NM_STOP_INTERRUPT : NM_STOP_TIME,
				      memory_order_relaxed);
		nm_worker_wake(worker);
	}
}

void nm_engine_follow(struct nm_engine *engine, uint32_t group, const uint64_t *totals)
{
	for (uint32_t w = 0; w < engine->groups[group].n_workers; w++) {
		struct nm_worker *worker = &engine->groups[group].workers[w];

		const struct nm_counters *count = &worker->stats[engine->begun - 1].tally.counters;

		worker->commands.followed_ns =
			nm_count_passes(count) >= totals[w] ? nm_clock_ns() : 0;
		atomic_store_explicit(&worker->commands.follow, totals[w], memory_order_release);
		nm_worker_wake(worker);
	}
}

void nm_engine_drain(struct nm_engine *engine, uint32_t group, const uint64_t *bytes)
{
	for (uint32_t w = 0; w < engine->groups[group].n_workers; w++) {
		struct nm_worker *worker = &engine->groups[group].workers[w];

		atomic_store_explicit(&worker->commands.drain, bytes[w], memory_order_release);
		nm_worker_wake(worker);
	}
}

static bool awaits_resets(const struct nm_engine_group *group, uint32_t phase)
{
	return group->n_workers && phase < group->plan->n_phases &&
	       group->plan->phases[phase].waits.resets;
}

static uint64_t at_least(uint64_t ns, uint64_t least_ns)
{
	return ns < least_ns ? least_ns : ns;
}

uint64_t nm_engine_ends_ns(const struct nm_engine *engine, uint32_t phase, bool eager)
{
	uint64_t look_ns = eager ? NM_TUNE_ENDS_EAGER_NS : NM_TUNE_ENDS_LOOK_NS;
	uint64_t think_ns = 0, n_workers = 0, least_ns = 0;

	for (uint32_t g = 0; g < engine->plan->n_groups; g++) {
		const struct nm_engine_group *group = &engine->groups[g];

		if (!awaits_resets(group, phase))
			continue;
		n_workers += group->n_workers;
		least_ns = at_least(least_ns,
				    (uint64_t)group->workers[0].n_flows * NM_TUNE_ENDS_FLOW_NS);
		think_ns = at_least(think_ns, group->plan->phases[phase].waits.think_ns);
	}
	if (!n_workers)
		return 0;
	least_ns = at_least(least_ns, n_workers * NM_TUNE_ENDS_WORKER_NS);
	return think_ns + at_least(look_ns, least_ns);
}

static void look_for_ends(struct nm_worker *worker, bool eager)
{
	atomic_store_explicit(&worker->commands.ends_eager, eager, memory_order_relaxed);
	atomic_fetch_add_explicit(&worker->commands.ends, 1, memory_order_relaxed);
	nm_worker_wake(worker);
}

void nm_engine_look_for_ends(struct nm_engine *engine, bool eager)
{
	for (uint32_t g = 0; g < engine->plan->n_groups; g++) {
		struct nm_engine_group *group = &engine->groups[g];

		for (uint32_t w = 0; engine->begun && awaits_resets(group, engine->begun - 1) &&
				     w < group->n_workers;
		     w++)
			look_for_ends(&group->workers[w], eager);
	}
}

struct nm_engine_ends nm_engine_ends(const struct nm_engine *engine)
{
	struct nm_engine_ends ends = {0};

	for (uint32_t g = 0; g < engine->plan->n_groups; g++) {
		for (uint32_t w = 0; w < engine->groups[g].n_workers; w++) {
			const struct nm_answers *answers = &engine->groups[g].workers[w].answers;

			ends.lost +=
				atomic_load_explicit(&answers->ends_lost, memory_order_relaxed);
			ends.late +=
				atomic_load_explicit(&answers->ends_late, memory_order_relaxed);
		}
	}
	return ends;
}
