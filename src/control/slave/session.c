/* SPDX-License-Identifier: Apache-2.0 */
/* The event loop of a session: messages, the engine's events, timers. */
#include "control/slave/session.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "control/address.h"
#include "control/options.h"
#include "control/slave/session_priv.h"
#include "host/clock.h"
#include "host/facts.h"
#include "host/fork.h"
#include "transport/address.h"

#define LOOK_NS	  200000000u  /* between two looks whether another has its place */
#define LINGER_NS 1000000000u /* time for the master to read the last word */

/* A handler is given no argument. */
static volatile sig_atomic_t told_to_end NM_OF_PROCESS;

static void on_signal(int number)
{
	(void)number;
	told_to_end = 1;
}

void nm_session_end_by_signal(void)
{
	struct sigaction end = {.sa_handler = on_signal};
	sigset_t blocked;

	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	(void)sigemptyset(&end.sa_mask);
	(void)sigaction(SIGTERM, &end, NULL);
	/* SIGTERM comes while the session waits, see wait_for_events. */
	(void)sigemptyset(&blocked);
	(void)sigaddset(&blocked, SIGTERM);
	(void)sigprocmask(SIG_SETMASK, &blocked, NULL);
}

static int heartbeat(struct nm_session *session, json_t *body)
{
	return nm_number_unpack(NM_MESSAGE_HEARTBEAT, body, &session->progress);
}

static int wait_for_master(struct nm_session *session, json_t *body)
{
	uint64_t wait_ns;

	if (nm_number_unpack(NM_MESSAGE_DELAY, body, &wait_ns) || session->n_begun ||
	    !nm_patience_wait(&session->patience, wait_ns, nm_clock_ns()))
		return -EPROTO;
	return 0;
}

static int bye(struct nm_session *session, json_t *body)
{
	struct nm_result *measured = session->measured;
	struct nm_host_window window;
	/* A master of another version may say nothing of itself. */
	bool is_told = json_object_size(body) > 0;

	if (is_told && nm_bye_unpack(body, &window))
		return -EPROTO;
	if (is_told && measured) {
		measured->hosts[1].window = window;
		measured->n_hosts = 2;
	}
	session->end = NM_SESSION_SERVED;
	session->peer.state = NM_SESSION_END;
	return 0;
}

static int aborted(struct nm_session *session, json_t *body)
{
	const char *code, *text;
	int error = nm_refuse_unpack(body, &code, &text);

	if (!error)
		nm_session_log(session, "aborted: %s", text);
	session->peer.state = NM_SESSION_END;
	return error;
}

static const nm_session_handler handlers[NM_MESSAGE__COUNT] = {
	[NM_MESSAGE_HELLO] = nm_session_hello,
	[NM_MESSAGE_PREPARE] = nm_session_prepare,
	[NM_MESSAGE_DELAY] = wait_for_master,
	[NM_MESSAGE_CONNECT] = nm_session_connect,
	[NM_MESSAGE_PING] = nm_session_ping,
	[NM_MESSAGE_BEGIN] = nm_session_begin,
	[NM_MESSAGE_STOP] = nm_session_stop,
	[NM_MESSAGE_CUT] = nm_session_cut,
	[NM_MESSAGE_FOLLOW] = nm_session_follow,
	[NM_MESSAGE_RENEW] = nm_session_renew,
	[NM_MESSAGE_WHERE] = nm_session_where,
	[NM_MESSAGE_FINISH] = nm_session_finish,
	[NM_MESSAGE_HEARTBEAT] = heartbeat,
	[NM_MESSAGE_BYE] = bye,
	[NM_MESSAGE_ABORT] = aborted,
};

/* Handles all messages that have arrived. A wrong one is answered with a refusal, which ends the
 * session. */
static void dispatch(struct nm_session *session)
{
	char why[256];
	struct nm_message message;
	int answer = 0;

	while (session->peer.state != NM_SESSION_END &&
	       (answer = nm_peer_next(&session->peer, &message, why, sizeof why)) > 0) {
		answer = handlers[message.type](session, message.body);
		if (answer == -EPROTO)
			(void)snprintf(why, sizeof why, "a wrong message \"%s\"",
				       nm_message_word(message.type));
		else if (answer < 0)
			(void)nm_session_error_text(session, answer, why, sizeof why);
		nm_message_fini(&message);
		if (answer < 0)
			break;
	}
	if (answer >= 0)
		return;
	/* Before its first message the other end may be any program. */
	if (session->peer.state == NM_SESSION_HELLO) {
		size_t used = strlen(why);

		(void)snprintf(why + used, sizeof why - used,
			       ": what has connected is no netmodel master%s%s",
			       session->options->strangers_hint ? "; " : "",
			       session->options->strangers_hint ? session->options->strangers_hint
								: "");
	}
	(void)nm_session_refuse(session, "protocol", why);
}

