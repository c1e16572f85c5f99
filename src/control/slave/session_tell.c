/* SPDX-License-Identifier: Apache-2.0 */
/* What a session says at any time: to the slave's log, and to its master. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "control/slave/session_priv.h"
#include "control/slave/slots.h"
#include "host/clock.h"

void nm_session_log(const struct nm_session *session, const char *fmt, ...)
{
	char text[512], line[640];
	va_list args;
	unsigned untold = 0;

	if (!session->options->log)
		return;
	if (session->peer.state == NM_SESSION_HELLO && session->slot &&
	    !nm_session_slots_may_tell(session->slot->slots, nm_clock_ns(), &untold))
		return;
	va_start(args, fmt);
	(void)vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	nm_make_plain(text); /* masters have a part in it */
	int size = snprintf(line, sizeof line, "session %d, master %s: %s", (int)getpid(),
			    session->remote_text, text);

	if (untold && size > 0 && (size_t)size < sizeof line)
		(void)snprintf(line + size, sizeof line - (size_t)size, " (%u more before)",
			       untold);
	session->options->log(session->options->arg, line);
}

int nm_session_send(struct nm_session *session, enum nm_message_type type, json_t *body)
{
	return nm_peer_send(&session->peer, type, body, nm_clock_ns());
}

const char *nm_session_error_text(const struct nm_session *session, int error, char *buf,
				  size_t size)
{
	uint64_t most = session->options->max_memory_bytes;

	/* A thread whose stack finds no room is told so, too. */
	if (most && (error == -ENOMEM || error == -EAGAIN))
		(void)snprintf(buf, size,
			       "%s: a session may have %llu MiB of memory (--max-memory)",
			       strerror(-error), (unsigned long long)(most >> 20));
	else
		(void)snprintf(buf, size, "%s", strerror(-error));
	return buf;
}

void nm_session_row(void *arg, const struct nm_host_interval *row)
{
	struct nm_session *session = arg;

	(void)nm_session_send(session, NM_MESSAGE_INTERVAL, nm_interval_pack(row));
}

void nm_session_flows(void *arg, const struct nm_flow_rows *rows)
{
	struct nm_session *session = arg;

	struct nm_flow_rows own = *rows;

	own.plan = session->plan;
	if (session->options->asked.flows)
		session->options->asked.flows(session->options->arg, &own);
	if (session->tells_flows)
		(void)nm_session_send(session, NM_MESSAGE_FLOWS, nm_flows_pack(rows));
}

void nm_session_tcp(void *arg, const struct nm_tcp_rows *rows)
{
	struct nm_session *session = arg;

	(void)nm_session_send(session, NM_MESSAGE_TCP_INFO, nm_tcp_pack(rows));
}
