/* SPDX-License-Identifier: Apache-2.0 */
/* Reads templates of commands, and encodes them. */
#include "app/command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"

#define KEY  "__key__"
#define DATA "__data__"

/* Room for the length of a value: "$", digits, CR LF. */
#define LENGTH_MAX (NM_NUMBER_MAX + 3u)

struct reading {
	const char *at;
	struct nm_command *command;
	const struct nm_keyspace *keyspace;
	uint32_t n_words;
	char word[NM_COMMAND_HEAD_MAX]; /* without its quotes */
};

/* Commands that are no request with one answer, or concern more than keys. */
static const char *why_not(const char *name)
{
	static const struct {
		const char *names, *why;
	} others[] = {
		{" SHUTDOWN DEBUG CONFIG REPLICAOF SLAVEOF FAILOVER "
		 "CLUSTER MODULE ACL SAVE BGSAVE BGREWRITEAOF FUNCTION SCRIPT MIGRATE SENTINEL "
		 "LATENCY SLOWLOG ",
		 "concerns more of the server than keys, and is not asked for"},
		{" SUBSCRIBE PSUBSCRIBE SSUBSCRIBE UNSUBSCRIBE PUNSUBSCRIBE SUNSUBSCRIBE MONITOR "
		 "SYNC PSYNC REPLCONF CLIENT ",
		 "is not answered by one answer"},
		{" AUTH HELLO SELECT QUIT RESET ",
		 "is of the connection: auth_file, user, db and resp of connect stand for it"},
		{" MULTI EXEC DISCARD WATCH UNWATCH ASKING READONLY READWRITE ",
		 "changes what the connection does with later commands, and is not asked for"},
	};
	char spaced[NM_VERB_NAME + 2];

	snprintf(spaced, sizeof spaced, " %s ", name);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (strstr(others[i].names, spaced))
			return others[i].why;
	return NULL;
}

/* By what their names have in common, also of modules and of later versions. A script may do
 * anything, unless it is one that may only read; what asks for a time of expiry changes none. */
static bool destroys(const char *name)
{
	static const char *const parts[] = {
		"DEL",	 "FORGET",  "UNLINK",	   "REM",	    "POP",    "TRIM",
		"MOVE",	 "RENAME",  "EXPIRE",	   "GETEX",	    "DROP",   "CLEAR",
		"STORE", "BITOP",   "XGROUP",	   "FLUSH",	    "SWAPDB", "EVAL",
		"FCALL", "PERSIST", "GRAPH.QUERY", "GRAPH.PROFILE",
	};
	const size_t length = strlen(name);
	bool is = false;

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		is |= strstr(name, parts[i]) != NULL;
	return is && !strstr(name, "EXPIRETIME") &&
	       (length < 3 || strcmp(name + length - 3, "_RO") != 0);
}

