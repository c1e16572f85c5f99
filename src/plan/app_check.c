/* SPDX-License-Identifier: Apache-2.0 */
/* Application protocols: which one a connection speaks, and what is asked over it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "app/command.h"
#include "app/fault.h"
#include "base/ascii.h"
#include "base/diag.h"
#include "flowop/ask.h"
#include "flowop/life.h"
#include "flowop/open_opts.h"
#include "plan/diag.h"
#include "plan/http_check.h"
#include "plan/ir.h"
#include "plan/plan.h"
#include "plan/public_check.h"
#include "transport/sockopt.h"

static bool is_stream(const struct nm_transport *transport)
{
	return (transport->caps & NM_TRANSPORT_RELIABLE) &&
	       !(transport->caps & (NM_TRANSPORT_NO_PEER | NM_TRANSPORT_MESSAGES));
}

/* Whether the protocol is spoken over messages that may be lost, as the transport has them. */
static bool speaks_datagrams(const struct nm_app *app, const struct nm_transport *transport)
{
	return app && app->datagram && (transport->caps & NM_TRANSPORT_UDP);
}

/* Why the connection cannot go to a server that is not netmodel; NULL: it can. */
static const char *why_no_server(const struct nm_ir_step *step)
{
	if (step->op->flags & NM_FLOWOP_FOLLOWS)
		return "only of connect: an accept waits for others";
	if (!step->ask.app)
		return "needs app=..., which says what is spoken with it";
	if (speaks_datagrams(step->ask.app, step->transport))
		return NULL;
	if (!(step->transport->caps & NM_TRANSPORT_SERVERS))
		return step->ask.app->datagram ? "only over udp, tcp, mptcp, ssl and unix"
					       : "only over tcp, mptcp, ssl and unix";
	return NULL;
}

/* Reads all servers, for their form alone. */
static void check_servers(struct nm_ir *ir, const struct nm_ir_step *step)
{
	const bool is_unix = step->transport->caps & NM_TRANSPORT_ONE_HOST;
	const char *at = ((const struct nm_opts_open *)step->opts)->server;
	struct nm_server unused;
	char why[256];
	unsigned count = 0;

	for (; *at; count++) {
		const char *comma = at + strcspn(at, ",");
		int r = nm_server_read(&at, is_unix, &unused, why, sizeof why);

		if (r == 0 && *comma && !*at)
			snprintf(why, sizeof why, "there is nothing behind the last comma");
		else if (r == 0 && count == NM_SERVERS_MAX)
			snprintf(why, sizeof why, "has more than %u servers", NM_SERVERS_MAX);
		else if (r == 0)
			continue;
		nm_option_error(ir, step, "server", " server: %s", why);
		return;
	}
}

static void unknown_app(struct nm_ir *ir, const struct nm_ir_step *step, const char *name)
{
	const char *names[32];
	char list[256];
	size_t count = 0;

	for (const struct nm_app *const *app = nm_apps; *app && count < 32; app++)
		names[count++] = (*app)->name;
	const char *nearest = nm_nearest(name, names, count);

	nm_option_error(ir, step, "app",
			" app=\"%s\": unknown application protocol%s%s%s; must be one of: %s", name,
			nearest ? ", did you mean \"" : "", nearest ? nearest : "",
			nearest ? "\"?" : "", nm_app_names(list, sizeof list));
}

