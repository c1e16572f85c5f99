/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a connection that asks, and what the steps over streams and over messages share. */
#ifndef NM_FLOWOP_ASKING_H
#define NM_FLOWOP_ASKING_H

#include "app/recording.h"
#include "flowop/ask.h"
#include "host/clock.h"

/* How far the step is: flow->progress. */
enum nm_asking_progress { NM_ASK_BEGIN, NM_ASK_SENDING, NM_ASK_AWAITING, NM_ASK_CONNECTING };

struct nm_asking {
	struct nm_app_request request;
	const struct nm_instr *drawn_by; /* the request; NULL: none is */
	struct nm_app_parser parser;
	uint64_t total; /* bytes of the request */
	bool any;	/* of the answer, bytes have come */
	bool cut;	/* not all of the request could be sent */
	bool again;	/* the request is sent once more, over another connection */
	bool unasked;	/* what has come was not asked for */
	bool refused;	/* as the network says, nobody can be reached there */
	/* The request was answered too shortly over the connection with this number + 1 among those
	 * of the flow, and is asked over this one instead (tcp_fallback.h); 0: none was. */
	uint16_t instead_of;
	uint64_t due_ns;	/* when the time of the request is over; 0: it has not waited yet */
	uint64_t sent_ns;	/* when it was begun; of no meaning where no times are kept */
	struct nm_life life;	/* of the connection */
	uint32_t n_requests;	/* that were drawn */
	uint32_t first;		/* its own number, before that of its first request */
	char said[NM_SAID_MAX]; /* of an answer that is none */
	union {
		uint64_t n_keys; /* that were drawn before */
		uint64_t record; /* of recorded keys: which request is next */
	} sites[];		 /* by instr->site */
};

/* The time of the request is over, now that something of its answer has come. A step that finds so
 * waits, and the wait ends at once, by its limit. */
static inline bool nm_asking_is_late(const struct nm_asking *asking)
{
	return asking->due_ns && nm_clock_ns() >= asking->due_ns;
}

/* The same of a flow that goes on without a wait, in which its time would begin. */
bool nm_asking_is_late_by_now(struct nm_asking *asking, const struct nm_instr *instr);

/* Draws the next request, or begins with that which is to be sent again. NEXT: it is to be sent. */
enum nm_step nm_asking_begin(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr,
			     struct nm_asking *asking);
/* Draws it alone. */
void nm_asking_draw(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr,
		    struct nm_asking *asking);
/* Gives it what all requests of the instruction have in common. */
void nm_asking_take_options(const struct nm_io *io, const struct nm_instr *instr,
			    struct nm_asking *asking);
/* Where its payload begins, of the key that it has. */
static inline void nm_asking_find_payload(const struct nm_flow *flow,
					  struct nm_app_request *request)
{
	request->at =
		request->keyspace ? nm_key_value_at(request->keyspace, request->key) : flow->index;
}
/* Whether it changes nothing at the server, so that it may be sent twice (RFC 9110, 9.2.1). */
bool nm_asking_is_safe(const struct nm_app_request *request);
/* Sends it where messages may be lost. NEXT: it is on its way, or lost already. *ret_refused: as
 * the network says, one before it was. */
enum nm_step nm_asking_send_message(struct nm_io *io, struct nm_flow *flow,
				    const struct nm_instr *instr, struct nm_asking *asking,
				    bool *ret_refused);
/* Over the connection an answer has come. */
void nm_asking_note_answer(struct nm_flow *flow, const struct nm_instr *instr,
			   struct nm_asking *asking);
/* The request is over, with an answer of this class, and this name if the class asks for one. */
enum nm_step nm_asking_end_as(const struct nm_io *io, struct nm_flow *flow,
			      const struct nm_instr *instr, struct nm_asking *asking,
			      enum nm_class class, enum nm_answer answer);
/* With the one that was parsed last. */
static inline enum nm_step nm_asking_end(const struct nm_io *io, struct nm_flow *flow,
					 const struct nm_instr *instr, struct nm_asking *asking)
{
	return nm_asking_end_as(io, flow, instr, asking, (enum nm_class)asking->parser.class,
				(enum nm_answer)asking->parser.answer);
}
/* The request of the instruction is over without an answer. */
void nm_asking_give_up(struct nm_flow *flow, const struct nm_instr *instr, _Atomic uint64_t *class);

/* On streams. FAIL: the connection is of no more use. */

/* Whether nothing has come that nobody has asked for: before a request is sent. */
enum nm_step nm_asking_look(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr,
			    struct nm_asking *asking);
/* Whether what has come, after the answer to the last request, belongs to no request, as the
 * protocol says. */
bool nm_asking_is_aside(struct nm_flow *flow, const struct nm_instr *instr,
			struct nm_asking *asking, const char *data, size_t n);
/* It does not. What comes over the connection from now on would be taken for answers to other
 * requests: it is of no more use. */
enum nm_step nm_asking_give_up_connection(const struct nm_io *io, struct nm_flow *flow,
					  struct nm_asking *asking, const char *data, size_t n);
/* NEXT: the kernel has all of the request. */
enum nm_step nm_asking_send(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr,
			    struct nm_asking *asking);
/* NEXT: the answer is there, and counted. */
enum nm_step nm_asking_await(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr,
			     struct nm_asking *asking);
/* The connection has ended under the request, by n (-errno; 0: by the other end): it is lost, or
 * asking->again. */
enum nm_step nm_asking_lose(const struct nm_io *io, struct nm_flow *flow,
			    const struct nm_instr *instr, struct nm_asking *asking, ssize_t n);

#endif
