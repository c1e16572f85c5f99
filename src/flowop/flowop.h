/* SPDX-License-Identifier: Apache-2.0 */
/* A flowop: one operation, one file, one const descriptor. The build makes nm_flowops[] from the
 * word list in src/flowop/local.mk. */
#ifndef NM_FLOWOP_FLOWOP_H
#define NM_FLOWOP_FLOWOP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/law.h"
#include "base/opt.h"
#include "flowop/flow.h"

enum nm_flowop_flags {
	/* opens a connection; its option struct begins with struct nm_opts_open */
	NM_FLOWOP_OPENS = 1 << 0,
	NM_FLOWOP_CLOSES = 1 << 1,    /* closes the connection */
	NM_FLOWOP_USES = 1 << 2,      /* needs an open connection */
	NM_FLOWOP_INITIATES = 1 << 3, /* acts by itself: the other end can only follow */
	NM_FLOWOP_FOLLOWS = 1 << 4,   /* waits for the other end to act */
	NM_FLOWOP_MOVES =
		1
		<< 5, /* moves `size` bytes; its option struct begins with struct nm_opts_message */
	NM_FLOWOP_FILES = 1 << 6, /* moves files: its option struct is struct nm_opts_files */
	/* sends a message and receives one as long at the same time, on a stream */
	NM_FLOWOP_BOTH = 1 << 8,
	/* makes the handshake that the opening right before it has left out: see
	 * NM_TRANSPORT_DEFERS_HANDSHAKE */
	NM_FLOWOP_HANDSHAKES = 1 << 9,
	/* spends time as an application does between messages: unless an answer is awaited, the
	 * step adds it to flow->request.think_ns, and it is no part of a pass's latency */
	NM_FLOWOP_THINKS = 1 << 10,
	/* sends a request and takes its answer, or the other way round; its option struct is
	 * struct nm_opts_ask */
	NM_FLOWOP_ASKS = 1 << 11,
	NM_FLOWOP_SETS = 1 << 12,    /* sets an option of TCP on its connection */
	NM_FLOWOP_INTERNAL = 1 << 7, /* in no registry: profiles cannot name it */
};

/* One attempt to connect to a server is given up after this, unless the profile says otherwise: a
 * SYN that is lost goes out again after 1 s. */
#define NM_ATTEMPT_NS 3000000000u

/* The option structs of flowops that open or move begin with these, so that the compiler can read
 * them; flowops that move files have struct nm_opts_files. */
struct nm_opts_open {
	char *remotehost;
	char *protocol;
	uint64_t port;
	char *app;	 /* what is spoken over it; NULL or "": bytes */
	char *server;	 /* connect: those that are not netmodel; NULL or "": the mirror */
	char *from;	 /* accept: whose connections; NULL or "": those of remotehost */
	char *path;	 /* accept: of whoever connects, over unix(7): where it listens */
	char *data_host; /* connect: where data go; NULL or "": where the control connection goes */
	/* what a connection to them begins with (app/session.h) */
	char *user, *auth_file;
	uint64_t db, resp;
	bool async; /* connect: other flows go on meanwhile */
	/* connect, to such a server: how long it is tried again and again; 0: never */
	uint64_t reconnect_ns;
	/* how long it pauses at most after an attempt that has failed, and after many; 0: as
	 * NM_TUNE_BACKOFF_NS has it */
	struct nm_duration_range backoff;
	/* connect: how long a connection lasts (life.h); a draw of 0: no such limit */
	struct nm_law requests, lifetime;
};
struct nm_opts_message {
	struct nm_law size; /* bytes */
	/* the most bytes that one receive takes; 0: not given */
	uint64_t rsize_bytes;
	bool more, zerocopy;	   /* of the end that sends */
	bool discard, rx_zerocopy; /* of the end that receives */
	/* of the end that receives: the fewest bytes that wake it; 0: any */
	uint64_t rcvlowat_bytes;
};
struct nm_opts_files {
	uint64_t chunk_bytes; /* the most that one call moves; 0: the whole file */
	uint64_t n_files;     /* sent one after the other; at least 1 */
	char *dir;	      /* of the sender's files */
};