/* Checks what connections to a server begin with. */
static void check_session(struct nm_ir *ir, const struct nm_ir_step *step)
{
	static const struct nm_app_session none;
	static const char redis_alone[] = "app=redis has that alone";
	const struct nm_opts_open *opts = step->opts;
	const struct nm_app *app = step->ask.app;
	const struct nm_app_session *session = app && app->session ? app->session : &none;
	const bool logs_in = nm_is_given(opts->auth_file);
	const char *option = NULL, *why = "";

	if (opts->resp != 2 && !session->last_version)
		option = "resp", why = redis_alone;
	else if (opts->db && !session->has_db)
		option = "db", why = redis_alone;
	else if (logs_in && !session->greet)
		option = "auth_file", why = "only app=redis and those of memcached log in";
	else if (nm_is_given(opts->user) && !logs_in)
		option = "user", why = "needs auth_file=..., the file with the password";
	else if (nm_is_given(opts->user) && strlen(opts->user) > NM_USER_MAX)
		option = "user", why = "is longer than 128 bytes";
	else if (logs_in && session->needs_user && !nm_is_given(opts->user))
		option = "auth_file", why = "needs user=..., as the server knows nobody without";
	else if ((logs_in || opts->db || opts->resp != 2) && !nm_ir_is_to_server(step))
		option = logs_in    ? "auth_file"
			 : opts->db ? "db"
				    : "resp",
		why = "needs server=...: netmodel's own server has no users, one database and "
		      "RESP2";
	if (option)
		nm_option_error(ir, step, option, " %s: %s", option, why);
}

static void refuse_life(struct nm_ir *ir, const struct nm_ir_step *connect, const char *why)
{
	const struct nm_opts_open *opts = connect->opts;
	const char *option = opts->requests.max ? "requests" : "lifetime";

	nm_option_error(ir, connect, option, " %s: %s", option, why);
}

/* Checks how long connections last. */
static void check_life(struct nm_ir *ir, const struct nm_ir_step *step)
{
	if (!nm_lives(step->opts))
		return;
	if (step->op->flags & NM_FLOWOP_FOLLOWS)
		refuse_life(ir, step, "only of connect: the end that asks closes first");
	else if (!nm_is_given(((const struct nm_opts_open *)step->opts)->app))
		refuse_life(ir, step, "needs app=..., which says what a request is");
	else if (!(step->transport->caps & NM_TRANSPORT_SERVERS))
		refuse_life(ir, step, "only over tcp, mptcp, ssl and unix");
}

static bool is_within(const struct nm_ir_group *group, const struct nm_ir_transaction *t,
		      const struct nm_ir_step *step)
{
	return step >= &group->steps[t->first] && step < &group->steps[t->first + t->n_steps];
}

/* The same, once it is known where the connections of a transaction are opened. */
static void check_lives(struct nm_ir *ir, const struct nm_ir_group *group,
			const struct nm_ir_transaction *t)
{
	const struct nm_ir_step *told = NULL;

	for (size_t i = t->first; i < t->first + t->n_steps; i++) {
		const struct nm_ir_step *opened = group->steps[i].opened;

		if (!(group->steps[i].op->flags & NM_FLOWOP_ASKS) || !opened || opened == told ||
		    !nm_lives(opened->opts))
			continue;
		if (is_within(group, t, opened))
			refuse_life(ir, told = opened,
				    "each pass of its transaction has a connection of its own");
		else if (opened->stride)
			refuse_life(ir, told = opened,
				    "its transaction opens another connection with each pass");
	}
}

/* Memory of the arena, or NULL with an error. */
static void *new_kept(struct nm_ir *ir, const struct nm_ir_step *step, size_t size)
{
	void *memory = malloc(size);

	if (memory && nm_arena_keep(ir->arena, memory) == 0)
		return memory;
	nm_step_error(ir, step, ": out of memory");
	return NULL;
}

/* The faults that a server is asked for. */
static void check_faults(struct nm_ir *ir, struct nm_ir_step *step)
{
	const char *text = ((const struct nm_opts_serve *)step->opts)->fault;
	struct nm_faults *faults;
	char why[256];

	if (!text || !*text || !step->ask.app)
		return;
	faults = new_kept(ir, step, sizeof *faults);
	step->ask.faults = faults;
	if (!faults)
		return;
	if (nm_faults_read(text, faults, why, sizeof why) < 0)
		nm_option_error(ir, step, "fault", " fault=\"%.128s\": %s", text, why);
	else if (nm_faults_has(faults, NM_FAULT_ERROR) && !step->ask.app->fail)
		nm_option_error(ir, step, "fault", " fault: app=%s has no answer that is an error",
				step->ask.app->name);
	/* A unix socket that is closed with a linger time of 0 ends as any other does. */
	else if (nm_faults_has(faults, NM_FAULT_RESET) &&
		 (step->opened->transport->caps & NM_TRANSPORT_ONE_HOST))
		nm_option_error(ir, step, "fault",
				" fault: no reset over %s, whose connections have an end alone",
				step->opened->transport->name);
}

