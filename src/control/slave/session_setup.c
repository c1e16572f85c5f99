/* SPDX-License-Identifier: Apache-2.0 */
/* A session until its engine is started. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/units.h"
#include "control/preflight.h"
#include "control/address.h"
#include "control/slave/allow.h"
#include "control/slave/session_priv.h"
#include "control/wire/rows.h"
#include "host/clock.h"
#include "host/cpus.h"
#include "host/priority.h"
#include "transport/address.h"

#define LEAST_INTERVAL_NS 1000000u
#define LEAST_TIMEOUT_NS  (4 * NM_HEARTBEAT_LEAST_NS)

int nm_session_refuse(struct nm_session *session, const char *code, const char *text)
{
	nm_session_log(session, "refused: %s", text);
	/* Once the engine is armed, a session that ends is a failure of the run. */
	if (session->peer.state == NM_SESSION_IDLE || session->peer.state == NM_SESSION_PHASE ||
	    session->peer.state == NM_SESSION_RESULT) {
		const struct nm_msg_failed failed = {.text = text};

		(void)nm_session_send(session, NM_MESSAGE_FAILED, nm_failed_pack(&failed));
	} else {
		/* The slot is left before the master knows, since the master may be back at
		 * once. */
		if (session->slot) {
			nm_slave_runs_leave(&session->slot->slots->runs, session->slot->index,
					    nm_clock_ns());
			nm_session_slot_leave(session->slot);
		}
		(void)nm_session_send(session, NM_MESSAGE_REFUSE, nm_refuse_pack(code, text));
	}
	session->peer.state = NM_SESSION_END;
	return 0;
}

/* The slave finds out about a wrong key before the master, which learns it from TLS. */
bool nm_session_refuse_unproved(struct nm_session *session)
{
	if (session->peer.state != NM_SESSION_HELLO)
		return false;
	switch (session->peer.ended) {
	case -ENOKEY:
		(void)nm_session_refuse(session, "auth",
					"the master has a key, and this slave has none: start the "
					"slave with the same (--key-file FILE, or NETMODEL_KEY in "
					"the environment), or the master without one");
		return true;
	case -EKEYREJECTED:
		nm_session_log(session, "refused: it has another key than this slave: give both "
					"the same (--key-file FILE, or NETMODEL_KEY)");
		return true;
	case -EBADMSG:
		nm_session_log(session, "refused: it %s", nm_peer_ended_text(&session->peer));
		return true;
	default:
		return false;
	}
}

/* Whether the master may use this slave. */
static bool is_admitted(const struct nm_session *session)
{
	const struct nm_slave_options *options = session->options;

	return nm_admission_may_enter(options->admission,
				      nm_address_is_own(&session->remote, &session->local_addr),
				      nm_peer_is_proved(&session->peer));
}

int nm_session_lost(struct nm_session *session)
{
	return nm_session_refuse(session, "busy",
				 "another master has its place: it had said hello and prepared "
				 "nothing, and all places were taken");
}

int nm_session_hello(struct nm_session *session, json_t *body)
{
	struct nm_msg_hello hello;
	struct nm_host_facts facts;
	char text[NM_WIRE_MAX_TEXT + 1];

	if (nm_hello_unpack(body, &hello))
		return -EPROTO;
	if (hello.protocol != NM_PROTOCOL) {
		(void)snprintf(
			text, sizeof text,
			"the master speaks protocol %u (netmodel %s), this slave protocol %d "
			"(netmodel %s): use the same version on both hosts",
			hello.protocol, hello.version, NM_PROTOCOL, NM_VERSION);
		return nm_session_refuse(session, "version", text);
	}
	if (!is_admitted(session)) {
		nm_admission_explain(session->options->admission, session->remote_text, text,
				     sizeof text);
		return nm_session_refuse(session, "auth", text);
	}
	if (session->slot) /* this process is the session's own */
		nm_key_wipe(session->options->key);
	enum nm_session_seat seat = session->slot
					    ? nm_session_slot_take(session->slot, nm_clock_ns())
					    : NM_SESSION_SEAT_TAKEN;
	if (seat != NM_SESSION_SEAT_TAKEN) {
		if (seat == NM_SESSION_SEAT_NO_MORE)
			(void)snprintf(text, sizeof text,
				       "it serves %d sessions of %s already, which is as many as "
				       "another host may have",
				       NM_SESSION_SLOTS_OF_HOST, session->remote_text);
		else if (atomic_load(&session->slot->slots->room) < NM_SESSION_SLOTS_SERVED)
			(void)snprintf(text, sizeof text,
				       "it serves %llu session%s and no more (%s)",
				       (unsigned long long)session->options->sessions,
				       session->options->sessions == 1 ? "" : "s",
				       session->options->asked.sessions_words);
		else
			(void)snprintf(
				text, sizeof text,
				"it serves %d sessions already, which is as many as it takes",
				NM_SESSION_SLOTS_SERVED);
		return nm_session_refuse(session, "busy", text);
	}
	nm_host_facts_read(&facts);
	session->peer.state = NM_SESSION_PREPARE;
	return nm_session_send(
		session, NM_MESSAGE_WELCOME,
		nm_welcome_pack(facts.hostname, session->options->admission == NM_ADMIT_ALL));
}

