/* SPDX-License-Identifier: Apache-2.0 */
/* What connections to servers that are not netmodel begin with, in protocols that have that: who
 * asks, and what for. Any thread. */
#ifndef NM_APP_SESSION_H
#define NM_APP_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app/parsed.h"

#define NM_USER_MAX	128u /* bytes of a user's name */
#define NM_PASSWORD_MAX 512u

struct nm_app_login {
	const char *user, *password; /* "": none */
	uint64_t db, version;
};

/* One request that a connection begins with. */
struct nm_greeting {
	const char *name; /* in messages */
	bool has_password;
};

#define NM_GREETINGS_MAX 2u
struct nm_greetings {
	uint32_t count; /* 0: a connection begins with none */
	struct nm_greeting of[NM_GREETINGS_MAX];
	size_t size; /* of all of them */
	char bytes[NM_USER_MAX + NM_PASSWORD_MAX + 160u];
};

struct nm_app_parser;

/* Of a protocol. */
struct nm_app_session {
	bool needs_user; /* beside a password */
	bool has_db;	 /* numbered databases */
	/* of the protocol, 0 where there is one alone: the first is what a connection has that
	 * does not ask */
	uint8_t first_version, last_version;
	/* Appends to *ret, which is zeroed. */
	void (*greet)(const struct nm_app_login *login, struct nm_greetings *ret);
	/* Takes bytes of the answer to one of them, as nm_app's parse does. */
	enum nm_parsed (*parse)(struct nm_app_parser *parser, const char *data, size_t n,
				size_t *ret_taken);
};

#endif