/* What of a command of Redis is known before the run. */
static void check_command(struct nm_ir *ir, struct nm_ir_step *step)
{
	const struct nm_opts_ask *opts = step->opts;
	const char *text = nm_node_attr(step->written.node, "text");
	struct nm_command *command;
	char why[128];

	if (step->op->verb != NM_VERB_COMMAND)
		return;
	if (!text) {
		nm_step_error(ir, step, ": needs the attribute text=\"...\", the command");
		return;
	}
	command = new_kept(ir, step, sizeof *command);
	step->ask.command = command;
	if (!command)
		return;
	if (opts->keys && !step->ask.keyspace) /* told already */
		return;
	if (nm_command_read(text, step->ask.keyspace, command, why, sizeof why) < 0)
		nm_step_error(ir, step, " text=\"%.128s\": %s", text, why);
	else if (command->has_data != (step->size > 0))
		nm_option_error(ir, step, "size",
				command->has_data
					? " size: __data__ needs size=..., its bytes"
					: " size: has no effect without __data__ in the text");
}

void nm_ir_bind_app(struct nm_ir *ir, struct nm_ir_step *step)
{
	const struct nm_opts_open *opts = step->opts;
	const char *why = NULL;

	if (opts->reconnect_ns && (step->op->flags & NM_FLOWOP_FOLLOWS))
		nm_option_error(ir, step, "reconnect", " reconnect: only of connect");
	if (opts->backoff.from_ns && !nm_is_given(opts->server))
		nm_option_error(ir, step, "backoff", " backoff: only of connect with server");
	if (nm_is_given(opts->app)) {
		step->ask.app = nm_app_find(opts->app);
		if (!step->ask.app) {
			unknown_app(ir, step, opts->app);
			return;
		}
		if ((step->op->flags & NM_FLOWOP_FOLLOWS) && !nm_ir_is_public(step))
			why = "only of connect, and of accept with from=any: the end that accepts "
			      "serves";
		else if (!is_stream(step->transport) &&
			 !speaks_datagrams(step->ask.app, step->transport))
			why = step->ask.app->datagram
				      ? "needs udp, or a stream, as tcp, mptcp, ssl or unix"
				      : "needs a stream, as tcp, mptcp, ssl or unix";
		else if (nm_transport_accepting(step->transport, step->transport_opts)->caps &
			 NM_TRANSPORT_MUX)
			why = "not with shared_socket, which keeps no more of a message than its "
			      "beginning";
		if (why)
			nm_option_error(ir, step, "app", " app=\"%s\": %s", opts->app, why);
	}
	nm_ir_check_public(ir, step);
	check_session(ir, step);
	check_life(ir, step);
	if (!nm_is_given(opts->server))
		return;
	if (opts->reconnect_ns && (step->transport->caps & NM_TRANSPORT_UDP))
		nm_option_error(
			ir, step, "reconnect",
			" reconnect: not over %s, where a connection neither fails nor ends",
			step->transport->name);
	if (opts->backoff.from_ns && (step->transport->caps & NM_TRANSPORT_UDP))
		nm_option_error(ir, step, "backoff",
				" backoff: not over %s, where no connection fails",
				step->transport->name);
	else if (opts->backoff.from_ns && !opts->reconnect_ns)
		nm_option_error(ir, step, "backoff", " backoff: has no effect without reconnect");
	if (opts->reconnect_ns && step->common->can_fail)
		nm_option_error(ir, step, "reconnect", " reconnect: not with canfail");
	why = why_no_server(step);
	if (why)
		nm_option_error(ir, step, "server", " server=\"%s\": %s", opts->server, why);
	else
		check_servers(ir, step);
}

/* The most bytes of values of one request, which is put together in one piece. */
#define BATCH_BYTES (256u << 10)

