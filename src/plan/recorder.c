/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded requests: from lines of text to a table. */
#include "plan/recorder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "app/line.h"
#include "base/hash.h"
#include "plan/grow.h"

#define BLANKS	   " \t\r"
#define MOST_SHOWN 40 /* bytes of what is wrong */
#define SIZE_MAX_  (UINT32_C(1) << 30)
#define NO_NAMES                                                                                   \
	"without names of columns in the first line there must be seven: time, key, key length, "  \
	"value length, client, verb, ttl"

/* The names of columns, of which each kind has several. */
static const struct {
	const char *name;
	enum nm_column kind;
} names[] = {{"op", NM_COLUMN_VERB},	       {"verb", NM_COLUMN_VERB},
	     {"operation", NM_COLUMN_VERB},    {"key", NM_COLUMN_KEY},
	     {"size", NM_COLUMN_SIZE},	       {"value_size", NM_COLUMN_SIZE},
	     {"value_length", NM_COLUMN_SIZE}, {"ttl", NM_COLUMN_TTL}};
#define N_NAMES (sizeof names / sizeof *names)

/* How verbs are called in files. */
static const struct {
	const char *word;
	enum nm_verb verb;
} words[] = {{"get", NM_VERB_GET},
	     {"gets", NM_VERB_GET},
	     {"set", NM_VERB_SET},
	     {"delete", NM_VERB_DELETE},
	     {"del", NM_VERB_DELETE}};
#define N_WORDS (sizeof words / sizeof *words)

bool nm_recorder_knows(enum nm_verb verb)
{
	for (size_t i = 0; i < N_WORDS; i++)
		if (words[i].verb == verb)
			return true;
	return false;
}

struct field {
	const char *text;
	size_t length;
};

/* --- columns --- */

static char separator_of(const char *line)
{
	for (const char *c = "\t,;"; *c; c++)
		if (strchr(line, *c))
			return *c;
	return ' ';
}

/* Cuts the line: how many columns it has, of which NM_COLUMNS_MAX at most are told. */
static unsigned cut(const struct nm_recorder *recorder, const char *line, struct field *fields)
{
	const char stops[] = {recorder->separator, recorder->separator == ' ' ? '\t' : '\0', '\0'};
	unsigned n = 0;

	for (const char *at = line, *end;; at = end + 1) {
		at += strspn(at, recorder->separator == '\t' ? " \r" : BLANKS);
		end = at + strcspn(at, stops);
		size_t length = (size_t)(end - at);

		while (length && strchr(BLANKS, at[length - 1]))
			length--;
		if (recorder->separator == ' ' && !length && !*end)
			break;
		if (n < NM_COLUMNS_MAX)
			fields[n] = (struct field){at, length};
		n++;
		if (!*end)
			break;
	}
	return n < NM_COLUMNS_MAX ? n : NM_COLUMNS_MAX;
}

static bool is_word(const struct field *field, const char *word)
{
	const char *at = field->text;

	return strlen(word) == field->length && strncasecmp(at, word, field->length) == 0;
}

int nm_recorder_name(struct nm_recorder *recorder, const char *line, char *why, size_t why_size)
{
	struct field fields[NM_COLUMNS_MAX];

	recorder->separator = separator_of(line);
	unsigned n = cut(recorder, line, fields);

	for (unsigned i = 1; i < n; i++)
		for (size_t k = 0; k < N_NAMES; k++)
			if (is_word(&fields[i], names[k].name))
				recorder->column[names[k].kind] = i + 1;
	if (recorder->column[NM_COLUMN_VERB] && recorder->column[NM_COLUMN_KEY])
		return 0;
	(void)snprintf(
		why, why_size,
		"\"%.*s\" names no column %s; behind that of times there must be op and key, and "
		"may be size and ttl, with tabs, commas, semicolons or blanks between",
		MOST_SHOWN, line, recorder->column[NM_COLUMN_VERB] ? "key" : "op");
	return -EINVAL;
}

/* Without names of columns. */
static void name_usual(struct nm_recorder *recorder, const char *line)
{
	recorder->separator = separator_of(line);
	recorder->column[NM_COLUMN_KEY] = 2;
	recorder->column[NM_COLUMN_SIZE] = 4;
	recorder->column[NM_COLUMN_VERB] = 6;
	recorder->column[NM_COLUMN_TTL] = 7;
}

/* --- keys --- */