/* Parses and compiles the work order. False after a refusal. */
static bool compile(struct nm_session *session, const struct nm_msg_prepare *prepare)
{
	struct nm_diags diags = {.lenient = prepare->lenient};
	char text[NM_WIRE_MAX_TEXT + 1];

	session->root =
		nm_profile_parse(prepare->file, prepare->profile, strlen(prepare->profile), &diags);
	if (session->root)
		session->plan =
			nm_plan_compile_mirror(session->root, prepare->file, prepare->host, &diags);
	session->root = nm_node_free(session->root);
	if (session->plan)
		nm_preflight_check(session->plan, prepare->file, &diags);
	bool ok = session->plan && diags.n_errors == 0;

	if (!ok) {
		(void)snprintf(text, sizeof text, "it cannot use the profile");
		for (size_t i = 0; i < diags.count; i++) {
			if (diags.items[i].severity == NM_SEV_ERROR) {
				nm_diag_format(&diags.items[i], text, sizeof text);
				break;
			}
		}
		(void)nm_session_refuse(session, "profile", text);
	}
	nm_diags_fini(&diags);
	return ok;
}

/* Checks the order against the limits of any slave, before there is a plan. False after a
 * refusal. */
static bool check_order(struct nm_session *session, const struct nm_msg_prepare *prepare)
{
	char text[160];

	if (prepare->interval_ns && prepare->interval_ns < LEAST_INTERVAL_NS)
		(void)snprintf(text, sizeof text,
			       "intervals of %llu ns are asked for, and it allows none below 1 ms",
			       (unsigned long long)prepare->interval_ns);
	else if (prepare->timeout_ns < LEAST_TIMEOUT_NS)
		(void)snprintf(text, sizeof text,
			       "a timeout of %llu ns is asked for, and it allows none below "
			       "400 ms: heartbeats would follow each other too fast",
			       (unsigned long long)prepare->timeout_ns);
	else
		return true;
	(void)nm_session_refuse(session, "limit", text);
	return false;
}

/* Whether the plan takes longer than the slave allows: then what and how much, in why. */
static bool is_too_long(const struct nm_session *session, char *why, size_t why_size)
{
	uint64_t most_ns = session->options->max_duration_ns;
	uint64_t length_ns = nm_plan_duration_ns(session->plan);
	char length[32], most[32];

	if (!most_ns || length_ns <= most_ns)
		return false;
	(void)snprintf(why, why_size,
		       "a run of at least %s is asked for, and it allows %s (--max-duration)",
		       nm_format_duration((double)length_ns / 1e9, length, sizeof length),
		       nm_format_duration((double)most_ns / 1e9, most, sizeof most));
	return true;
}

/* Checks the plan against the limits of this slave and of the system. False after a refusal. */
static bool check_limits(struct nm_session *session)
{
	uint64_t flows = 0, limit = 0;
	uint64_t needed = nm_plan_descriptors(session->plan) + NM_OTHER_DESCRIPTORS;
	char text[256];

	for (uint32_t g = 0; g < session->plan->n_groups; g++) {
		if (session->plan->groups[g].runs)
			flows += session->plan->groups[g].n_flows;
	}
	if (session->options->max_flows && flows > session->options->max_flows) {
		(void)snprintf(text, sizeof text,
			       "%llu flows are asked for, and it allows %llu (--max-flows)",
			       (unsigned long long)flows,
			       (unsigned long long)session->options->max_flows);
	} else if (is_too_long(session, text, sizeof text)) {
		/* why is told */
	} else if (!session->options->in_process && nm_raise_nofile(needed, &limit)) {
		(void)snprintf(text, sizeof text,
			       "%llu open files are needed, and its process may have %llu: raise "
			       "its limit (ulimit -n)",
			       (unsigned long long)needed, (unsigned long long)limit);
	} else {
		return true;
	}
	(void)nm_session_refuse(session, "limit", text);
	return false;
}

static bool is_of_this_host(const struct nm_session *session)
{
	return nm_address_is_own(&session->remote, &session->local_addr);
}

/* Whether the plan needs only privileges that this slave lends. False after a refusal. */
static bool check_lent(struct nm_session *session)
{
	char text[256];

	if (is_of_this_host(session) ||
	    nm_allow_check(session->plan, session->options->lent, text, sizeof text) == 0)
		return true;
	(void)nm_session_refuse(session, "limit", text);
	return false;
}

