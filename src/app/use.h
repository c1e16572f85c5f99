/* SPDX-License-Identifier: Apache-2.0 */
/* What an instruction asks, or serves. */
#ifndef NM_APP_USE_H
#define NM_APP_USE_H

#include <stdbool.h>
#include <stdint.h>

struct nm_app;
struct nm_command;
struct nm_faults;
struct nm_http_lines;
struct nm_keyspace;
struct nm_transport;

struct nm_app_use {
	const struct nm_app
		*app; /* what its connection speaks, also where it opens it; NULL: bytes */
	const struct nm_keyspace *keyspace; /* NULL: it has no keys */
	union {				    /* owned by the plan; NULL: of another verb */
		struct nm_http_lines *http;
		const struct nm_command *command;
		const struct nm_faults *faults; /* of serve; NULL: none */
	};
	/* where what was answered too shortly is asked again (flowop/tcp_fallback.h) */
	struct nm_app_fallback {
		const struct nm_transport *transport; /* NULL: nowhere */
		const void *transport_opts;	      /* owned by the plan */
		uint32_t slot;			      /* as that of the instruction */
	} fallback;
	bool fills;	/* its passes go through all keys once */
	bool own_keys;	/* its law alone does not say which key a request has */
	bool begins;	/* a pass begins with it */
	bool alone;	/* and is nothing else: its times are those of the pass */
	bool named;	/* its usual answers have another name than those of its verb */
	bool apart;	/* that, or it is a batch, or its pass may be due outside of the window */
	bool lives;	/* its connection is replaced when its life is over (flowop/life.h) */
	uint16_t verb;	/* of those of the plan (plan/plan.h) */
	uint64_t times; /* requests of a pass */
	uint32_t batch; /* keys of one request of get or set, if there are several; otherwise 0 */
	/* of what serves whoever connects, the same by enum nm_verb; otherwise NULL */
	const uint16_t *verbs;
};

/* As how many a request counts: each of its keys is one. */
static inline uint32_t nm_app_use_keys(const struct nm_app_use *use)
{
	return use->batch ? use->batch : 1;
}

#endif
