/* SPDX-License-Identifier: Apache-2.0 */
/* The connections of a flow, followed through its program: which of them each flowop opens, uses or
 * closes.
 *
 * A connection has a number (conn=N) or none (0), and several open connections may share a number.
 * Of these a flowop takes the one that was used first since the last disconnect, and when none was
 * used, the newest. As the pools of all flows change alike, all connections are known when the
 * profile is compiled: a step gets a slot, and when each pass of a transaction moves on to the next
 * connection, a stride. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/host_port.h"
#include "plan/diag.h"
#include "plan/ir.h"
#include "plan/plan.h"
#include "plan/public_check.h"
#include "transport/address.h"

struct open_conn {
	const struct nm_ir_step *opened;
	uint64_t id, used; /* used: its first use since the last disconnect; 0: none */
	uint32_t slot;
};

struct pool {
	struct nm_ir *ir;
	struct nm_ir_group *group;
	struct open_conn *open; /* oldest first */
	size_t count, room;
	bool *taken;   /* by slot */
	uint32_t free; /* no slot below is free */
	uint64_t uses;
	bool wrong;  /* in its first pass the transaction is wrong, as reported */
	bool failed; /* it makes no sense to go on, as reported */
};

static uint32_t find_host(struct nm_ir *ir, const char *name, unsigned line)
{
	for (uint32_t h = 0; h < ir->n_hosts; h++)
		if (strcmp(ir->hosts[h], name) == 0)
			return h;
	if (ir->n_hosts == NM_PLAN_MAX_HOSTS) {
		if (!ir->too_many_hosts)
			nm_diag_error(ir->diags, ir->file, line,
				      "the profile names more than %d hosts", NM_PLAN_MAX_HOSTS);
		ir->too_many_hosts = true;
		return NM_NO_HOST;
	}
	char **hosts = realloc(ir->hosts, (ir->n_hosts + 1) * sizeof(*hosts));
	char *copy = hosts ? strdup(name) : NULL;

	if (hosts)
		ir->hosts = hosts;
	if (!copy) {
		nm_diag_error(ir->diags, ir->file, line, "out of memory");
		return NM_NO_HOST;
	}
	hosts[ir->n_hosts] = copy;
	return ir->n_hosts++;
}

/* Room for one more. */
static bool grow(struct pool *pool)
{
	if (pool->count < pool->room)
		return true;
	size_t room = pool->room ? 2 * pool->room : 8;
	struct open_conn *open = realloc(pool->open, room * sizeof *open);

	if (open)
		pool->open = open;
	bool *taken = open ? realloc(pool->taken, room * sizeof *taken) : NULL;
	if (!taken) {
		nm_diag_error(pool->ir->diags, pool->ir->file, 0, "out of memory");
		pool->failed = true;
		return false;
	}
	memset(taken + pool->room, 0, (room - pool->room) * sizeof *taken);
	pool->taken = taken;
	pool->room = room;
	return true;
}

/* Reads the option data_host, for its form alone. */
static void check_data_host(struct nm_ir *ir, const struct nm_ir_step *step)
{
	const struct nm_opts_open *opts = step->opts;
	struct nm_addr unused;
	char why[NM_HOST_MAX + 96];

	if (!nm_has_data_host(opts))
		return;
	if (step->op->flags & NM_FLOWOP_FOLLOWS)
		snprintf(why, sizeof why, "data_host: only of connect");
	else if (nm_ir_is_to_server(step))
		snprintf(why, sizeof why, "data_host: not with server, which names the address");
	else if (step->transport->endpoint != nm_addr_endpoint)
		snprintf(why, sizeof why, "data_host: %s has no addresses of the internet",
			 step->transport->name);
	else if (nm_addr_option("data_host", opts->data_host, &unused, why, sizeof why) == 0)
		return;
	nm_option_error(ir, step, "data_host", " %s", why);
}