/* The folder below which files of the profile may be read; NULL: any file. A master of this host,
 * whose user could read the files anyway, is only kept from waiting. */
static const struct nm_file_root *files_of(const struct nm_session *session)
{
	const struct nm_file_root *files = &session->options->files;

	return files->fd < 0 && is_of_this_host(session) ? NULL : files;
}

/* The route to the master may have another source address than the one at which the master has
 * reached this host. Connections then use the latter all the same: the master knows no other. */
static void leave_as_reached(struct nm_session *session)
{
	struct nm_addr source;

	if (session->remote.sa.ss_family != AF_VSOCK &&
	    nm_address_source(&session->remote, &source) == 0 &&
	    !nm_addr_same_host(&source, &session->local_addr))
		nm_plan_leave_from(session->plan, &session->local_addr);
}

/* The details that the engine keeps: those that the master asks for, and for the slave's own
 * samples the counts of flows. */
static uint32_t details_of(struct nm_session *session, const struct nm_msg_prepare *prepare)
{
	uint32_t details = prepare->details & ~(uint32_t)(NM_OBSERVE_OWN | NM_OBSERVE_PASS_TIMES);

	session->tells_flows = details & NM_OBSERVE_PASSES;
	if (session->options->asked.flows && nm_plan_flows(session->plan) <= NM_FLOW_ROWS_MAX)
		details |= NM_OBSERVE_PASSES;
	return details;
}

/* Makes the engine and its samplers as the master asks. 0, or -errno with a text in why. */
static int open_local(struct nm_session *session, const struct nm_cpu_list *cpus,
		      const struct nm_msg_prepare *prepare, char *why, size_t why_size)
{
	struct nm_local_config config = {
		.engine = {.plan = session->plan,
			   .details = details_of(session, prepare),
			   .seed = prepare->seed,
			   .cpus = cpus->cpus,
			   .n_cpus = cpus->count,
			   .files = files_of(session),
			   .allowed = session->options->allowed,
			   .n_allowed = session->options->n_allowed,
			   .timeout_ns = prepare->timeout_ns},
		.interval_ns = prepare->interval_ns,
		.counters = prepare->counters,
		.arg = session,
		.row = nm_session_row,
		.flow_rows = nm_session_flows,
		.tcp_rows = nm_session_tcp,
	};

	char text[128];

	leave_as_reached(session);
	memcpy(config.engine.secret, prepare->secret, sizeof config.engine.secret);
	int error = nm_local_open(&session->local, &config);

	explicit_bzero(config.engine.secret, sizeof config.engine.secret);
	if (error) {
		(void)snprintf(why, why_size, "it cannot make the engine: %s",
			       nm_session_error_text(session, error, text, sizeof text));
		return error;
	}
	nm_engine_set_host(session->local.engine, 0, &session->remote, &session->local_addr);
	why[0] = '\0';
	error = nm_local_listen(&session->local, why, why_size);
	nm_plan_wipe_secrets(session->plan);
	if (error && !*why)
		(void)nm_session_error_text(session, error, why, why_size);
	return error;
}

/* False after a refusal. */
static bool make_local(struct nm_session *session, const struct nm_msg_prepare *prepare)
{
	const char *list = prepare->cpus ? prepare->cpus : session->options->cpus;
	struct nm_cpu_list cpus = {.cpus = NULL};
	char text[512];
	const char *code = "resources";
	int error = list ? nm_cpu_list_parse(list, &cpus) : 0;

	if (error) {
		char phrase[320];

		code = "cpus";
		nm_cpu_list_explain(list, error, phrase, sizeof phrase);
		(void)snprintf(text, sizeof text, "CPU list \"%.128s\": %s", list, phrase);
	} else {
		error = open_local(session, &cpus, prepare, text, sizeof text);
	}
	nm_cpu_list_fini(&cpus);
	if (error == -EADDRINUSE)
		code = NM_REFUSE_PORT;
	/* A run has come to nothing: a slave that is to serve so many sessions does not wait for
	 * another instead. */
	if (error) {
		session->end = NM_SESSION_BROKEN;
		(void)nm_session_refuse(session, code, text);
	}
	return !error;
}

/* Room for the session's records about the plan. */
static int allocate(struct nm_session *session, const struct nm_msg_prepare *prepare)
{
	session->told_done = calloc(session->plan->n_groups + 1, sizeof *session->told_done);
	session->told_renewals =
		calloc(session->plan->n_groups + 1, sizeof *session->told_renewals);
	session->file = strdup(prepare->file);
	return session->told_done && session->told_renewals && session->file ? 0 : -ENOMEM;
}

