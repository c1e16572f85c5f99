/* SPDX-License-Identifier: Apache-2.0 */
/* Reads names and types of DNS, and writes questions. */
#include "app/question.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/ascii.h"

#define CLASS_IN  1u
#define END_BYTES 4u /* of a question: its type and its class */

uint16_t nm_question_end(unsigned char *name, uint8_t length, uint16_t type)
{
	unsigned char *at = name + length;

	at[0] = (unsigned char)(type >> 8);
	at[1] = (unsigned char)type;
	at[2] = 0;
	at[3] = CLASS_IN;
	return (uint16_t)(length + END_BYTES);
}

size_t nm_question_put(const struct nm_questions *questions, uint64_t key, unsigned char *buf)
{
	const struct nm_question *question = &questions->list[questions->labels ? 0 : key];
	unsigned char *at = buf;

	if (questions->labels) {
		*at++ = (unsigned char)questions->keys.length;
		nm_keyspace_put(&questions->keys, key, (char *)at);
		at += questions->keys.length;
	}
	memcpy(at, question->wire, question->length);
	return (size_t)(at - buf) + question->length;
}

/* Whether two pieces of a name are the same; lengths of labels are no letters. */
static bool is_same(const unsigned char *a, const unsigned char *b, size_t n)
{
	if (__builtin_expect(memcmp(a, b, n) == 0, 1))
		return true;
	for (size_t i = 0; i < n; i++)
		if (nm_ascii_lower((char)a[i]) != nm_ascii_lower((char)b[i]))
			return false;
	return true;
}

size_t nm_question_take(const struct nm_questions *questions, uint64_t key,
			const unsigned char *data, size_t n)
{
	const struct nm_question *question = &questions->list[questions->labels ? 0 : key];
	const size_t label = questions->labels ? 1u + questions->keys.length : 0;
	const size_t name = question->length - END_BYTES;
	unsigned char text[NM_LABEL_MAX];

	if (n < label + question->length)
		return 0;
	if (label) {
		nm_keyspace_put(&questions->keys, key, (char *)text);
		if (*data != questions->keys.length || !is_same(text, data + 1, label - 1))
			return 0;
		data += label;
	}
	if (__builtin_expect(memcmp(question->wire, data, question->length) == 0, 1) ||
	    (is_same(question->wire, data, name) &&
	     memcmp(question->wire + name, data + name, END_BYTES) == 0))
		return label + question->length;
	return 0;
}

/* One character, or what is written for it behind a backslash: how many bytes of the text it has;
 * 0: it is none. */
static size_t read_char(const char *text, size_t n, unsigned char *ret)
{
	unsigned value = 0;

	*ret = (unsigned char)*text;
	if (*text != '\\')
		return 1;
	if (n < 2)
		return 0;
	*ret = (unsigned char)text[1];
	if (text[1] < '0' || text[1] > '9')
		return 2;
	for (size_t i = 1; i < 4; i++) {
		if (i >= n || text[i] < '0' || text[i] > '9')
			return 0;
		value = value * 10 + (unsigned)(text[i] - '0');
	}
	*ret = (unsigned char)value;
	return value < 256 ? 4 : 0;
}

/* Reads a label to its dot or the end of the text; wire[0] becomes its length. NULL, or what is
 * wrong. */
static const char *read_label(const char *text, size_t n, unsigned char *wire, size_t room,
			      size_t *ret_taken)
{
	size_t at = 0, length = 0, some;

	for (; at < n && text[at] != '.'; at += some) {
		if (length == NM_LABEL_MAX)
			return "a label has more than 63 bytes";
		if (length + 1 >= room)
			return "it has more than 255 bytes on the wire";
		some = read_char(text + at, n - at, &wire[++length]);
		if (!some)
			return "\\ must be before a character, or three digits up to 255";
	}
	if (!length)
		return "a label is empty";
	wire[0] = (unsigned char)length;
	*ret_taken = at + (at < n); /* with its dot */
	return NULL;
}

int nm_name_read(const char *text, size_t n, unsigned char *wire, uint8_t *ret_length, char *why,
		 size_t why_size)
{
	const char *wrong = n ? NULL : "it is empty";
	size_t used = 0, taken;

	if (n == 1 && *text == '.')
		n = 0; /* the root */
	for (size_t at = 0; !wrong && at < n; at += taken) {
		/* Room for the root behind it. */
		wrong = read_label(text + at, n - at, wire + used, NM_NAME_MAX - 1 - used, &taken);
		used += wrong ? 0 : wire[used] + 1u;
	}
	if (wrong) {
		(void)snprintf(why, why_size, "%s", wrong);
		return -EINVAL;
	}
	wire[used++] = 0;
	*ret_length = (uint8_t)used;
	return 0;
}

static const struct {
	const char *name;
	uint16_t number;
} types[] = {
	{"A", 1},	    {"AAAA", 28},  {"AFSDB", 18}, {"ANY", 255},	 {"CAA", 257},
	{"CDNSKEY", 60},    {"CDS", 59},   {"CERT", 37},  {"CNAME", 5},	 {"DNAME", 39},
	{"DNSKEY", 48},	    {"DS", 43},	   {"HINFO", 13}, {"HTTPS", 65}, {"LOC", 29},
	{"MX", 15},	    {"NAPTR", 35}, {"NS", 2},	  {"NSEC", 47},	 {"NSEC3", 50},
	{"NSEC3PARAM", 51}, {"PTR", 12},   {"RP", 17},	  {"RRSIG", 46}, {"SOA", 6},
	{"SPF", 99},	    {"SRV", 33},   {"SSHFP", 44}, {"SVCB", 64},	 {"TLSA", 52},
	{"TXT", 16},	    {"URI", 256},
};

/* "TYPE28" of RFC 3597. */
static bool read_number(const char *text, size_t n, uint16_t *ret)
{
	unsigned number = 0;

	if (n < 5 || n > 9 || strncasecmp(text, "TYPE", 4) != 0)
		return false;
	for (size_t i = 4; i < n; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		number = number * 10 + (unsigned)(text[i] - '0');
	}
	*ret = (uint16_t)number;
	return number <= UINT16_MAX;
}

/* No type, OPT, and transfers of whole zones (IXFR and AXFR), of which several messages come. */
static bool is_no_question(uint16_t type)
{
	return type == 0 || type == 41 || type == 251 || type == 252;
}

int nm_type_read(const char *text, size_t n, uint16_t *ret_type, char *why, size_t why_size)
{
	const size_t count = sizeof types / sizeof *types;
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		if (strlen(types[i].name) != n || strncasecmp(text, types[i].name, n) != 0)
			continue;
		*ret_type = types[i].number;
		return 0;
	}
	if (read_number(text, n, ret_type)) {
		if (!is_no_question(*ret_type))
			return 0;
		(void)snprintf(why, why_size, "no query asks for that type");
		return -EINVAL;
	}
	for (size_t i = 0; i < count && used < why_size; i++)
		used += (size_t)snprintf(why + used, why_size - used, "%s%s",
					 i ? ", " : "must be one of: ", types[i].name);
	if (used < why_size)
		(void)snprintf(why + used, why_size - used, ", or TYPE and its number");
	return -EINVAL;
}
