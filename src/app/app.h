/* SPDX-License-Identifier: Apache-2.0 */
/* An application protocol: one protocol, one file, one const descriptor. The build makes nm_apps[]
 * from the word list in src/app/local.mk.
 *
 * A protocol sends and receives nothing: it encodes requests into memory, and parses what has come,
 * in whatever pieces that is. Answers come in the order of the requests. Any thread. */
#ifndef NM_APP_APP_H
#define NM_APP_APP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "app/identity.h"
#include "app/keyspace.h"
#include "app/line.h"
#include "app/pool.h"
#include "app/rope.h"
#include "app/session.h"
#include "app/use.h"
#include "app/verb.h"
#include "stats/answers.h"

struct nm_batch;
struct nm_command;
struct nm_http_lines;
struct nm_store;

struct nm_app_request {
	enum nm_verb verb;
	bool verify;  /* what comes back is compared with what was stored */
	bool unique;  /* a get asks for the number of its value, too, which cas sends */
	bool several; /* it has the keys of `batch`, and not one */
	uint32_t flags;
	uint64_t ttl_s; /* 0: for ever */
	uint64_t size;	/* bytes of its payload; 0: it has none */
	uint64_t at;	/* where the payload begins in the pool */
	const struct nm_pool *pool;
	const struct nm_keyspace *keyspace; /* of verbs with keys */
	uint64_t key;
	union {
		const struct nm_http_lines *http; /* of the verb http (app/http.h) */
		const struct nm_command *command; /* of the verb command (app/command.h) */
		uint64_t by;			  /* of incr and decr; of cas: what get has found */
		struct nm_batch *batch; /* of a get or set of several keys (app/batch.h) */
	};
	uint32_t check;	 /* the protocol's own: `encode` notes it for `parse` */
	uint32_t number; /* the one before it on its connection had one less */
};

/* A request as it is sent: the head, which is in the caller's memory; then the payload, which is so
 * many bytes of the pool, from request->at on, or bytes of its own; then the tail. */
#define NM_APP_TAIL_MAX 40u
struct nm_app_encoded {
	const char *pool;  /* of its payload: request->pool->bytes or ->text; NULL: none */
	const char *bytes; /* without a pool */
	size_t head, tail;
	uint64_t payload;
	char tail_text[NM_APP_TAIL_MAX];
};

/* How a request was answered. */
enum nm_class {
	NM_CLASS_OK,
	NM_CLASS_MISS,	    /* well, and the thing is not there */
	NM_CLASS_REFUSED,   /* the server will not, or cannot */
	NM_CLASS_TRUNCATED, /* well, but the answer is too long for a message */
	NM_CLASS_UNUSUAL,   /* well, but not with the usual answer: parser->answer */
};

/* How far the answer to a request has come; zeroed when it begins. */
struct nm_app_parser {
	uint64_t left;	/* of counted bytes that come, those that are missing */
	uint64_t at;	/* bytes that have come; of a value, where in the pool the next are */
	uint32_t check; /* the protocol's own, as are the next two */
	uint8_t state, ending;
	uint8_t class;	/* enum nm_class, once the answer is there */
	uint8_t answer; /* enum nm_answer, of what is refused, or unusual; NONE: it has no name */
	bool last;	/* the server ends the connection behind this answer */
	bool refuses;	/* and takes no request that it has got behind that of this one */
	bool to_end;	/* the answer is there when the stream ends; its class is */
	struct nm_line line;
};

/* Before an answer; the line is left, as bytes of it count only up to its length. */
static inline void nm_app_parser_begin(struct nm_app_parser *parser)
{
	memset(parser, 0, offsetof(struct nm_app_parser, line));
	parser->line.length = 0;
}

/* The answer is whole, and this is what it says. */
static inline enum nm_parsed nm_app_parsed(struct nm_app_parser *parser, enum nm_class class)
{
	parser->class = (uint8_t) class;
	return NM_PARSED_DONE;
}

/* The server will not: it has answered so. */
static inline enum nm_parsed nm_app_refused(struct nm_app_parser *parser, enum nm_answer answer)
{
	parser->answer = (uint8_t)answer;
	return nm_app_parsed(parser, NM_CLASS_REFUSED);
}

/* What netmodel's own server has, for all its connections. */
struct nm_app_service {
	struct nm_store *store; /* NULL: it keeps nothing */
	const struct nm_pool *pool;
};

/* A connection as its server sees it; zeroed when it is opened, but for the memory of `out`. */
struct nm_app_served {
	struct nm_rope out; /* the answer to the present request */
	uint64_t at;	    /* bytes of the present request, or of its value, that have come */
	uint64_t left;	    /* of the value that comes, bytes that are missing */
	uint64_t place;	    /* where it goes in the store; 0: nowhere */
	uint64_t expected;  /* the protocol's own, as are the next two */
	uint32_t begun;
	bool expires;
	uint32_t words_left; /* of the request */
	uint8_t key_length;  /* bytes of its key */
	uint8_t state, note; /* the protocol's own */
	uint8_t class;	     /* enum nm_class, of the request that was answered last */
	uint8_t verb;	     /* enum nm_verb of it */
	bool last;	     /* the client wants no more than the answer to it, if any */
};

/* So many bytes of a request are kept until more of it comes: a server takes some of them, or it is
 * none. */
#define NM_APP_KEPT_BYTES 2048u

