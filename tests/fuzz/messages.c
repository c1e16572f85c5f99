/* SPDX-License-Identifier: Apache-2.0 */
/* Changes control messages and leaves them messages, most of the time: random bytes would hardly
 * ever come past the reader of JSON. */
#include <stdio.h>
#include <string.h>

#include "control/wire/codec.h"
#include "fuzz.h"

#define PROFILE                                                                                    \
	"<profile name='t'><group nthreads='2'>"                                                   \
	"<transaction iterations='1'><flowop type='connect' options='remotehost=peer'/>"           \
	"</transaction><transaction duration='1ms'><flowop type='write' options='size=10'/>"       \
	"<flowop type='read' options='size=10'/></transaction></group></profile>"

#define TEXT_OF(number)	 TEXT_OF_(number)
#define TEXT_OF_(number) #number

/* Texts and values that come past the first check of their member. */
static const struct {
	const char *member, *value;
} usual[] = {
	{"profile", "\"" PROFILE "\""},
	{"protocol", TEXT_OF(NM_PROTOCOL)},
	{"magic", "\"netmodel\""},
	{"host", "\"peer\""},
	{"run_id", "\"0123456789abcdef0123456789abcdef\""},
	{"cpus", "null"},
	{"counters", "null"},
	{"source", "null"},
	{"report", "null"},
	{"endpoints", "[[0,0,[\"4711\",\"4711\"]]]"},
	{"texts", "[\"4711\"]"},
	{"totals", "[4,4]"},
	{"phase", "0"},
	{"group", "0"},
	{"t", "-7"},
	{"timeout_ns", "1000000000"},
};

/* What is made when there is no seed: the least of everything, as the tables allow it. */
static size_t choose(unsigned *seed, size_t n)
{
	return seed ? pick(seed, n) : 0;
}

static json_t *make_value(const struct nm_field *field, unsigned *seed);

static json_t *make_object(const struct nm_field *fields, unsigned *seed)
{
	json_t *object = json_object();

	for (; fields->name; fields++)
		json_object_set_new(object, fields->name, make_value(fields, seed));
	return object;
}

static json_t *make_row(const struct nm_field *fields, unsigned *seed)
{
	json_t *list = json_array();

	for (; fields->name; fields++)
		json_array_append_new(list, make_value(fields, seed));
	return list;
}

static json_t *make_number(const struct nm_field *field, unsigned *seed)
{
	uint64_t most = field->max		      ? field->max
			: field->type == NM_FIELD_U32 ? UINT32_MAX
						      : INT64_MAX;
	const uint64_t numbers[] = {field->min, field->min + 1, field->min + choose(seed, 100),
				    most, most / 2};

	return json_integer((json_int_t)numbers[choose(seed, 5)]);
}

static json_t *make_text(size_t length, const char *digits)
{
	char text[256];

	length = length < sizeof text ? length : sizeof text - 1;
	for (size_t i = 0; i < length; i++)
		text[i] = digits[i % strlen(digits)];
	return json_stringn(text, length);
}

static json_t *make_value(const struct nm_field *field, unsigned *seed)
{
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		if (field->name && strcmp(usual[i].member, field->name) == 0 &&
		    (field->optional || strcmp(usual[i].value, "null") != 0) &&
		    (!seed || pick(seed, 8)))
			return json_loads(usual[i].value, JSON_DECODE_ANY, NULL);
	switch (field->type) {
	case NM_FIELD_U64:
	case NM_FIELD_U32:
		return make_number(field, seed);
	case NM_FIELD_I64:
		return json_integer((json_int_t)choose(seed, 3) - 1);
	case NM_FIELD_BOOL:
		return json_boolean(choose(seed, 2));
	case NM_FIELD_REAL:
	case NM_FIELD_SHARE:
		return json_real((double)choose(seed, 101) / 100);
	case NM_FIELD_TEXT:
	case NM_FIELD_CHARS:
		return make_text(choose(seed, field->max + 1), "text");
	case NM_FIELD_BYTES:
		return make_text(2 * field->max, "0123456789abcdef");
	case NM_FIELD_OBJECT:
		return make_object(field->fields, seed);
	case NM_FIELD_ROW:
		return make_row(field->fields, seed);
	case NM_FIELD_LIST:
	case NM_FIELD_VECTOR: {
		json_t *list = json_array();

		for (size_t n = 1 + choose(seed, 2); n > 0; n--)
			json_array_append_new(list, make_row(field->fields, seed));
		return list;
	}
	case NM_FIELD_EITHER:
		return make_value(&field->fields[choose(seed, 2)], seed);
	case NM_FIELD_VALUE:
		return json_array();
	case NM_FIELD_NULL:
		break;
	}
	return json_null();
}

/* Puts the members of one object in the place of those of another; of counts the first ones. */
static void merge(json_t *into, const json_t *from)
{
	const char *key;
	json_t *value, *number;
	size_t i;

	json_object_foreach((json_t *)(uintptr_t)from, key, value)
	{
		json_t *list = json_object_get(into, key);

		if (strcmp(key, "counts") != 0)
			json_object_set(into, key, value);
		else
			json_array_foreach(value, i, number) json_array_set(list, i, number);
	}
}

char *fuzz_talk(const struct fuzz_line *lines, size_t *ret_size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_size);

	demand(out != NULL);
	for (; lines->word; lines++) {
		int type = 0;

		while (type < NM_MESSAGE__COUNT &&
		       strcmp(nm_message_word((enum nm_message_type)type), lines->word) != 0)
			type++;
		if (type == NM_MESSAGE__COUNT) {
			fprintf(out, "%s\n", lines->word);
			continue;
		}
		json_t *body = make_object(nm_message_fields((enum nm_message_type)type), NULL);
		json_t *own = json_loads(lines->own ? lines->own : "{}", 0, NULL);

		demand(body && own);
		merge(body, own);
		json_t *message = json_pack("[s, o]", lines->word, body);

		demand(message && json_dumpf(message, out, JSON_COMPACT) == 0);
		fputc('\n', out);
		json_decref(own);
		json_decref(message);
	}
	demand(fclose(out) == 0);
	return text;
}