/* In the first pass over a step: reads what its options say about the connection. */
static void bind_opening(struct pool *pool, struct nm_ir_step *step)
{
	const struct nm_opts_open *opts = step->opts;
	struct nm_ir *ir = pool->ir;
	char why[160];

	step->opening = pool->group->n_openings++;
	if (!step->transport)
		return;
	nm_ir_bind_app(ir, step);
	check_data_host(ir, step);
	if (opts->port &&
	    (!step->transport->preamble || (step->transport->caps & NM_TRANSPORT_ONE_HOST)))
		nm_option_error(ir, step, "port", " port=\"%llu\": %s has no ports",
				(unsigned long long)opts->port, step->transport->name);
	if (!opts->remotehost || nm_ir_is_to_server(step) || nm_ir_is_public(step))
		return;
	if ((step->transport->caps & NM_TRANSPORT_ONE_HOST) &&
	    strcmp(opts->remotehost, "local") != 0)
		nm_option_error(ir, step, "remotehost",
				" remotehost=\"%s\": %s connections stay on one host; remotehost "
				"must be local",
				opts->remotehost, step->transport->name);
	if (nm_transport_check_host(step->transport, opts->remotehost, why, sizeof why) < 0)
		nm_option_error(ir, step, "remotehost", " remotehost=\"%s\": %s", opts->remotehost,
				why);
	if (!(step->transport->caps & NM_TRANSPORT_NO_PEER))
		step->host = find_host(ir, opts->remotehost, step->line);
}

static uint32_t open_one(struct pool *pool, const struct nm_ir_step *step)
{
	uint32_t slot = pool->free;

	if (pool->count == NM_PLAN_MAX_CONNS) {
		nm_step_error(pool->ir, step,
			      ": a flow would have more than %d connections open; disconnect them",
			      NM_PLAN_MAX_CONNS);
		pool->failed = true;
		return 0;
	}
	if (!grow(pool))
		return 0;
	while (pool->taken[slot])
		slot++;
	pool->taken[slot] = true;
	pool->free = slot + 1;
	pool->open[pool->count++] =
		(struct open_conn){.opened = step, .id = step->common->conn, .slot = slot};
	if (slot >= pool->group->n_conns)
		pool->group->n_conns = slot + 1;
	return slot;
}

static bool matches(const struct pool *pool, const struct open_conn *conn,
		    const struct nm_ir_step *step)
{
	const char *wanted = step->common->remotehost;
	uint32_t host = conn->opened->host;

	if (conn->id != step->common->conn)
		return false;
	return !wanted || !*wanted ||
	       (host != NM_NO_HOST && strcmp(pool->ir->hosts[host], wanted) == 0);
}

static struct open_conn *look_up(struct pool *pool, const struct nm_ir_step *step)
{
	struct open_conn *found = NULL;

	for (size_t i = 0; i < pool->count; i++) {
		struct open_conn *conn = &pool->open[i];

		if (!matches(pool, conn, step))
			continue;
		if (!found || !found->used || (conn->used && conn->used < found->used))
			found = conn;
	}
	return found;
}

static void none_open(struct pool *pool, const struct nm_ir_step *step, unsigned pass)
{
	char number[40] = "", host[300] = "", when[64] = "";

	if (step->common->conn)
		snprintf(number, sizeof number, " conn=%llu",
			 (unsigned long long)step->common->conn);
	if (step->common->remotehost && *step->common->remotehost)
		snprintf(host, sizeof host, " to %.255s", step->common->remotehost);
	if (pass)
		snprintf(when, sizeof when, " in pass %u of its transaction", pass + 1);
	nm_step_error(pool->ir, step,
		      ": no connection%s%s is open here%s; connect or accept one first", number,
		      host, when);
	pool->wrong = true;
	pool->failed = pass > 0;
}

static void close_one(struct pool *pool, struct open_conn *conn)
{
	size_t at = (size_t)(conn - pool->open);
	uint64_t id = conn->id;

	pool->taken[conn->slot] = false;
	if (conn->slot < pool->free)
		pool->free = conn->slot;
	memmove(conn, conn + 1, (pool->count - at - 1) * sizeof *conn);
	pool->count--;
	for (size_t i = 0; i < pool->count; i++)
		if (pool->open[i].id == id)
			pool->open[i].used = 0;
}

