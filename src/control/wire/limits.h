/* SPDX-License-Identifier: Apache-2.0 */
/* How long each message may be and how many values it may have. Both are found out from its first
 * bytes, before there is memory for it: by the messages that may come in the present state, then by
 * its word, and its values are counted before it becomes a tree. Pure; any thread. */
#ifndef NM_CONTROL_WIRE_LIMITS_H
#define NM_CONTROL_WIRE_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/wire/message.h"
#include "plan/plan.h"

/* The things of which a run may have many, so that messages about them grow. */
#define NM_SCALES(NM_SCALE)                                                                        \
	NM_SCALE(WORKER, "worker")                                                                 \
	NM_SCALE(LISTENER, "listener")                                                             \
	NM_SCALE(FLOW, "flow")                                                                     \
	NM_SCALE(CONNECTION, "connection")                                                         \
	NM_SCALE(FIGURE, "number")

enum nm_scale {
#define NM_SCALE(name, word) NM_SCALE_##name,
	NM_SCALES(NM_SCALE)
#undef NM_SCALE
		NM_SCALE__COUNT
};

/* How many of each a run has; all zero: nothing is known of a run yet. */
struct nm_message_scale {
	uint64_t of[NM_SCALE__COUNT];
};

/* The size of a message: `bytes` and `values`, and the amounts `each` for each of the run's things
 * on the scale. */
struct nm_message_size {
	uint32_t bytes, values;
	enum nm_scale scale;
	uint32_t bytes_each, values_each;
};

/* The most of each kind that messages about this plan can name. details: enum nm_observe_flags that
 * are kept. The plan is the one that both ends have of the slave's part. */
struct nm_message_scale nm_message_scale_of(const struct nm_plan *plan, uint32_t details);
/* The declaration of a message; static. */
const struct nm_message_size *nm_message_size(enum nm_message_type type);
/* The word for a scale, in the singular; static. */
const char *nm_scale_word(enum nm_scale scale);
/* The longest payload of a message, and the most values in it. */
uint64_t nm_message_most_bytes(enum nm_message_type type, const struct nm_message_scale *scale);
uint64_t nm_message_most_values(enum nm_message_type type, const struct nm_message_scale *scale);

/* Checks a frame of `size` bytes, of which `there` have come, against the messages that `from` may
 * send to a session in this state. 0, or -EPROTO with a phrase in why. */
int nm_message_check_size(const char *payload, size_t there, size_t size, enum nm_side from,
			  enum nm_session_state state, const struct nm_message_scale *scale,
			  char *why, size_t why_size);
/* A grid of 1 ms has three messages in each step. */
#define NM_MESSAGES_A_SECOND 5000u
/* Whether so many messages in so much time are more than a peer can need. */
bool nm_message_is_flood(uint64_t n_messages, uint64_t span_ns);
/* Checks the number of values in a whole payload against the limit of its message. 0, or -EPROTO
 * with a phrase in why. */
int nm_message_check_values(const char *payload, size_t size, const struct nm_message_scale *scale,
			    char *why, size_t why_size);

#endif
