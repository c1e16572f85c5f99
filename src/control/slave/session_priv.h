/* SPDX-License-Identifier: Apache-2.0 */
/* A session's own types. */
#ifndef NM_CONTROL_SLAVE_SESSION_PRIV_H
#define NM_CONTROL_SLAVE_SESSION_PRIV_H

#include "control/wire/codec.h"
#include "control/local.h"
#include "control/peer.h"
#include "control/slave/session.h"
#include "profile/tree.h"

struct nm_session {
	const struct nm_slave_options *options;
	const struct nm_session_slot *slot; /* NULL: there is room in any case */
	struct nm_peer peer;
	struct nm_addr local_addr, remote;
	char remote_text[64];
	uint64_t hello_until_ns; /* by then the master must have said hello */
	uint64_t until_ns;	 /* by then the session must be over; UINT64_MAX: no limit */
	enum nm_session_end end;
	/* From prepare on. */
	struct nm_node *root;
	char *file; /* the profile's name in messages */
	struct nm_plan *plan;
	struct nm_local local;
	bool *told_done;	    /* by group: in this phase */
	uint32_t *told_renewals;    /* by group: of nm_engine_reconnects */
	uint32_t n_begun;	    /* phases */
	struct nm_result *measured; /* owned; for options->ended; NULL: nothing, or no memory */
};

/* session.c */
int nm_session_send(struct nm_session *session, enum nm_message_type type, json_t *body);
void nm_session_log(const struct nm_session *session, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Each takes one message; 0, or -errno: the session ends. -EPROTO: the message was wrong. */
typedef int (*nm_session_handler)(struct nm_session *session, json_t *body);

/* session_setup.c */
int nm_session_hello(struct nm_session *session, json_t *body);
int nm_session_prepare(struct nm_session *session, json_t *body);
int nm_session_connect(struct nm_session *session, json_t *body);
/* Tells why, and is over. */
int nm_session_refuse(struct nm_session *session, const char *code, const char *text);

/* session_run.c */
int nm_session_ping(struct nm_session *session, json_t *body);
int nm_session_begin(struct nm_session *session, json_t *body);
int nm_session_stop(struct nm_session *session, json_t *body);
int nm_session_follow(struct nm_session *session, json_t *body);
int nm_session_renew(struct nm_session *session, json_t *body);
/* Tells which connections should be replaced. */
int nm_session_tell_renewals(struct nm_session *session);
int nm_session_finish(struct nm_session *session, json_t *body);
/* Reports what the engine has done since it was last asked. */
int nm_session_report(struct nm_session *session);
void nm_session_flows(void *arg, const struct nm_flow_rows *rows);
void nm_session_tcp(void *arg, const struct nm_tcp_rows *rows);
void nm_session_row(void *arg, const struct nm_host_interval *row);

#endif