/* Gives the step its slot and its stride, or compares the slot with these. */
static void place(struct pool *pool, struct nm_ir_step *step, uint32_t slot, unsigned pass)
{
	if (pool->failed)
		return;
	if (pass == 0)
		step->slot = slot;
	else if (pass == 1)
		step->stride = (int32_t)((int64_t)slot - step->slot);
	else if (slot != step->slot + step->stride * (int64_t)pass) {
		nm_step_error(pool->ir, step,
			      ": which connection it means changes irregularly from pass to pass; "
			      "give the connections numbers (conn=N)");
		pool->failed = true;
	}
}

static void check_size(struct pool *pool, const struct nm_ir_step *step)
{
	size_t most = step->transport && step->transport->message
			      ? step->transport->message->max_bytes
			      : 0;

	if (most && step->size > most)
		nm_option_error(pool->ir, step, "size",
				" size=\"%llu\": a message over %s has at most %zu bytes",
				(unsigned long long)step->size, step->transport->name, most);
}

static void use(struct pool *pool, struct nm_ir_step *step, unsigned pass)
{
	struct open_conn *conn = look_up(pool, step);

	if (!conn) {
		none_open(pool, step, pass);
		return;
	}
	if (pass == 0) {
		step->opened = conn->opened;
		step->transport = conn->opened->transport;
		step->host = conn->opened->host;
	} else if (step->transport != conn->opened->transport || step->host != conn->opened->host) {
		nm_step_error(
			pool->ir, step,
			": from pass to pass it would mean a connection to another host or over "
			"another protocol; that of line %u; give the connections numbers (conn=N)",
			conn->opened->line);
		pool->failed = true;
		return;
	}
	if (pass == 0)
		check_size(pool, step);
	place(pool, step, conn->slot, pass);
	if (step->op->flags & NM_FLOWOP_CLOSES)
		close_one(pool, conn);
	else if (!conn->used)
		conn->used = ++pool->uses;
}

static void run_pass(struct pool *pool, const struct nm_ir_transaction *t, unsigned pass)
{
	for (size_t i = 0; i < t->n_steps && !pool->failed; i++) {
		struct nm_ir_step *step = &pool->group->steps[t->first + i];

		if (step->common->count == 0)
			continue;
		if (step->op->flags & NM_FLOWOP_OPENS) {
			if (pass == 0)
				bind_opening(pool, step);
			place(pool, step, open_one(pool, step), pass);
		} else if (step->op->flags & NM_FLOWOP_USES) {
			use(pool, step, pass);
		} else if (pass == 0 && step->common->remotehost && *step->common->remotehost) {
			step->host = find_host(pool->ir, step->common->remotehost, step->line);
		}
	}
}

/* Whether two pools agree in the slots, numbers and openers of all connections, in order. */
static bool same_pools(const struct open_conn *a, size_t n_a, const struct open_conn *b, size_t n_b)
{
	if (n_a != n_b)
		return false;
	for (size_t i = 0; i < n_a; i++)
		if (a[i].slot != b[i].slot || a[i].id != b[i].id || a[i].opened != b[i].opened)
			return false;
	return true;
}

/* A transaction that runs for a time cannot open or close ever more connections. */
static void unbalanced(struct pool *pool, const struct nm_ir_transaction *t, size_t before)
{
	const struct nm_ir_step *opens = NULL, *closes = NULL;

	NM_EACH_STEP(step, pool->group, t) {
		if ((step->op->flags & NM_FLOWOP_OPENS) && !opens)
			opens = step;
		if (step->op->flags & NM_FLOWOP_CLOSES)
			closes = step;
	}
	pool->failed = true;
	if (opens && pool->count > before)
		nm_step_error(pool->ir, opens,
			      ": the transaction of line %u repeats it for a time, but does not "
			      "disconnect again",
			      t->line);
	else
		nm_diag_error(pool->ir->diags, pool->ir->file, closes ? closes->line : t->line,
			      "<flowop disconnect>: the transaction of line %u repeats it for a "
			      "time, but not the opening of its connection",
			      t->line);
}

