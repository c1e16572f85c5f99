/* SPDX-License-Identifier: Apache-2.0 */
/* The envelope of a control message: its word, its body, and the states in which it may come. On
 * the wire: ["word", {body}]. */
#ifndef NM_CONTROL_WIRE_MESSAGE_H
#define NM_CONTROL_WIRE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#define NM_PROTOCOL	  18
#define NM_PROTOCOL_MAGIC "netmodel"
/* The code of a refusal because a port of the traffic is taken. */
#define NM_REFUSE_PORT "port"
#ifndef NM_VERSION
#define NM_VERSION "0.1.0"
#endif

/* States of a session, alike on both sides; a side's state changes when it sends or takes the
 * message that ends it. Whatever a peer says meanwhile, no state lasts for ever: NM_STATE(name,
 * word, what the master waits for in it, what the slave waits for in it, how long the slave waits:
 * seconds, and by which rule). The master waits for its timeout, and in a phase for its timeout
 * without progress. */
#define NM_SESSION_STATES(NM_STATE)                                                                \
	NM_STATE(HELLO, "hello", "its answer", "hello", 3, ONCE)                                   \
	NM_STATE(PREPARE, "prepare", "it to prepare", "order to prepare", 10, ONCE)                \
	NM_STATE(CONNECT, "connect", "it to connect", "order to connect", 0, TIMEOUT)              \
	NM_STATE(IDLE, "idle", "nothing", "word of a phase or of progress", 0, PROGRESS)           \
	NM_STATE(PHASE, "phase", "its flows", "word of progress", 0, PROGRESS)                     \
	NM_STATE(RESULT, "result", "its result", "goodbye", 0, TIMEOUT)                            \
	NM_STATE(END, "end", "nothing", "nothing", 0, ONCE)

enum nm_session_rule {
	NM_RULE_ONCE,	 /* a number of seconds */
	NM_RULE_TIMEOUT, /* and the timeouts of both sides */
	/* all of these, and the longest time in which nothing may move; begins again when anything
	 * moves */
	NM_RULE_PROGRESS,
};

enum nm_session_state {
#define NM_STATE(name, ...) NM_SESSION_##name,
	NM_SESSION_STATES(NM_STATE)
#undef NM_STATE
};

enum nm_side { NM_SIDE_MASTER = 1, NM_SIDE_SLAVE = 2, NM_SIDE_BOTH = 3 };

enum nm_message_type {
#define NM_MESSAGE(name, word, sender, states, size, body) NM_MESSAGE_##name,
#include "control/wire/messages.def"
#undef NM_MESSAGE
	NM_MESSAGE__COUNT
};

struct nm_message {
	enum nm_message_type type;
	json_t *body; /* an object; borrowed from root */
	json_t *root; /* owned */
};

/* The word of a message on the wire, static. */
const char *nm_message_word(enum nm_message_type type);
/* Whether `from` may send it to a session in this state. */
bool nm_message_may_come(enum nm_message_type type, enum nm_side from, enum nm_session_state state);
/* The word for a state in documents and messages; static. */
const char *nm_session_state_word(enum nm_session_state state);
/* A phrase for the event that the master waits for in a state ("it to connect"); static. */
const char *nm_session_state_waits(enum nm_session_state state);
/* A phrase for the message that the slave waits for in a state ("order to connect"); static. */
const char *nm_session_state_owes(enum nm_session_state state);
/* How long the slave waits at least, and by which rule. */
unsigned nm_session_state_seconds(enum nm_session_state state);
enum nm_session_rule nm_session_state_rule(enum nm_session_state state);

/* Reads one frame's payload. -EPROTO with a phrase in why when it is not a message, or not one that
 * `from` may send to a session in this state; 0 with *ret_message otherwise. */
int nm_message_decode(const char *payload, size_t size, enum nm_side from,
		      enum nm_session_state state, struct nm_message *ret_message, char *why,
		      size_t why_size);
/* Makes this whole process wipe the memory of messages when it is freed: prepare has secrets in it.
 * Not for the process of another program, which may use the library of JSON itself. */
void nm_message_wipe_all(void);
/* Releases a decoded message; twice does no harm. */
void nm_message_fini(struct nm_message *message);
/* Takes the body (NULL: none could be made). Returns an owned text of *ret_size bytes, NULL when
 * out of memory. */
char *nm_message_encode(enum nm_message_type type, json_t *body, size_t *ret_size);

#endif
