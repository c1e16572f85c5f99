/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out which message a payload is, and whether its sender may send it in this state. */
#include "control/wire/message.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IN(state) (1u << NM_SESSION_##state)

static const struct {
	const char *word;
	enum nm_side sender;
	unsigned states;
} table[] = {
#define NM_MESSAGE(name, word, sender, states, size, body) {word, NM_SIDE_##sender, states},
#include "control/wire/messages.def"
#undef NM_MESSAGE
};

static const struct {
	const char *word, *waits, *owes;
	unsigned seconds;
	enum nm_session_rule rule;
} states[] = {
#define NM_STATE(name, word, waits, owes, seconds, rule)                                           \
	{word, waits, owes, seconds, NM_RULE_##rule},
	NM_SESSION_STATES(NM_STATE)
#undef NM_STATE
};

const char *nm_message_word(enum nm_message_type type)
{
	return table[type].word;
}

bool nm_message_may_come(enum nm_message_type type, enum nm_side from, enum nm_session_state state)
{
	return (table[type].sender & from) && (table[type].states & (1u << state));
}

const char *nm_session_state_word(enum nm_session_state state)
{
	return states[state].word;
}

const char *nm_session_state_waits(enum nm_session_state state)
{
	return states[state].waits;
}

const char *nm_session_state_owes(enum nm_session_state state)
{
	return states[state].owes;
}

unsigned nm_session_state_seconds(enum nm_session_state state)
{
	return states[state].seconds;
}

enum nm_session_rule nm_session_state_rule(enum nm_session_state state)
{
	return states[state].rule;
}

static int find(const char *word, enum nm_message_type *ret_type)
{
	for (unsigned i = 0; i < NM_MESSAGE__COUNT; i++) {
		if (strcmp(word, table[i].word) == 0) {
			*ret_type = (enum nm_message_type)i;
			return 0;
		}
	}
	return -ENOENT;
}

int nm_message_decode(const char *payload, size_t size, enum nm_side from,
		      enum nm_session_state state, struct nm_message *ret_message, char *why,
		      size_t why_size)
{
	struct nm_message message = {.type = NM_MESSAGE__COUNT};
	json_error_t error;
	const char *word;

	message.root = json_loadb(payload, size, JSON_REJECT_DUPLICATES, &error);
	if (!message.root) {
		(void)snprintf(why, why_size, "a message that is not JSON (%.80s)", error.text);
		return -EPROTO;
	}
	if (json_unpack_ex(message.root, &error, JSON_STRICT, "[s,o]", &word, &message.body) < 0 ||
	    !json_is_object(message.body)) {
		(void)snprintf(why, why_size, "a message that is not [\"word\", {...}]");
	} else if (find(word, &message.type) < 0) {
		(void)snprintf(why, why_size, "an unknown message, \"%.32s\"", word);
	} else if (!nm_message_may_come(message.type, from, state)) {
		(void)snprintf(why, why_size, "a message out of turn, \"%s\" in state \"%s\"",
			       table[message.type].word, states[state].word);
	} else {
		*ret_message = message;
		return 0;
	}
	json_decref(message.root);
	return -EPROTO;
}

/* Freed memory may have held a secret. */
static void free_wiped(void *memory)
{
	if (memory)
		explicit_bzero(memory, malloc_usable_size(memory));
	free(memory);
}

void nm_message_wipe_all(void)
{
	json_set_alloc_funcs(malloc, free_wiped);
}

void nm_message_fini(struct nm_message *message)
{
	json_decref(message->root);
	message->root = message->body = NULL;
}

char *nm_message_encode(enum nm_message_type type, json_t *body, size_t *ret_size)
{
	json_t *root = body ? json_pack("[s,o]", table[type].word, body) : NULL;
	char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;

	json_decref(root);
	if (text)
		*ret_size = strlen(text);
	return text;
}