/* A copy of the connections that are open; NULL when out of memory, which is reported. */
static struct open_conn *copy_pool(const struct pool *pool)
{
	struct open_conn *copy = malloc((pool->count + 1) * sizeof *copy);

	if (!copy)
		nm_diag_error(pool->ir->diags, pool->ir->file, 0, "out of memory");
	else if (pool->count)
		memcpy(copy, pool->open, pool->count * sizeof *copy);
	return copy;
}

static void run_transaction(struct pool *pool, const struct nm_ir_transaction *t)
{
	size_t before = pool->count;
	uint64_t passes = t->has_duration || nm_ir_fills(t) ? 3 : t->attrs.iterations;
	struct open_conn *after = NULL;
	size_t n_after = before;

	pool->wrong = false;
	for (uint64_t pass = 0; pass < passes; pass++) {
		run_pass(pool, t, (unsigned)pass);
		if (pool->wrong || pool->failed)
			break;
		if (pass == 0 && t->has_duration && pool->count != before) {
			unbalanced(pool, t, before);
			break;
		}
		/* Once a pass leaves the pool as it found it, all later passes do. */
		if (pass > 1 && after && same_pools(pool->open, pool->count, after, n_after))
			break;
		free(after);
		after = NULL;
		/* A pool that grows is not copied each time: the work would grow with its
		 * square. */
		if (n_after == pool->count && !(after = copy_pool(pool)))
			break;
		n_after = pool->count;
	}
	free(after);
}

/* One message that may be lost is enough to number the messages of all connections of its kind. */
static void mark_lossy(struct nm_ir *ir, struct nm_ir_group *group,
		       const struct nm_transport *transport)
{
	size_t most = transport->message->max_lossy_bytes;

	for (size_t i = 0; i < group->n_steps; i++) {
		struct nm_ir_step *step = &group->steps[i];

		if (step->transport != transport || step->lossy)
			continue;
		step->lossy = true;
		if (most && step->size > most)
			nm_option_error(ir, step, "size",
					" size=\"%llu\": where messages may be lost, one over %s "
					"has at most %zu bytes",
					(unsigned long long)step->size, transport->name, most);
	}
}

static void check_message(struct nm_ir *ir, const struct nm_ir_step *step)
{
	struct nm_why why = {.option = NULL};
	bool by_master = step->op->flags & NM_FLOWOP_INITIATES;

	if (step->transport->message->check &&
	    step->transport->message->check(step->opened->transport_opts, step->message.opts,
					    by_master, &why) < 0)
		nm_option_error(ir, step, why.option, " %s", why.text);
}

static void check_message_options(struct nm_ir *ir, struct nm_ir_group *group)
{
	for (size_t i = 0; i < group->n_steps; i++) {
		struct nm_ir_step *step = &group->steps[i];

		if (!step->message.transport)
			continue;
		if (step->message.transport == step->transport) {
			check_message(ir, step);
			if (step->transport->message->may_lose &&
			    step->transport->message->may_lose(step->message.opts))
				mark_lossy(ir, group, step->transport);
			continue;
		}
		nm_step_warn(ir, step,
			     ": its options of %s have no effect: its connection is not one",
			     step->message.transport->name);
		step->message.opts = NULL;
	}
}

void nm_ir_connect(struct nm_ir *ir, struct nm_ir_group *group)
{
	struct pool pool = {.ir = ir, .group = group};

	for (size_t k = 0; k < group->n_transactions && !pool.failed; k++)
		if (!nm_ir_is_skipped(&group->transactions[k]))
			run_transaction(&pool, &group->transactions[k]);
	check_message_options(ir, group);
	free(pool.open);
	free(pool.taken);
}