/* Whether its data go elsewhere than the control connection. */
static inline bool nm_has_data_host(const struct nm_opts_open *opts)
{
	return opts->data_host && *opts->data_host;
}

/* Where the connect goes to, in words; host: the name of the slave. */
static inline const char *nm_data_host(const struct nm_opts_open *connect, const char *host)
{
	return nm_has_data_host(connect) ? connect->data_host : host;
}

struct nm_flowop {
	const char *name;
	const struct nm_flowop *mirror_op; /* the flowop that the other end runs; NULL: none */
	const char *help;		   /* one sentence for --describe and the manual */
	unsigned flags;
	const struct nm_opt *opts;
	size_t opts_size;
	/* Checks parsed options together. 0, or -EINVAL with a phrase in why. May be NULL. */
	int (*check)(const void *opts, char *why, size_t why_size);
	/* Whether the flowop, by its options, runs on the master (master true) or on a slave
	 * (master false). NULL: on both. */
	bool (*runs_on)(const void *opts, bool master);
	/* Does as much as can be done without waiting. Runs on the flow's worker; no allocation,
	 * lock, log or format; called again from the start after WAIT_*, SLEEP and PARK, with the
	 * state that it left in the flow. */
	nm_step_fn step;
	int verb;	       /* of one that asks: enum nm_verb (app/app.h) */
	nm_step_fn lossy_step; /* the step over transports that may lose messages; NULL: `step` */
};

extern const struct nm_flowop *const nm_flowops[]; /* ends with NULL */
/* The flowops of which others are the mirror. */
extern const struct nm_flowop nm_flowop_accept, nm_flowop_connect, nm_flowop_exchange,
	nm_flowop_read, nm_flowop_recv, nm_flowop_send, nm_flowop_sendfile, nm_flowop_write;

const struct nm_flowop *nm_flowop_find(const char *name); /* NULL when unknown */
/* Whether a profile can name the flowop or its other end; false: the compiler's own. */
bool nm_flowop_is_named(const struct nm_flowop *op);
/* The longest that the instruction, which is a flowop's, may wait as its profile says; 0: no
 * limit. */
uint64_t nm_instr_limit_ns(const struct nm_instr *instr);
/* Whether the flowop moves a message one way, no files and no exchange: then every member of its
 * struct nm_opts_message has a meaning. */
static inline bool nm_flowop_moves_message(const struct nm_flowop *op)
{
	const unsigned kinds = NM_FLOWOP_MOVES | NM_FLOWOP_FILES | NM_FLOWOP_BOTH;

	return (op->flags & kinds) == NM_FLOWOP_MOVES;
}
/* Whether the flowop moves a message one way, and sends it. */
static inline bool nm_flowop_sends_message(const struct nm_flowop *op)
{
	return nm_flowop_moves_message(op) && (op->flags & NM_FLOWOP_INITIATES);
}
/* Whether the flowop moves bytes one way, and sends them. */
static inline bool nm_flowop_sends(const struct nm_flowop *op)
{
	const unsigned sends = NM_FLOWOP_MOVES | NM_FLOWOP_INITIATES;

	return (op->flags & (sends | NM_FLOWOP_BOTH)) == sends;
}
/* Whether the flowop moves bytes that the other end begins to send. */
static inline bool nm_flowop_awaits_bytes(const struct nm_flowop *op)
{
	const unsigned reads = NM_FLOWOP_MOVES | NM_FLOWOP_FOLLOWS;

	return (op->flags & reads) == reads;
}

/* Whether the flowop opens connections to servers that are not netmodel. */
static inline bool nm_flowop_is_to_server(const struct nm_flowop *op, const void *opts)
{
	const struct nm_opts_open *open = opts;

	return (op->flags & NM_FLOWOP_OPENS) && open->server && *open->server;
}

/* Whether the flowop takes connections of whoever connects. */
static inline bool nm_flowop_is_public(const struct nm_flowop *op, const void *opts)
{
	const struct nm_opts_open *open = opts;

	return (op->flags & NM_FLOWOP_OPENS) && open->from && *open->from;
}

#endif