/* A message by its table; owned. */
static char *make_line(unsigned *seed)
{
	enum nm_message_type type = (enum nm_message_type)pick(seed, NM_MESSAGE__COUNT);
	json_t *message = json_pack("[s, o]", nm_message_word(type),
				    make_object(nm_message_fields(type), seed));
	char *text = json_dumps(message, JSON_COMPACT);

	json_decref(message);
	return text;
}

/* --- a value of a message --- */

static json_t *strange_value(unsigned *seed)
{
	static const char *const values[] = {
		"0",
		"-1",
		"1",
		"2147483648",
		"9223372036854775807",
		"-9223372036854775808",
		"1e308",
		"-1e308",
		"1e-320",
		"0.5",
		"\"\"",
		"\"x\"",
		"null",
		"true",
		"false",
		"[]",
		"{}",
		"[[[[[[[[]]]]]]]]",
		"\"4711\"",
		"[0]",
		"[0,0]",
		"\"\\u001b[31m\"",
		"65536",
	};

	return json_loads(values[pick(seed, sizeof values / sizeof *values)], JSON_DECODE_ANY,
			  NULL);
}

static void change_list(json_t *list, size_t at, unsigned *seed)
{
	switch (pick(seed, 3)) {
	case 0:
		json_array_set_new(list, at, strange_value(seed));
		break;
	case 1:
		json_array_remove(list, at);
		break;
	default:
		json_array_append(list, json_array_get(list, at));
	}
}

/* Goes down to a value by chance, and changes it. */
static void change_value(json_t *value, unsigned *seed)
{
	for (;;) {
		size_t n = json_is_array(value) ? json_array_size(value) : json_object_size(value);

		if (n == 0)
			return;
		size_t at = pick(seed, n);
		void *member = json_object_iter(value);

		for (size_t i = 0; member && i < at; i++)
			member = json_object_iter_next(value, member);
		json_t *inner = json_is_array(value) ? json_array_get(value, at)
						     : json_object_iter_value(member);

		if ((json_is_array(inner) || json_is_object(inner)) && pick(seed, 4)) {
			value = inner;
			continue;
		}
		if (json_is_array(value))
			change_list(value, at, seed);
		else if (pick(seed, 8))
			json_object_iter_set_new(value, member, strange_value(seed));
		else
			json_object_del(value, json_object_iter_key(member));
		return;
	}
}

/* --- lines --- */

struct line {
	size_t at, length; /* without its end */
};

static struct line pick_line(const uint8_t *data, size_t size, unsigned *seed)
{
	size_t at = size ? pick(seed, size) : 0, end = at;

	while (at > 0 && data[at - 1] != '\n')
		at--;
	while (end < size && data[end] != '\n')
		end++;
	return (struct line){at, end - at};
}

static size_t insert_line(uint8_t *data, size_t size, size_t max_size, unsigned *seed)
{
	struct line line = pick_line(data, size, seed);
	char *text = make_line(seed);

	if (text) {
		size = fuzz_splice(data, size, max_size, line.at, 0, "\n", 1);
		size = fuzz_splice(data, size, max_size, line.at, 0, text, strlen(text));
	}
	free(text);
	return size;
}

static size_t change_line(uint8_t *data, size_t size, size_t max_size, unsigned *seed)
{
	struct line line = pick_line(data, size, seed);
	json_t *message = json_loadb((const char *)data + line.at, line.length, 0, NULL);
	char *text = NULL;

	if (message) {
		change_value(message, seed);
		text = json_dumps(message, JSON_COMPACT);
	}
	if (text)
		size = fuzz_splice(data, size, max_size, line.at, line.length, text, strlen(text));
	free(text);
	json_decref(message);
	return size;
}

/* Puts a copy of a line before another. */
static size_t double_line(uint8_t *data, size_t size, size_t max_size, unsigned *seed)
{
	struct line from = pick_line(data, size, seed), to = pick_line(data, size, seed);
	char *text = strndup((const char *)data + from.at, from.length);

	if (text) {
		size = fuzz_splice(data, size, max_size, to.at, 0, "\n", 1);
		size = fuzz_splice(data, size, max_size, to.at, 0, text, strlen(text));
	}
	free(text);
	return size;
}

static size_t drop_line(uint8_t *data, size_t size, size_t max_size, unsigned *seed)
{
	struct line line = pick_line(data, size, seed);
	size_t end = line.at + line.length < size ? 1 : 0;

	return fuzz_splice(data, size, max_size, line.at, line.length + end, "", 0);
}

size_t fuzz_lines(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	static const char waits[] = "wait 1000000\n";

	switch (pick(&seed, 11)) {
	case 0:
		return fuzz_splice(data, size, max_size, pick_line(data, size, &seed).at, 0, waits,
				   sizeof waits - 1);
	case 1:
	case 2:
		return double_line(data, size, max_size, &seed);
	case 3:
	case 4:
		return drop_line(data, size, max_size, &seed);
	case 5:
	case 6:
		return insert_line(data, size, max_size, &seed);
	default:
		return change_line(data, size, max_size, &seed);
	}
}

size_t fuzz_messages(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	return pick(&seed, 12) ? fuzz_lines(data, size, max_size, seed)
			       : LLVMFuzzerMutate(data, size, max_size);
}