/* The same of what does so only with such a word behind it. */
static bool destroys_with(const char *name, const char *word)
{
	static const struct {
		const char *begins, *word;
	} pairs[] = {
		{"XADD", "maxlen"},	{"XADD", "minid"},	    {"SORT", "store"},
		{"GEORADIUS", "store"}, {"GEORADIUS", "storedist"},
	};
	bool is = false;

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		is |= strncmp(name, pairs[i].begins, strlen(pairs[i].begins)) == 0 &&
		      nm_ascii_equals(word, pairs[i].word);
	return is;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Takes the next word: 1; 0: there is none; -EINVAL with a phrase in why. */
static int next_word(struct reading *r, const char **why)
{
	char quote = '\0', *to = r->word;

	while (is_blank(*r->at))
		r->at++;
	if (!*r->at)
		return 0;
	for (; *r->at && (quote || !is_blank(*r->at)); r->at++) {
		if (quote ? *r->at == quote : *r->at == '"' || *r->at == '\'') {
			quote = quote ? '\0' : *r->at;
			continue;
		}
		if (*r->at == '\\' && quote != '\'' && r->at[1])
			r->at++;
		if (to + 1 >= r->word + sizeof r->word) {
			*why = "is too long";
			return -EINVAL;
		}
		*to++ = *r->at;
	}
	*to = '\0';
	*why = "ends within quotes";
	return quote ? -EINVAL : 1;
}

/* Bytes of the word with its keys in it. */
static size_t length_of(const struct reading *r)
{
	size_t n = strlen(r->word);

	for (const char *key = strstr(r->word, KEY); key; key = strstr(key + strlen(KEY), KEY))
		n += r->keyspace->length - strlen(KEY);
	return n;
}

/* Appends "$LENGTH", the word and where its keys are. */
static const char *put_word(struct reading *r, char *to, uint32_t *used, size_t room)
{
	struct nm_command *command = r->command;
	const size_t length = length_of(r);
	const char *from = r->word;
	char *at = to + *used;

	if (*used + length + LENGTH_MAX + 2 > room)
		return to == command->tail ? "has too much behind __data__: put it before"
					   : "is too long";
	*at++ = '$';
	at = nm_line_put("\r\n", nm_number_put(length, at));
	for (const char *key = strstr(from, KEY); key; key = strstr(from, KEY)) {
		if (to == command->tail)
			return "has __key__ behind __data__, where none can be";
		if (command->n_keys == NM_COMMAND_KEYS_MAX)
			return "has more than 16 keys";
		memcpy(at, from, (size_t)(key - from));
		at += key - from;
		command->key_at[command->n_keys++] = (uint32_t)(at - to);
		at += r->keyspace->length;
		from = key + strlen(KEY);
	}
	at = nm_line_put("\r\n", nm_line_put(from, at));
	*used = (uint32_t)(at - to);
	return NULL;
}

static void note_name(struct nm_command *command, const char *word)
{
	for (size_t i = 0; word[i]; i++)
		command->name[i] =
			word[i] >= 'a' && word[i] <= 'z' ? (char)(word[i] - 'a' + 'A') : word[i];
}

static const char *take_word(struct reading *r)
{
	struct nm_command *command = r->command;

	if (!r->n_words++) {
		if (strlen(r->word) >= sizeof command->name)
			return "begins with a name of more than 63 bytes";
		note_name(command, r->word);
		command->destroys = destroys(command->name);
	}
	command->destroys |= destroys_with(command->name, r->word);
	if (r->n_words == 1 && (strstr(r->word, "__") || !*r->word))
		return "must begin with the name of a command";
	if (strstr(r->word, KEY) && !r->keyspace)
		return "has __key__, which needs keys=...";
	if (strstr(r->word, KEY) && r->keyspace->lengths)
		return "has __key__, whose keyspace must have keys of one length";
	if (strcmp(r->word, DATA) == 0) {
		if (command->has_data)
			return "has __data__ twice";
		command->has_data = true;
		command->tail_length = (uint32_t)strlen("\r\n");
		memcpy(command->tail, "\r\n", command->tail_length);
		return NULL;
	}
	if (strstr(r->word, DATA))
		return "has __data__ within a word, which must be a word of its own";
	return command->has_data
		       ? put_word(r, command->tail, &command->tail_length, sizeof command->tail)
		       : put_word(r, command->head, &command->head_length,
				  sizeof command->head - LENGTH_MAX);
}

/* The number of words is known last, and stands first. */
static const char *put_count(struct reading *r)
{
	struct nm_command *command = r->command;
	char count[LENGTH_MAX], *end = count;

	*end++ = '*';
	end = nm_line_put("\r\n", nm_number_put(r->n_words, end));
	const uint32_t n = (uint32_t)(end - count);

	if (command->head_length + n + LENGTH_MAX > sizeof command->head)
		return "is too long";
	memmove(command->head + n, command->head, command->head_length);
	memcpy(command->head, count, n);
	command->head_length += n;
	for (uint32_t i = 0; i < command->n_keys; i++)
		command->key_at[i] += n;
	return NULL;
}

int nm_command_read(const char *text, const struct nm_keyspace *keyspace, struct nm_command *ret,
		    char *why, size_t why_size)
{
	struct reading r = {.at = text, .command = ret, .keyspace = keyspace};
	const char *wrong = NULL;
	int more = 1;

	memset(ret, 0, sizeof *ret);
	while (more > 0 && !wrong) {
		more = next_word(&r, &wrong);
		if (more >= 0)
			wrong = more ? take_word(&r) : NULL;
	}
	if (!wrong && !r.n_words)
		wrong = "is empty";
	if (!wrong)
		wrong = why_not(ret->name);
	if (!wrong && keyspace && !ret->n_keys)
		wrong = "has no __key__ for keys=...";
	if (!wrong)
		wrong = put_count(&r);
	if (wrong)
		snprintf(why, why_size, "%s", wrong);
	return wrong ? -EINVAL : 0;
}

void nm_command_encode(const struct nm_app_request *request, char *buf, struct nm_app_encoded *ret)
{
	const struct nm_command *command = request->command;
	char *at = buf + command->head_length;

	memcpy(buf, command->head, command->head_length);
	for (uint32_t i = 0; i < command->n_keys; i++)
		nm_keyspace_put(request->keyspace, request->key, buf + command->key_at[i]);
	ret->payload = 0;
	ret->tail = command->tail_length;
	if (command->has_data) {
		*at++ = '$';
		at = nm_line_put("\r\n", nm_number_put(request->size, at));
		ret->pool = request->pool->bytes;
		ret->payload = request->size;
		memcpy(ret->tail_text, command->tail, command->tail_length);
	}
	ret->head = (size_t)(at - buf);
}