/* Where the number of the key is, or is to be. */
static uint32_t *slot_of(const struct nm_recorder *recorder, const char *text, size_t length)
{
	const size_t mask = recorder->hashed_room - 1;

	for (size_t i = (size_t)nm_hash(text, length) & mask;; i = (i + 1) & mask) {
		uint32_t *slot = &recorder->hashed[i];
		const struct nm_recorded_key *key = *slot ? &recorder->key_list[*slot - 1] : NULL;

		if (!key || (key->length == length &&
			     memcmp(recorder->texts + key->text_at, text, length) == 0))
			return slot;
	}
}

/* Room for one more key among the hashed: half of them are empty. */
static bool hash_more(struct nm_recorder *recorder)
{
	if (recorder->hashed_room > 2 * recorder->n_keys)
		return true;
	free(recorder->hashed);
	recorder->hashed_room = recorder->hashed_room ? 2 * recorder->hashed_room : 8192;
	recorder->hashed = calloc(recorder->hashed_room, sizeof *recorder->hashed);
	for (uint32_t key = 0; recorder->hashed && key < recorder->n_keys; key++)
		*slot_of(recorder, recorder->texts + recorder->key_list[key].text_at,
			 recorder->key_list[key].length) = key + 1;
	return recorder->hashed;
}

static bool has_room(struct nm_recorder *recorder, size_t length)
{
	while (recorder->texts_room - recorder->used < length)
		if (!nm_grow((void **)&recorder->texts, 1, &recorder->texts_room))
			return false;
	if (recorder->n_keys == recorder->keys_room &&
	    !nm_grow((void **)&recorder->key_list, sizeof *recorder->key_list,
		     &recorder->keys_room))
		return false;
	return hash_more(recorder);
}

/* 0, or -ENOMEM. */
static int number_key(struct nm_recorder *recorder, const struct field *field, uint32_t *ret)
{
	if (!has_room(recorder, field->length))
		return -ENOMEM;
	uint32_t *slot = slot_of(recorder, field->text, field->length);

	if (!*slot) {
		memcpy(recorder->texts + recorder->used, field->text, field->length);
		recorder->key_list[recorder->n_keys++] = (struct nm_recorded_key){
			.text_at = (uint32_t)recorder->used,
			.length = (uint16_t)field->length,
			.value_at = (uint16_t)nm_pool_at(nm_hash(field->text, field->length)),
		};
		recorder->used += field->length;
		*slot = (uint32_t)recorder->n_keys;
		if (field->length > recorder->longest)
			recorder->longest = (uint32_t)field->length;
	}
	*ret = *slot - 1;
	return 0;
}

/* --- fields --- */

static bool is_key(const struct field *field)
{
	for (size_t i = 0; i < field->length; i++)
		if ((unsigned char)field->text[i] <= ' ' || field->text[i] == 127)
			return false;
	return field->length && field->length <= NM_KEY_MAX && *field->text != '"';
}

static bool read_number(const struct field *field, uint32_t most, uint32_t *ret)
{
	uint64_t number = 0;
	size_t digits = nm_line_number(field->text, field->length, most, &number);

	*ret = (uint32_t)number;
	return digits && digits == field->length;
}

static int refuse(unsigned column, const char *name, const struct field *field, const char *must,
		  char *why, size_t why_size)
{
	(void)snprintf(why, why_size, "column %u (%s): \"%.*s\": %s", column, name,
		       field->length < MOST_SHOWN ? (int)field->length : MOST_SHOWN, field->text,
		       must);
	return -EINVAL;
}

/* Reads the numbers of a request; a column that is not there leaves 0. */
static int read_numbers(const struct nm_recorder *recorder, const struct field *fields,
			struct nm_record *ret, char *why, size_t why_size)
{
	const unsigned size = recorder->column[NM_COLUMN_SIZE];
	const unsigned ttl = recorder->column[NM_COLUMN_TTL];
	uint32_t ttl_s = 0;

	if (size && !read_number(&fields[size - 1], SIZE_MAX_, &ret->size))
		return refuse(size, "value length", &fields[size - 1],
			      "must be bytes, from 0 to 1073741824", why, why_size);
	if (ttl && !read_number(&fields[ttl - 1], UINT32_MAX, &ttl_s))
		return refuse(ttl, "ttl", &fields[ttl - 1], "must be seconds, from 0 to 4294967295",
			      why, why_size);
	ret->ttl_s = (ttl_s < NM_RECORD_TTL_MAX ? ttl_s : NM_RECORD_TTL_MAX) & 0xffffffu;
	return 0;
}