/* Several keys of one request. */
static void check_batch(struct nm_ir *ir, struct nm_ir_step *step)
{
	const uint64_t batch = ((const struct nm_opts_ask *)step->opts)->batch;

	if (batch <= 1 || !step->ask.app || !step->ask.keyspace)
		return;
	step->ask.batch = (uint32_t)batch;
	step->ask.own_keys = true;
	if (step->ask.keyspace->law == NM_KEYS_RECORDED)
		nm_option_error(ir, step, "batch",
				" batch: not of a trace, whose requests have one key each");
	else if (((const struct nm_opts_ask *)step->opts)->unique)
		nm_option_error(ir, step, "batch", " batch: not with unique");
	else if (batch * step->size > BATCH_BYTES)
		nm_option_error(ir, step, "batch",
				" batch: the values of one request would have %llu bytes; must be "
				"%u at most",
				(unsigned long long)(batch * step->size), BATCH_BYTES);
	else if (!(step->ask.app->batches & NM_VERB_BIT(step->op->verb)))
		nm_option_error(ir, step, "batch",
				" batch: app=%s has none of %s; of get there is one with those of "
				"memcached, and of set with memcache_meta and memcache_binary",
				step->ask.app->name, step->op->name);
}

/* A cas stands behind the get whose value it replaces. */
static void check_cas(struct nm_ir *ir, const struct nm_ir_transaction *t,
		      const struct nm_ir_step *first, struct nm_ir_step *step)
{
	const struct nm_ir_step *get = step > first ? step - 1 : step;
	const struct nm_opts_ask *opts = get->opts;

	if (step->op->verb != NM_VERB_CAS)
		return;
	step->ask.own_keys = true;
	if (get->op->verb != NM_VERB_GET || !opts->unique || get->slot != step->slot ||
	    get->ask.keyspace != step->ask.keyspace || get->in.member != step->in.member ||
	    get->in.sequence != step->in.sequence || step->common->count > 1 ||
	    t->attrs.pipeline > 1)
		nm_step_error(ir, step,
			      ": must stand once behind a get with `unique`, of the same keys and "
			      "connection, in a pass without `pipeline`");
}

/* Gives a step that asks the protocol of its connection. */
static void check_verb(struct nm_ir *ir, struct nm_ir_step *step)
{
	const struct nm_ir_step *opened = step->opened;
	char list[256];

	step->ask.app = opened->ask.app;
	if (step->op == &nm_flowop_serve) {
		check_faults(ir, step);
		return;
	}
	if (!step->ask.app) {
		if (!nm_is_given(((const struct nm_opts_open *)opened->opts)->app))
			nm_step_error(ir, step,
				      ": the connection of line %u has no app=..., so that nothing "
				      "can be asked over it; there are: %s",
				      opened->line, nm_app_names(list, sizeof list));
		return;
	}
	if (!(step->ask.app->verbs & NM_VERB_BIT(step->op->verb)))
		nm_step_error(ir, step,
			      ": app=%s of the connection of line %u has no %s; it has: %s",
			      step->ask.app->name, opened->line, step->op->name,
			      nm_app_verbs(step->ask.app->verbs, list, sizeof list));
	else if (!(nm_app_served_verbs(step->ask.app) & NM_VERB_BIT(step->op->verb)) &&
		 !nm_ir_is_to_server(opened))
		nm_step_error(ir, step,
			      ": needs server=... at the connect of line %u: netmodel's own server "
			      "of app=%s has: %s",
			      opened->line, step->ask.app->name,
			      nm_app_verbs(nm_app_served_verbs(step->ask.app), list, sizeof list));
	if (((const struct nm_opts_ask *)step->opts)->flags && !step->ask.app->has_flags)
		nm_option_error(ir, step, "flags", " flags: app=%s has no number beside a value",
				step->ask.app->name);
	/* What numbers its values has cas, too. */
	if (((const struct nm_opts_ask *)step->opts)->unique &&
	    !(step->ask.app->verbs & NM_VERB_BIT(NM_VERB_CAS)))
		nm_option_error(ir, step, "unique", " unique: app=%s has no numbers of values",
				step->ask.app->name);
	if (step->common->can_fail)
		nm_option_error(
			ir, step, "canfail",
			" canfail: what is asked next would be answered by the answer to this");
}

