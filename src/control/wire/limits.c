/* SPDX-License-Identifier: Apache-2.0 */
/* The sizes of messages.def, and the questions that a receiver has about them. */
#include "control/wire/limits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control/wire/frame.h"
#include "control/wire/tokens.h"
#include "engine/flowop_stats.h"
#include "host/cpu_loads.h"
#include "host/vectors.h"
#include "stats/hist.h"

/* A payload with an unknown word is told to its sender, so it must be short. */
#define UNKNOWN_BYTES  4096u
#define UNKNOWN_VALUES 64u

#define SIZE(bytes_, values_)                                                                      \
	{                                                                                          \
		.bytes = (bytes_), .values = (values_)                                             \
	}
#define SIZE_EACH(bytes_, values_, scale_, bytes_each_, values_each_)                              \
	{                                                                                          \
		.bytes = (bytes_), .values = (values_), .scale = NM_SCALE_##scale_,                \
		.bytes_each = (bytes_each_), .values_each = (values_each_)                         \
	}

static const struct nm_message_size sizes[] = {
#define NM_MESSAGE(name, word, sender, states, size, body) size,
#include "control/wire/messages.def"
#undef NM_MESSAGE
};

static const char *const scale_words[] = {
#define NM_SCALE(name, word) word,
	NM_SCALES(NM_SCALE)
#undef NM_SCALE
};

const struct nm_message_size *nm_message_size(enum nm_message_type type)
{
	return &sizes[type];
}

const char *nm_scale_word(enum nm_scale scale)
{
	return scale_words[scale];
}

uint64_t nm_message_most_bytes(enum nm_message_type type, const struct nm_message_scale *scale)
{
	const struct nm_message_size *size = &sizes[type];
	uint64_t bytes = size->bytes + size->bytes_each * scale->of[size->scale];

	return bytes < NM_FRAME_MAX ? bytes : NM_FRAME_MAX;
}

uint64_t nm_message_most_values(enum nm_message_type type, const struct nm_message_scale *scale)
{
	return sizes[type].values + sizes[type].values_each * scale->of[sizes[type].scale];
}

/* The most numbers in a report of the group: each histogram has at most a pair for each bucket. */
static uint64_t figures_of(const struct nm_group *group, uint32_t details)
{
	const uint64_t hist = 2 * NM_HIST_BUCKETS + 4, row = 64;
	uint64_t n = row;

	if (!details || !group->runs)
		return n;
	for (uint32_t k = 0; k < group->n_phases; k++)
		n += (row + hist) * (2 + group->phases[k].n_instrs);
	return n + (details & NM_OBSERVE_FLOWS ? 16 * (uint64_t)group->n_flows : 0);
}

struct nm_message_scale nm_message_scale_of(const struct nm_plan *plan, uint32_t details)
{
	struct nm_message_scale scale = {.of = {0}};

	for (uint32_t g = 0; g < plan->n_groups; g++) {
		const struct nm_group *group = &plan->groups[g];

		if (group->n_workers > scale.of[NM_SCALE_WORKER])
			scale.of[NM_SCALE_WORKER] = group->n_workers;
		scale.of[NM_SCALE_LISTENER] += (uint64_t)group->n_openings * group->n_workers;
		scale.of[NM_SCALE_FIGURE] += figures_of(group, details);
		if (details & NM_OBSERVE_PASSES)
			scale.of[NM_SCALE_FLOW] += group->n_flows;
		if (details & NM_OBSERVE_TCP)
			scale.of[NM_SCALE_CONNECTION] += (uint64_t)group->n_flows * group->n_conns;
	}
	return scale;
}

/* Finds the message whose word the first bytes are. 1 with its type, 0 when more must come first,
 * -ENOENT when it is none. */
static int find_word(const char *payload, size_t there, enum nm_message_type *ret_type)
{
	bool cut = false;

	for (unsigned i = 0; i < NM_MESSAGE__COUNT; i++) {
		char begin[32];
		size_t length = (size_t)snprintf(begin, sizeof begin, "[\"%s\"",
						 nm_message_word((enum nm_message_type)i));

		if (memcmp(payload, begin, there < length ? there : length) != 0)
			continue;
		if (there >= length) {
			*ret_type = (enum nm_message_type)i;
			return 1;
		}
		cut = true;
	}
	return cut ? 0 : -ENOENT;
}

/* The length of the longest message that may come now, against which announced lengths are
 * checked. */
static uint64_t most_in_state(enum nm_side from, enum nm_session_state state,
			      const struct nm_message_scale *scale)
{
	uint64_t most = UNKNOWN_BYTES;

	for (unsigned i = 0; i < NM_MESSAGE__COUNT; i++) {
		enum nm_message_type type = (enum nm_message_type)i;
		uint64_t bytes = nm_message_most_bytes(type, scale);

		if (nm_message_may_come(type, from, state) && bytes > most)
			most = bytes;
	}
	return most;
}

/* The first line of what a peer of another kind says, an SSH or a web server for example: then the
 * length of the frame is its first letters. False: the length is none. */
static bool read_line(const char *payload, size_t there, size_t size, char *line, size_t line_size)
{
	size_t n = 0;

	for (; n < NM_FRAME_HEADER; n++)
		line[n] = (char)(size >> (8 * (NM_FRAME_HEADER - 1 - n)));
	for (; n + 1 < line_size && n - NM_FRAME_HEADER < there; n++)
		line[n] = payload[n - NM_FRAME_HEADER];
	line[n] = '\0';
	for (n = 0; line[n] >= ' ' && line[n] <= '~'; n++)
		;
	line[n] = '\0';
	return n >= NM_FRAME_HEADER;
}

int nm_message_check_size(const char *payload, size_t there, size_t size, enum nm_side from,
			  enum nm_session_state state, const struct nm_message_scale *scale,
			  char *why, size_t why_size)
{
	uint64_t most = most_in_state(from, state, scale);
	const char *word = "";
	char line[64];
	enum nm_message_type type;

	if (size <= most) {
		int found = find_word(payload, there, &type);

		if (found == 0 || (found < 0 && size <= UNKNOWN_BYTES))
			return 0;
		most = found > 0 ? nm_message_most_bytes(type, scale) : UNKNOWN_BYTES;
		word = found > 0 ? nm_message_word(type) : "";
	}
	if (size <= most)
		return 0;
	if (read_line(payload, there, size, line, sizeof line))
		(void)snprintf(why, why_size, "\"%s\", and so is another program than netmodel",
			       line);
	else
		(void)snprintf(why, why_size,
			       *word ? "a message \"%s\" of %zu bytes, longer than %llu"
				     : "a message%s of %zu bytes, longer than %llu",
			       word, size, (unsigned long long)most);
	return -EPROTO;
}

bool nm_message_is_flood(uint64_t n_messages, uint64_t span_ns)
{
	return n_messages >
	       2 * NM_MESSAGES_A_SECOND + span_ns / (UINT64_C(1000000000) / NM_MESSAGES_A_SECOND);
}

int nm_message_check_values(const char *payload, size_t size, const struct nm_message_scale *scale,
			    char *why, size_t why_size)
{
	enum nm_message_type type;
	bool known = find_word(payload, size, &type) > 0;
	uint64_t most = known ? nm_message_most_values(type, scale) : UNKNOWN_VALUES;

	if (nm_tokens_count(payload, size, most) <= most)
		return 0;
	(void)snprintf(why, why_size, "a message%s%s%s of more than %llu values",
		       known ? " \"" : "", known ? nm_message_word(type) : "", known ? "\"" : "",
		       (unsigned long long)most);
	return -EPROTO;
}
