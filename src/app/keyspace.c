/* SPDX-License-Identifier: Apache-2.0 */
/* Draws keys, and turns their numbers to text and back. */
#include "app/keyspace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "app/recording.h"
#include "base/rng.h"

static uint32_t digits_of(uint64_t number)
{
	uint32_t digits = 1;

	while (number >= 10) {
		number /= 10;
		digits++;
	}
	return digits;
}

/* "zipf(S)" as the law of ranks 1 to count. */
static int read_zipf(struct nm_keyspace *keyspace, const char *law)
{
	char text[96], unused[160];
	size_t length = strlen(law);

	if (strncasecmp(law, "zipf(", 5) != 0 || law[length - 1] != ')' || strchr(law, ',') ||
	    length > 40)
		return -EINVAL;
	snprintf(text, sizeof text, "%.*s,%llu)", (int)length - 1, law,
		 (unsigned long long)keyspace->count);
	return nm_law_parse(text, NM_LAW_OF_BYTES, NM_READING_NETMODEL, 1, &keyspace->ranks, unused,
			    sizeof unused);
}

static int read_law(struct nm_keyspace *keyspace, const char *law, char *why, size_t why_size)
{
	int r = 0;

	if (strcasecmp(law, "uniform") == 0)
		keyspace->law = NM_KEYS_UNIFORM;
	else if (strcasecmp(law, "sequential") == 0)
		keyspace->law = NM_KEYS_SEQUENTIAL;
	else
		r = read_zipf(keyspace, law);
	if (r == -EINVAL)
		snprintf(why, why_size,
			 "law=\"%s\": must be uniform, zipf(S), where S is the exponent, from 0 to "
			 "10, or sequential",
			 law);
	return r;
}

/* Counted bits of the largest number, rounded up to an even number: half of them. */
static uint32_t half_bits(uint64_t count)
{
	uint32_t bits = 2;

	while (bits < 64 && (count - 1) >> bits)
		bits += 2;
	return bits / 2;
}

int nm_keyspace_init(struct nm_keyspace *keyspace, const char *law, const char *prefix,
		     uint64_t count, uint64_t length, char *why, size_t why_size)
{
	uint32_t digits = digits_of(count - 1);
	size_t prefix_length = strlen(prefix);

	*keyspace = (struct nm_keyspace){.prefix = prefix,
					 .law = NM_KEYS_ZIPF,
					 .count = count,
					 .prefix_length = (uint32_t)prefix_length,
					 .half_bits = half_bits(count)};
	if (prefix_length + digits > NM_KEY_MAX) {
		snprintf(why, why_size,
			 "prefix has %zu bytes: must have %u at most, as the numbers of %llu keys "
			 "have %u digits, and keys %u bytes at most",
			 prefix_length, NM_KEY_MAX - digits, (unsigned long long)count, digits,
			 NM_KEY_MAX);
		return -E2BIG;
	}
	if (!length)
		length = prefix_length + digits;
	if (length > NM_KEY_MAX || length < prefix_length + digits) {
		snprintf(why, why_size,
			 "length=\"%llu\": must be %zu to %u: the prefix, and the digits of %llu "
			 "keys",
			 (unsigned long long)length, prefix_length + digits, NM_KEY_MAX,
			 (unsigned long long)count);
		return -ERANGE;
	}
	keyspace->length = (uint32_t)length;
	keyspace->least = (uint32_t)prefix_length + digits;
	return read_law(keyspace, law, why, why_size);
}

void nm_keyspace_fini(struct nm_keyspace *keyspace)
{
	nm_law_fini(&keyspace->ranks);
}

/* A Feistel network of four rounds over 2 * half bits, walked until it is within the count: a
 * bijection of the numbers below it. */
uint64_t nm_keyspace_scramble(const struct nm_keyspace *keyspace, uint64_t rank)
{
	const uint32_t half = keyspace->half_bits;
	const uint64_t mask = (UINT64_C(1) << half) - 1;

	do {
		uint64_t left = rank >> half, right = rank & mask;

		for (uint64_t round = 0; round < 4; round++) {
			uint64_t next = left ^ (nm_rng(round, right) & mask);

			left = right;
			right = next;
		}
		rank = left << half | right;
	} while (rank >= keyspace->count);
	return rank;
}

uint64_t nm_keyspace_draw(const struct nm_keyspace *keyspace, uint64_t stream, uint64_t n)
{
	if (keyspace->law == NM_KEYS_UNIFORM)
		return nm_rng_below(stream, n, keyspace->count);
	if (keyspace->law == NM_KEYS_WEIGHTED)
		return nm_weights_draw(keyspace->weights, keyspace->count, stream, n);
	const uint64_t rank = nm_law_draw(&keyspace->ranks, stream, n) - 1;

	return keyspace->law == NM_KEYS_ZIPF ? nm_keyspace_scramble(keyspace, rank) : rank;
}

uint32_t nm_keyspace_drawn_length(const struct nm_keyspace *keyspace, uint64_t number)
{
	uint32_t length;

	if (keyspace->law == NM_KEYS_RECORDED) {
		(void)nm_recording_text(nm_recording_of(keyspace), number, &length);
		return length;
	}
	length = (uint32_t)nm_law_draw(keyspace->lengths, 0, number);
	return length < keyspace->least ? keyspace->least : length;
}

static char *put_recorded(const struct nm_recording *recording, uint64_t number, char *buf)
{
	uint32_t length;
	const char *text = nm_recording_text(recording, number, &length);

	return (char *)memcpy(buf, text, length) + length;
}

char *nm_keyspace_put(const struct nm_keyspace *keyspace, uint64_t number, char *buf)
{
	char *end = buf + keyspace->length, *digits = buf + keyspace->prefix_length;

	/* Without lengths it is not recorded either. */
	if (keyspace->lengths) {
		if (keyspace->law == NM_KEYS_RECORDED)
			return put_recorded(nm_recording_of(keyspace), number, buf);
		end = buf + nm_keyspace_drawn_length(keyspace, number);
	}
	char *at = end;

	memcpy(buf, keyspace->prefix, keyspace->prefix_length);
	for (; number; number /= 10)
		*--at = (char)('0' + number % 10);
	while (at > digits)
		*--at = '0';
	return end;
}

uint64_t nm_keyspace_number(const struct nm_keyspace *keyspace, const char *text, size_t length)
{
	const char *at = text + keyspace->prefix_length, *end = text + length;
	uint64_t number = 0;

	if (length < keyspace->least || length > keyspace->length ||
	    memcmp(text, keyspace->prefix, keyspace->prefix_length) != 0)
		return UINT64_MAX;
	/* So many digits cannot be too large for 64 bits. */
	for (; end - at > (ptrdiff_t)NM_KEY_DIGITS_MAX; at++)
		if (*at != '0')
			return UINT64_MAX;
	for (; at < end; at++) {
		unsigned digit = (unsigned char)*at - (unsigned)'0';

		if (digit > 9)
			return UINT64_MAX;
		number = number * 10 + digit;
	}
	return number < keyspace->count && length == nm_keyspace_length(keyspace, number)
		       ? number
		       : UINT64_MAX;
}

bool nm_keyspace_recorded(const struct nm_keyspace *keyspace, uint64_t number, const char *text,
			  size_t length)
{
	uint32_t own;
	const char *recorded = nm_recording_text(nm_recording_of(keyspace), number, &own);

	return own == length && memcmp(recorded, text, length) == 0;
}
