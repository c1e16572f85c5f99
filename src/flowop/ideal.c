/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and computes the ideal time of a flow. */
#include "flowop/ideal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/opt.h"

/* Of a packet on the wire: preamble 8, Ethernet 18, gap 12, IPv4 20, TCP with time stamps 32; and
 * the data that it has at most. */
#define PACKET_OVERHEAD 90u
#define PACKET_DATA	1448u

#define MOST 0x1p63 /* of a slowdown */

static const struct nm_opt parts[] = {
	{.name = "link",
	 .type = NM_TYPE_BITRATE,
	 .offset = offsetof(struct nm_ideal, link_bps),
	 .min = 1},
	{.name = "base", .type = NM_TYPE_DURATION, .offset = offsetof(struct nm_ideal, base_ns)},
	NM_OPT_END};

#define FORM "must be auto, or link=BITRATE base=DURATION, as link=10Gb/s base=30us"

static const char *const words[] = {[NM_IDEAL_MEASURED] = "auto", [NM_IDEAL_PROBE] = "probe"};

/* One NAME=VALUE, which is changed. */
static int read_part(char *word, enum nm_reading reading, struct nm_ideal *ideal, unsigned *seen,
		     char *why, size_t why_size)
{
	char *value = strchr(word, '='), wrong[256];
	const struct nm_opt *part;

	if (value)
		*value++ = '\0';
	part = value ? nm_opt_find(parts, word) : NULL;
	if (!part || (*seen >> (part - parts) & 1)) {
		(void)snprintf(why, why_size, FORM);
		return -EINVAL;
	}
	*seen |= 1u << (part - parts);
	if (nm_opt_read(part, reading, ideal, value, wrong, sizeof(wrong)) == 0)
		return 0;
	(void)snprintf(why, why_size, "%s=\"%s\": %s", part->name, value, wrong);
	return -EINVAL;
}

int nm_ideal_parse(const char *text, enum nm_reading reading, struct nm_ideal *ret, char *why,
		   size_t why_size)
{
	struct nm_ideal ideal = {.kind = NM_IDEAL_FORMULA};
	unsigned seen = 0;
	char copy[256], *rest = NULL;

	for (unsigned i = NM_IDEAL_MEASURED; i < sizeof(words) / sizeof(*words); i++)
		if (nm_ascii_equals(text, words[i])) {
			*ret = (struct nm_ideal){.kind = i};
			return 0;
		}
	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy)) {
		(void)snprintf(why, why_size, FORM);
		return -EINVAL;
	}
	for (char *word = strtok_r(copy, " \t\n", &rest); word;
	     word = strtok_r(NULL, " \t\n", &rest))
		if (read_part(word, reading, &ideal, &seen, why, why_size) != 0)
			return -EINVAL;
	if (seen != 3) {
		(void)snprintf(why, why_size, FORM);
		return -EINVAL;
	}
	*ret = ideal;
	return 0;
}

char *nm_ideal_text(const struct nm_ideal *ideal, char *buf, size_t size)
{
	if (ideal->kind != NM_IDEAL_FORMULA) {
		(void)snprintf(buf, size, "%s", words[ideal->kind]);
		return buf;
	}
	/* So many digits, that no exponent is written, which could not be read. */
	(void)snprintf(buf, size, "link=%.17gb/s base=%lluns", ideal->link_bps,
		       (unsigned long long)ideal->base_ns);
	return buf;
}

double nm_ideal_ns(const struct nm_ideal *ideal, uint64_t bytes)
{
	uint64_t packets = bytes / PACKET_DATA + !!(bytes % PACKET_DATA);
	double wire = (double)bytes + PACKET_OVERHEAD * (double)packets;

	return (double)ideal->base_ns + wire * 8e9 / ideal->link_bps;
}

uint64_t nm_ideal_slowdown(double ideal_ns, uint64_t ns)
{
	double slowdown = (double)ns * 1e9 / ideal_ns;

	return slowdown < MOST ? (uint64_t)slowdown : INT64_MAX;
}
