/* SPDX-License-Identifier: Apache-2.0 */
/* An application protocol: one protocol, one file, one const descriptor. The build makes nm_apps[]
 * from the word list in src/app/local.mk.
 *
 * A protocol sends and receives nothing: it encodes requests into memory, and parses what has come,
 * in whatever pieces that is. A client has one request outstanding at a time. Any thread. */
#ifndef NM_APP_APP_H
#define NM_APP_APP_H

#include <stddef.h>
#include <stdint.h>

/* What a request asks for; each is a flowop. */
enum nm_verb { NM_VERB_NONE, NM_VERB_PING, NM_VERB_ECHO, NM_VERB__COUNT };

#define NM_VERB_BIT(verb) (UINT64_C(1) << (verb))

struct nm_app_request {
	enum nm_verb verb;
	uint64_t size;	/* bytes of its payload; 0: it has none */
	uint64_t seed;	/* of its payload: equal seeds, equal bytes */
	uint32_t check; /* the protocol's own: `encode` notes it for `parse` */
};

/* How far the answer to a request has come; zeroed when it begins. */
struct nm_app_parser {
	uint64_t at;	/* bytes of the answer that have come */
	uint32_t check; /* the protocol's own */
};

enum nm_parsed {
	NM_PARSED_MORE, /* there is more to come */
	NM_PARSED_DONE, /* the answer is there, and right */
	NM_PARSED_BAD,	/* it is no answer to the request */
};

/* A connection as its server sees it. */
struct nm_app_served {
	uint64_t at;	    /* bytes of the present request that have come; 0 when it begins */
	size_t n_out, room; /* bytes of the answer so far, and that `out` has room for */
	char *out;	    /* the caller's */
};

enum nm_took {
	NM_TOOK_MORE,	 /* the request goes on */
	NM_TOOK_REQUEST, /* the request is there, and answered */
	NM_TOOK_BAD,	 /* it is no request, or the answer has no room */
};

struct nm_app {
	const char *name;
	const char *help; /* one sentence for --describe and the manual */
	uint64_t verbs;	  /* NM_VERB_BIT of each that it has */
	uint16_t port;	  /* where its servers listen when nothing is said */
	/* The most bytes of a request with that payload, and of its answer; `encode` writes it,
	 * and returns how many it has. */
	uint64_t (*most_bytes)(uint64_t size);
	size_t (*encode)(struct nm_app_request *request, char *buf);
	/* Takes bytes of the answer, n > 0: *ret_taken of them, fewer than n only with DONE. */
	enum nm_parsed (*parse)(struct nm_app_parser *parser, const struct nm_app_request *request,
				const char *data, size_t n, size_t *ret_taken);
	/* The server's end. Takes bytes of a request: *ret_taken, fewer than n only with REQUEST
	 * and BAD, and puts the answer into served->out. */
	enum nm_took (*take)(struct nm_app_served *served, const char *data, size_t n,
			     size_t *ret_taken);
};

extern const struct nm_app *const nm_apps[]; /* ends with NULL */

const struct nm_app *nm_app_find(const char *name); /* NULL when unknown */
/* "ping, echo": the names of all, and of an app's verbs, in buf, which is returned. */
char *nm_app_names(char *buf, size_t size);
char *nm_app_verbs(const struct nm_app *app, char *buf, size_t size);

#endif
