/* SPDX-License-Identifier: Apache-2.0 */
/* Any command of Redis, by a template: words separated by blanks, with quotes as in a shell.
 * __key__, within a word or alone, stands for a key, and the word __data__ for a value. */
#ifndef NM_APP_COMMAND_H
#define NM_APP_COMMAND_H

#include "app/app.h"
#include "base/verb_name.h"

/* Bytes of the encoded command before its value, at most, and how many keys. */
#define NM_COMMAND_HEAD_MAX 2048u
#define NM_COMMAND_KEYS_MAX 16u

/* The command as it is sent, but for its keys and its value; put together once. */
struct nm_command {
	char name[NM_VERB_NAME];		      /* its first word, in capitals */
	uint32_t n_keys, key_at[NM_COMMAND_KEYS_MAX]; /* in `head` */
	bool has_data;
	bool destroys; /* it takes away what the server has, or says when it goes */
	uint32_t head_length, tail_length; /* before the length of the value, and behind it */
	char head[NM_COMMAND_HEAD_MAX];
	char tail[NM_APP_TAIL_MAX];
};

/* Reads the text; keyspace NULL: there are no keys. 0, or -EINVAL with a phrase in why. */
int nm_command_read(const char *text, const struct nm_keyspace *keyspace, struct nm_command *ret,
		    char *why, size_t why_size);

/* As nm_app's encode does. */
void nm_command_encode(const struct nm_app_request *request, char *buf, struct nm_app_encoded *ret);

#endif