/* Why answers that were cut cannot be asked for over a stream; NULL: they can. */
static const char *why_no_fallback(const struct nm_ir_step *step)
{
	if (!(step->transport->caps & NM_TRANSPORT_UDP))
		return "only over udp: a stream cuts no answer";
	if (!nm_ir_is_to_server(step->opened))
		return "needs server=...: netmodel's own server cuts no answer";
	return NULL;
}

/* The options of the stream: those of the datagrams' sockets, as far as it has them. */
static const void *fallback_options(struct nm_ir *ir, const struct nm_ir_step *step,
				    const struct nm_transport *transport)
{
	static const struct nm_opt none[] = {NM_OPT_END};
	const void *defaults = nm_arena_opts(ir->arena, transport->opts, transport->opts_size);
	/* The strings belong to the originals. */
	void *opts = nm_arena_opts(ir->arena, none, transport->opts_size);

	if (!defaults || !opts) {
		nm_diag_error(ir->diags, ir->file, step->line, "out of memory");
		return NULL;
	}
	memcpy(opts, defaults, transport->opts_size);
	nm_sock_follow(opts, step->opened->transport_opts);
	return opts;
}

/* The stream over which a step asks again, which all have that ask the same servers. */
static void give_fallback(struct nm_ir *ir, struct nm_ir_group *group, struct nm_ir_step *step)
{
	const char *why = why_no_fallback(step);

	if (!why && group->n_conns == NM_PLAN_MAX_CONNS)
		why = "a flow would have too many connections";
	if (why) {
		nm_option_error(ir, step, "tcp_fallback", " tcp_fallback: %s", why);
		return;
	}
	for (const struct nm_ir_step *other = group->steps; other < step; other++)
		if (other->opened == step->opened && other->ask.fallback.transport)
			step->ask.fallback = other->ask.fallback;
	if (step->ask.fallback.transport)
		return;
	const struct nm_transport *tcp = nm_transport_find("tcp");

	step->ask.fallback = (struct nm_app_fallback){
		.transport = tcp,
		.transport_opts = fallback_options(ir, step, tcp),
		.slot = group->n_conns++,
	};
}

void nm_ir_check_apps(struct nm_ir *ir, struct nm_ir_group *group)
{
	char list[256];

	nm_ir_check_servers(ir, group);
	for (size_t i = 0; i < group->n_steps; i++) {
		struct nm_ir_step *step = &group->steps[i];

		if (!step->opened)
			continue;
		if (step->op->flags & NM_FLOWOP_ASKS) {
			check_verb(ir, step);
			step->ask.times = step->common->count;
			step->ask.keyspace = step->op->verb == NM_VERB_QUERY
						     ? nm_ir_find_questions(ir, step)
						     : nm_ir_find_keys(ir, step);
			check_batch(ir, step);
			check_command(ir, step);
			if (((const struct nm_opts_ask *)step->opts)->tcp_fallback)
				give_fallback(ir, group, step);
			if (step->op->verb == NM_VERB_HTTP) {
				nm_ir_check_http(ir, group, step);
				nm_ir_check_http_files(ir, step);
			}
		}
		/* Its bytes would be taken for a request, or for an answer. */
		if ((step->op->flags & NM_FLOWOP_MOVES) && step->opened->ask.app)
			nm_step_error(
				ir, step,
				": the connection of line %u speaks %s, whose flowops are: %s",
				step->opened->line, step->opened->ask.app->name,
				nm_app_verbs(step->opened->ask.app->verbs, list, sizeof list));
	}
	for (size_t k = 0; k < group->n_transactions; k++) {
		const struct nm_ir_transaction *t = &group->transactions[k];

		check_lives(ir, group, t);
		for (size_t i = t->first; i < t->first + t->n_steps; i++)
			check_cas(ir, t, &group->steps[t->first], &group->steps[i]);
	}
	for (size_t k = 0; k < group->n_transactions; k++)
		if (nm_ir_fills(&group->transactions[k]) && group->transactions[k].n_steps)
			nm_ir_set_fill(ir, group, &group->transactions[k]);
}