static uint64_t next_ns(const struct nm_session *session)
{
	uint64_t next = nm_heartbeat_next_ns(&session->peer.beat);
	uint64_t patient_ns = nm_patience_until_ns(&session->patience);

	if (session->peer.state == NM_SESSION_HELLO || patient_ns < next)
		next = patient_ns;
	if (session->until_ns < next)
		next = session->until_ns;
	/* Another session that takes the place of this one does not wake it. */
	if (session->peer.state == NM_SESSION_PREPARE && nm_clock_ns() + LOOK_NS < next)
		next = nm_clock_ns() + LOOK_NS;
	uint64_t sample_ns = nm_samplers_next_ns(&session->local.samplers);

	return sample_ns < next ? sample_ns : next;
}

/* Waits for the next thing to happen. */
static int wait_for_events(struct nm_session *session)
{
	struct pollfd fds[2] = {
		{.fd = session->peer.fd, .events = nm_peer_events(&session->peer)},
		{.fd = session->local.engine ? nm_engine_fd(session->local.engine) : -1,
		 .events = POLLIN},
	};
	uint64_t now_ns = nm_clock_ns(), until_ns = next_ns(session);
	uint64_t wait_ns = until_ns > now_ns ? until_ns - now_ns : 0;
	const struct timespec wait = {.tv_sec = (time_t)(wait_ns / 1000000000u),
				      .tv_nsec = (long)(wait_ns % 1000000000u)};

	sigset_t none;

	/* Only a process of its own blocks any. */
	(void)sigemptyset(&none);
	if (ppoll(fds, 2, &wait, session->slot ? &none : NULL) < 0 && errno != EINTR)
		return -errno;
	if (told_to_end && session->slot)
		return -ESHUTDOWN;
	if (fds[1].revents)
		nm_engine_clear(session->local.engine);
	nm_peer_flush(&session->peer);
	nm_peer_receive(&session->peer, nm_clock_ns());
	return 0;
}

static uint64_t own_progress(const struct nm_session *session)
{
	return session->local.engine ? nm_engine_progress(session->local.engine) : 0;
}

/* A number that changes when anything moves, here or on hosts of which the master has told. */
static uint64_t progress(const struct nm_session *session)
{
	return own_progress(session) + session->progress;
}

/* Does all that is due by the clock. */
static int run_timers(struct nm_session *session)
{
	const struct nm_engine *engine = session->local.engine;
	uint64_t now_ns = nm_clock_ns();

	nm_peer_listen(&session->peer, engine ? nm_engine_received(engine) : 0, now_ns);
	enum nm_heartbeat_due due = nm_heartbeat_due(&session->peer.beat, now_ns);

	if (session->peer.state == NM_SESSION_HELLO)
		return nm_patience_ends(&session->patience, 0, now_ns) ? -ETIMEDOUT : 0;
	if (session->slot && nm_session_slot_is_lost(session->slot))
		return nm_session_lost(session);
	if (nm_patience_ends(&session->patience, progress(session), now_ns)) {
		char text[128];

		return nm_session_refuse(
			session, "timeout",
			nm_patience_text(&session->patience, now_ns, text, sizeof text));
	}
	if (now_ns >= session->until_ns) {
		const struct nm_msg_failed failed = {.text = "the session has reached the longest "
							     "duration that the slave allows"};

		(void)nm_session_send(session, NM_MESSAGE_FAILED, nm_failed_pack(&failed));
		return -ETIME;
	}
	if (due == NM_HEARTBEAT_LOST)
		return -ETIMEDOUT;
	nm_samplers_run(&session->local.samplers, now_ns);
	if (due == NM_HEARTBEAT_SEND)
		return nm_session_send(session, NM_MESSAGE_HEARTBEAT,
				       nm_number_pack(NM_MESSAGE_HEARTBEAT, own_progress(session)));
	return 0;
}