/* A run that its master has ended may still have its session for a moment. */
#define OTHER_NS      1000000000u
#define OTHER_STEP_NS 10000000

/* Enters the run among those of the slave. False after a refusal: another has the slave to
 * itself. No heartbeats are sent while that is waited for: the wait is short beside the silence
 * after which the master gives the slave up. */
static bool claim(struct nm_session *session, const struct nm_msg_prepare *prepare)
{
	const struct timespec step = {.tv_nsec = OTHER_STEP_NS};
	const struct nm_session_slot *slot = session->slot;
	char text[320], master[NM_SLAVE_RUN_MASTER] = "another master";
	uint64_t id = nm_slave_run_id(prepare->run_id), now_ns = nm_clock_ns();
	uint64_t quarter_ns = prepare->timeout_ns / 4, since_ns = now_ns;
	uint64_t until_ns = now_ns + (quarter_ns < OTHER_NS ? quarter_ns : OTHER_NS);

	while (slot &&
	       !nm_slave_runs_claim(&slot->slots->runs, slot->index, id, session->remote_text,
				    session->options->exclusive, now_ns)) {
		if (now_ns < until_ns) {
			(void)nanosleep(&step, NULL);
			now_ns = nm_clock_ns();
			continue;
		}
		(void)nm_slave_runs_other(&slot->slots->runs, master, sizeof master, &since_ns);
		(void)snprintf(text, sizeof text,
			       "it serves one run at a time (--exclusive), and that of %s has been "
			       "there for %.3g s",
			       master, (double)(now_ns - since_ns) / 1e9);
		(void)nm_session_refuse(session, "busy", text);
		return false;
	}
	return true;
}

/* Both ends have equally many workers, each of which talks to one of the other end. */
static void tell_workers(const struct nm_session *session)
{
	uint64_t wanted = session->options->asked.workers;

	for (uint32_t g = 0; wanted && g < session->plan->n_groups; g++) {
		const struct nm_group *group = &session->plan->groups[g];

		if (group->runs && group->n_workers != wanted)
			nm_session_log(session,
				       "its group %s has %u threads at both ends, not the %llu of "
				       "this slave: the master chooses how many",
				       group->name, group->n_workers, (unsigned long long)wanted);
	}
}

int nm_session_prepare(struct nm_session *session, json_t *body)
{
	struct nm_msg_prepare prepare;
	struct nm_host_facts facts;

	if (nm_prepare_unpack(body, &prepare))
		return -EPROTO;
	if (session->slot && !nm_session_slot_serve(session->slot))
		return nm_session_lost(session);
	bool made = claim(session, &prepare) && check_order(session, &prepare) &&
		    compile(session, &prepare) && check_lent(session) && check_limits(session) &&
		    make_local(session, &prepare);

	explicit_bzero(prepare.secret, sizeof prepare.secret);
	if (!made)
		return 0;
	session->peer.scale = nm_message_scale_of(session->plan, prepare.details);
	int error = allocate(session, &prepare);
	if (error)
		return error;
	nm_heartbeat_satisfy(&session->peer.beat, prepare.timeout_ns);
	session->patience.master_timeout_ns = prepare.timeout_ns;
	session->end = NM_SESSION_BROKEN;
	if (!session->options->asked.only_trouble)
		nm_session_log(session, "run %.12s: profile %s, as host %s", prepare.run_id,
			       prepare.file, prepare.host);
	tell_workers(session);
	nm_host_facts_read(&facts);
	session->peer.state = NM_SESSION_CONNECT;
	return nm_session_send(
		session, NM_MESSAGE_READY,
		nm_ready_pack(nm_endpoints_pack(session->local.engine, session->plan, 0),
			      nm_engine_nonce(session->local.engine), &facts));
}

int nm_session_connect(struct nm_session *session, json_t *body)
{
	unsigned char nonce[NM_NONCE_BYTES];
	json_t *endpoints;

	if (nm_connect_unpack(body, &endpoints, nonce) ||
	    nm_endpoints_unpack(endpoints, session->local.engine, session->plan, 0) ||
	    !nm_engine_endpoints_complete(session->local.engine))
		return -EPROTO;
	nm_engine_set_nonce(session->local.engine, 0, nonce);
	int error = nm_engine_start(session->local.engine);
	if (error) {
		char text[256], why[128];

		(void)snprintf(text, sizeof text, "it cannot start its workers: %s",
			       nm_session_error_text(session, error, why, sizeof why));
		return nm_session_refuse(session, "resources", text);
	}
	/* To the end of the session's process. */
	if (!session->options->in_process)
		(void)nm_priority_raise();
	session->peer.state = NM_SESSION_IDLE;
	return nm_session_send(session, NM_MESSAGE_ARMED, json_object());
}