enum nm_took {
	NM_TOOK_MORE,	 /* the request goes on: what is not taken comes again, with more */
	NM_TOOK_REQUEST, /* the request is there, and answered, if only by nothing */
	NM_TOOK_PART,	 /* so is this one: its answer, if any, goes out with the next one's */
	NM_TOOK_FULL,	 /* it would, but has to go out first: there is no room for both */
	NM_TOOK_BAD,	 /* it is no request, or the answer has no room */
};

/* How a protocol is spoken where messages may be lost: each request is a message, and each
 * answer. */
struct nm_app_datagram {
	/* Writes the request, of head_bytes at most: how many bytes. */
	size_t (*encode)(struct nm_app_request *request, char *buf);
	/* Judges a message that has come. DONE: it is the answer. BAD: it is not, and may be a late
	 * one to an earlier request. */
	enum nm_parsed (*parse)(struct nm_app_parser *parser, const struct nm_app_request *request,
				const char *data, size_t n);
	/* The lower half of the number of the request whose answer a message is, if it is one. */
	uint16_t (*number)(const char *data, size_t n);
	/* The server's end: puts the answer to a message into served->out, which has room for
	 * answer_bytes. False: it is no request, and has no answer. */
	bool (*serve)(struct nm_app_served *served, const char *data, size_t n);
};

struct nm_app {
	const char *name;
	const char *help;  /* one sentence for --describe and the manual */
	uint64_t verbs;	   /* NM_VERB_BIT of each that it has */
	uint64_t batches;  /* those of them that may have several keys at once */
	uint64_t unserved; /* those of them that netmodel's own server does not have */
	uint16_t port;	   /* where its servers listen when nothing is said */
	uint16_t tls_port; /* and over TLS; 0: there is none */
	const char *alpn;  /* its name in TLS (RFC 7301); NULL: it has none */
	/* Answers by name: of the requests that end well, and of misses where that is another one.
	 * NONE: they have no names. */
	enum nm_answer usual, missed;
	bool stores;	/* its server keeps values */
	bool has_flags; /* each value has a number beside it */
	/* The most bytes of a request's head, and of the text of an answer. */
	uint16_t head_bytes, answer_bytes;
	bool echoes; /* the text of an answer has the payload of its request, too */
	/* Writes the head of a request, and says what is behind it. */
	void (*encode)(struct nm_app_request *request, char *buf, struct nm_app_encoded *ret);
	/* Takes bytes of the answer, n > 0: *ret_taken of them, fewer than n only with DONE. */
	enum nm_parsed (*parse)(struct nm_app_parser *parser, const struct nm_app_request *request,
				const char *data, size_t n, size_t *ret_taken);
	/* Takes all of what comes while no request is outstanding, n > 0, with a parser that is as
	 * before an answer, or goes on. DONE: it belongs to no request, and is over. MORE: the rest
	 * of it comes before the next answer, and `parse` takes it. BAD: nobody has asked for it.
	 * NULL: nothing may come. */
	enum nm_parsed (*aside)(struct nm_app_parser *parser, const char *data, size_t n);
	/* What is wrong with what has been parsed last, which is no answer. False: its bytes say
	 * so. NULL: they always do. */
	bool (*tell)(const struct nm_app_parser *parser, const struct nm_app_request *request,
		     char *buf, size_t size);
	/* The server's end. Takes bytes of requests, to the end of one at most: *ret_taken, and
	 * puts the answer into served->out. Of NM_APP_KEPT_BYTES it takes some. */
	enum nm_took (*take)(struct nm_app_served *served, const struct nm_app_service *service,
			     const char *data, size_t n, size_t *ret_taken);
	/* Makes an answer over a stream, of which nothing is sent, one that says that the server
	 * has failed (nm_app_fail). NULL: the protocol has none. */
	void (*fail)(struct nm_app_served *served);
	/* NULL: connections begin with requests as they come */
	const struct nm_app_session *session;
	const struct nm_app_identity *identity; /* NULL: nobody can ask what a server is */
	const struct nm_app_datagram *datagram; /* NULL: it is spoken over streams alone */
};

/* NM_VERB_BIT of each that netmodel's own server has. */
static inline uint64_t nm_app_served_verbs(const struct nm_app *app)
{
	return app->verbs & ~app->unserved;
}

extern const struct nm_app *const nm_apps[]; /* ends with NULL */

const struct nm_app *nm_app_find(const char *name); /* NULL when unknown */
/* For servers: adds the text to the answer, which is whole then, and notes what was answered. */
enum nm_took nm_app_answer(struct nm_app_served *served, enum nm_verb verb, enum nm_class class,
			   const char *text);
/* The text is the answer, instead of the one that is there: the server has failed. */
void nm_app_fail(struct nm_app_served *served, const char *text);
/* "ping, echo": the names of all, and of verbs, in buf, which is returned. */
char *nm_app_names(char *buf, size_t size);
char *nm_app_verbs(uint64_t verbs, char *buf, size_t size);

/* Copies what is to be sent of a request, from byte `from` of it on, into buf, which has room for
 * `size` bytes and for the head: how many; *ret_total: bytes of the whole request. */
size_t nm_app_compose(const struct nm_app *app, struct nm_app_request *request, uint64_t from,
		      char *buf, size_t size, uint64_t *ret_total);
/* What has come that is not of the protocol: a line of printable characters. */
#define NM_SAID_MAX 64u
void nm_app_note(char said[NM_SAID_MAX], const char *data, size_t n);

#endif