/* A sentence about the signal or the limit that has ended the slave. */
static const char *slave_end_text(const struct nm_session *session)
{
	switch (atomic_load(&session->slot->slots->ended_by)) {
	case SIGTERM:
		return "the slave was ended by SIGTERM";
	case SIGINT:
		return "the slave was ended by SIGINT";
	case SIGHUP:
		return "the slave was ended by SIGHUP";
	case NM_INTERRUPT_LIMIT:
		return "the slave has reached its longest lifetime (--max-lifetime)";
	default:
		return "the slave was killed";
	}
}

static const char *end_text(const struct nm_session *session, int error)
{
	switch (error) {
	case -ESHUTDOWN:
		return slave_end_text(session);
	case -ETIMEDOUT:
		return "the master was silent too long";
	case -ETIME:
		return "it took longer than this slave allows (--max-duration)";
	default:
		return strerror(-error);
	}
}

/* A master that has all it wants is left to say bye. One that was silent may only have been held
 * up, as by the machine. */
static void tell_end(struct nm_session *session, int error)
{
	const struct nm_msg_failed failed = {.text = end_text(session, error)};

	if (session->peer.state != NM_SESSION_HELLO && session->peer.state != NM_SESSION_END)
		(void)nm_session_send(session, NM_MESSAGE_FAILED, nm_failed_pack(&failed));
}

static void session_loop(struct nm_session *session)
{
	int error = 0;

	while (!error && session->peer.state != NM_SESSION_END) {
		error = wait_for_events(session);
		if (error)
			break;
		dispatch(session);
		nm_patience_enter(&session->patience, session->peer.state, nm_clock_ns());
		if (session->peer.ended && nm_session_refuse_unproved(session))
			break;
		if (session->peer.ended) {
			/* The master may close right after its bye, before the session has read the
			 * bye. */
			if (session->peer.state == NM_SESSION_RESULT)
				session->end = NM_SESSION_SERVED;
			else if (session->peer.state != NM_SESSION_END &&
				 session->peer.state != NM_SESSION_HELLO)
				nm_session_log(session, "ended: the master %s",
					       nm_peer_ended_text(&session->peer));
			return;
		}
		if (session->local.engine)
			error = nm_session_tell_renewals(session);
		if (!error && session->local.engine)
			error = nm_session_tell_places(session);
		if (!error && session->local.engine)
			error = nm_session_report(session);
		if (!error && session->peer.state != NM_SESSION_END)
			error = run_timers(session);
	}
	if (error == -ESHUTDOWN || error == -ETIMEDOUT)
		tell_end(session, error);
	if (error)
		nm_session_log(session, "ended: %s", end_text(session, error));
	/* A refusal or a failure is the last word: it must not be lost in a reset. */
	nm_peer_drain(&session->peer, nm_clock_ns() + LINGER_NS);
}

static void session_fini(struct nm_session *session)
{
	nm_local_close(&session->local);
	session->measured = nm_result_free(session->measured);
	session->plan = nm_plan_free(session->plan);
	session->root = nm_node_free(session->root);
	nm_peer_fini(&session->peer);
	free(session->file);
	free(session->told_done);
	free(session->told_renewals);
}

enum nm_session_end nm_session_serve(int fd, const struct nm_slave_options *options,
				     const struct nm_session_slot *slot)
{
	uint64_t now_ns = nm_clock_ns();
	struct nm_session session = {.options = options,
				     .slot = slot,
				     .until_ns = UINT64_MAX,
				     .end = NM_SESSION_NOTHING};

	nm_patience_init(&session.patience, options->timeout_ns, now_ns);
	if (options->max_duration_ns)
		session.until_ns = now_ns + options->max_duration_ns;
	if (options->max_memory_bytes && !options->in_process)
		(void)nm_limit_memory(options->max_memory_bytes);
	int error = nm_peer_init(&session.peer, fd, NM_SIDE_MASTER, options->key,
				 options->timeout_ns, now_ns);
	if (!error)
		error = nm_address_of_ends(session.peer.fd, &session.local_addr, &session.remote);
	if (!error) {
		(void)nm_addr_text(&session.remote, session.remote_text,
				   sizeof session.remote_text);
		session_loop(&session);
	}
	/* The master has said bye: a slow reader of this result does not hold it up. */
	if (session.end == NM_SESSION_SERVED && session.measured &&
	    session.n_begun == session.plan->n_phases)
		options->ended(options->arg, session.measured);
	session_fini(&session);
	return session.end;
}