static unsigned columns_needed(const struct nm_recorder *recorder)
{
	unsigned most = 0;

	for (unsigned k = 0; k < NM_COLUMN__COUNT; k++)
		most = recorder->column[k] > most ? recorder->column[k] : most;
	return most;
}

/* The member that has the verb of the line, + 1; 0: none. */
static uint32_t member_of(const struct nm_recorder *recorder, const struct field *verb)
{
	for (size_t i = 0; i < N_WORDS; i++)
		if (is_word(verb, words[i].word))
			return recorder->members[words[i].verb];
	return 0;
}

static void leave_out(struct nm_recorder *recorder, const struct field *verb, unsigned number)
{
	if (recorder->n_unsent++)
		return;
	recorder->unsent_line = number;
	(void)snprintf(recorder->unsent_verb, sizeof recorder->unsent_verb, "%.*s",
		       (int)verb->length, verb->text);
}

int nm_recorder_add(struct nm_recorder *recorder, const char *line, unsigned number, char *why,
		    size_t why_size)
{
	struct field fields[NM_COLUMNS_MAX];
	struct nm_record record = {.size = 0};
	bool is_first = !recorder->separator;

	if (is_first)
		name_usual(recorder, line);
	unsigned n = cut(recorder, line, fields);

	if (n < columns_needed(recorder)) {
		(void)snprintf(why, why_size, "has %u columns of %u%s", n, columns_needed(recorder),
			       is_first ? "; " NO_NAMES : "");
		return -EINVAL;
	}
	const unsigned key = recorder->column[NM_COLUMN_KEY];
	const struct field *verb = &fields[recorder->column[NM_COLUMN_VERB] - 1];
	uint32_t member = member_of(recorder, verb), key_number = 0;

	if (!is_key(&fields[key - 1]))
		return refuse(key, "key", &fields[key - 1],
			      "must be a key of 1 to 250 bytes without blanks and quotes", why,
			      why_size);
	if (read_numbers(recorder, fields, &record, why, why_size) < 0)
		return -EINVAL;
	if (!member) {
		leave_out(recorder, verb, number);
		return 0;
	}
	if (recorder->used > NM_RECORDED_KEYS_MAX - NM_KEY_MAX ||
	    recorder->count == NM_RECORDS_MAX) {
		(void)snprintf(why, why_size,
			       "is one more than there can be: 100000000 requests, and 4294967045 "
			       "bytes of keys that differ");
		return -EINVAL;
	}
	if (recorder->count == recorder->list_room &&
	    !nm_grow((void **)&recorder->list, sizeof *recorder->list, &recorder->list_room))
		return -ENOMEM;
	if (number_key(recorder, &fields[key - 1], &key_number) < 0)
		return -ENOMEM;
	record.key = key_number;
	record.member = (member - 1) & 0xffu;
	recorder->list[recorder->count++] = record;
	return 1;
}

/* --- the table --- */

/* Gives back what is not needed; what is there stays if that fails. */
static void *shrunk(void *at, size_t size)
{
	void *moved = realloc(at, size);

	return moved ? moved : at;
}

void nm_recorder_end(struct nm_recorder *recorder, struct nm_recording *ret)
{
	recorder->list = shrunk(recorder->list, recorder->count * sizeof *recorder->list);
	recorder->texts = shrunk(recorder->texts, recorder->used);
	recorder->key_list =
		shrunk(recorder->key_list, recorder->n_keys * sizeof *recorder->key_list);
	*ret = (struct nm_recording){
		.keys = {.prefix = "",
			 .count = recorder->n_keys,
			 .length = recorder->longest,
			 .least = UINT32_MAX, /* no text is that of a number */
			 .lengths = &ret->keys.ranks,
			 .law = NM_KEYS_RECORDED},
		.count = recorder->count,
		.n_left_out = recorder->n_unsent,
		.list = recorder->list,
		.texts = recorder->texts,
		.key_list = recorder->key_list,
		.has_size = recorder->column[NM_COLUMN_SIZE],
		.has_ttl = recorder->column[NM_COLUMN_TTL],
	};
	recorder->list = NULL;
	recorder->texts = NULL;
	recorder->key_list = NULL;
}

void nm_recorder_fini(struct nm_recorder *recorder)
{
	free(recorder->list);
	free(recorder->texts);
	free(recorder->key_list);
	free(recorder->hashed);
}
