/* SPDX-License-Identifier: Apache-2.0 */
/* The state and the functions that the files of a session share. One thread serves a session. */
#ifndef NM_CONTROL_SLAVE_SESSION_PRIV_H
#define NM_CONTROL_SLAVE_SESSION_PRIV_H

#include "control/local.h"
#include "control/peer.h"
#include "control/slave/patience.h"
#include "control/slave/session.h"
#include "control/wire/codec.h"
#include "profile/tree.h"

struct nm_session {
	const struct nm_slave_options *options; /* borrowed */
	const struct nm_session_slot *slot;	/* borrowed; NULL: there is room in any case */
	struct nm_peer peer;
	struct nm_addr local_addr, remote;
	char remote_text[64];
	struct nm_patience patience;
	uint64_t progress; /* the master's progress, as it was last told */
	uint64_t until_ns; /* by then the session must be over; UINT64_MAX: no limit */
	enum nm_session_end end;
	/* From prepare on. */
	struct nm_node *root; /* owned */
	char *file;	      /* the profile's name in messages; owned */
	struct nm_plan *plan; /* owned */
	struct nm_local local;
	bool *told_done;	 /* by group, in this phase; owned */
	uint32_t *told_renewals; /* by group: the nm_engine_reconnects told last; owned */
	bool tells_flows;	 /* the master wants the samples of flows */
	bool asked_places;	 /* the master waits to be told where the flows are */
	uint32_t n_begun;	 /* phases */
	struct nm_slave_run_begin run_begin;
	struct nm_result *measured; /* owned; for options->ended; NULL: nothing, or no memory */
};

/* session_tell.c. Sends a message, and takes its body (NULL: there was no memory for one). 0 or
 * -errno. */
int nm_session_send(struct nm_session *session, enum nm_message_type type, json_t *body);
/* The text of an error, and with one about memory the limit that the slave has set; returns buf. */
const char *nm_session_error_text(const struct nm_session *session, int error, char *buf,
				  size_t size);
/* One line for options->log, with the session and its master. */
void nm_session_log(const struct nm_session *session, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* For struct nm_local_config, with the session as arg: each sends its rows to the master. */
void nm_session_row(void *arg, const struct nm_host_interval *row);
void nm_session_flows(void *arg, const struct nm_flow_rows *rows);
void nm_session_tcp(void *arg, const struct nm_tcp_rows *rows);

/* Handles one message of the master, whose body stays the caller's. 0, or -errno: the session ends.
 * -EPROTO: the message was wrong. */
typedef int (*nm_session_handler)(struct nm_session *session, json_t *body);

/* session_setup.c: handlers until the engine is started. */
int nm_session_hello(struct nm_session *session, json_t *body);
int nm_session_prepare(struct nm_session *session, json_t *body);
int nm_session_connect(struct nm_session *session, json_t *body);
/* Tells the master why, and ends the session: with a refusal, or once it is armed with a failure.
 * code: one of docs/control-protocol.md. Returns 0. */
int nm_session_refuse(struct nm_session *session, const char *code, const char *text);

/* Tells the master whose connection has ended before it could prove a key, if it can hear that.
 * False when it has ended for another reason. */
bool nm_session_refuse_unproved(struct nm_session *session);

/* Refuses a master whose place another has taken. Returns 0. */
int nm_session_lost(struct nm_session *session);

/* session_run.c: handlers while the engine runs. */
int nm_session_ping(struct nm_session *session, json_t *body);
int nm_session_begin(struct nm_session *session, json_t *body);
int nm_session_stop(struct nm_session *session, json_t *body);
int nm_session_cut(struct nm_session *session, json_t *body);
int nm_session_follow(struct nm_session *session, json_t *body);
int nm_session_renew(struct nm_session *session, json_t *body);
int nm_session_where(struct nm_session *session, json_t *body);
int nm_session_finish(struct nm_session *session, json_t *body);
/* Tells the master where the flows are, when it has asked and the workers have answered. 0 or
 * -errno. */
int nm_session_tell_places(struct nm_session *session);
/* Tells the master which groups' connections are to be replaced. 0 or -errno. */
int nm_session_tell_renewals(struct nm_session *session);
/* Tells the master which groups the engine has finished since the last call, or why it has failed.
 * 0 or -errno. */
int nm_session_report(struct nm_session *session);

#endif
