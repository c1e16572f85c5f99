/* SPDX-License-Identifier: Apache-2.0 */
/* Choices from a seed and from a line, and as a line. */
#include "choices.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "fault.h"
#include "profile.h"

const struct sim_choice *sim_choice_list(void)
{
	static struct sim_choice list[] = {
#define SIM_CHOICE(name_, plain_, least_, most_, help_)                                            \
	{.name = #name_,                                                                           \
	 .offset = offsetof(struct sim_choices, name_),                                            \
	 .plain = (plain_),                                                                        \
	 .least = (least_),                                                                        \
	 .help = help_},
#include "choices.def"
#undef SIM_CHOICE
		{.name = NULL},
	};
	size_t i = 0;

#define SIM_CHOICE(name_, plain_, least_, most_, help_) list[i++].most = (most_);
#include "choices.def"
#undef SIM_CHOICE
	return list;
}

uint64_t *sim_choice_in(struct sim_choices *choices, const struct sim_choice *choice)
{
	return (uint64_t *)(void *)((char *)choices + choice->offset);
}

struct sim_choices sim_choices_plain(void)
{
	struct sim_choices choices;

	for (const struct sim_choice *choice = sim_choice_list(); choice->name; choice++)
		*sim_choice_in(&choices, choice) = choice->plain;
	return choices;
}

struct sim_choices sim_choices_of(uint64_t seed, size_t profile, bool fails)
{
	struct sim_choices choices = sim_choices_plain();
	uint64_t key = nm_rng(seed, 1);

	choices.seed = seed;
	choices.profile = profile;
	choices.delay_ns = 1000 + nm_rng_below(key, 0, 200000);
	choices.jitter_ns = nm_rng_below(key, 1, 3) * nm_rng_below(key, 2, 50000);
	choices.send_buffer = 2000 + nm_rng_below(key, 3, 200000);
	choices.call_ns = 300 + nm_rng_below(key, 4, 5000);
	choices.partial_in = nm_rng_below(key, 5, 4) * 3;
	choices.spurious_in = nm_rng_below(key, 6, 3) * 5;
	if (sim_profiles[profile].n_slaves) {
		choices.ahead_ns = nm_rng_below(key, 8, 3) * nm_rng(key, 9) / 1000;
		choices.drift_ppm = nm_rng_below(key, 10, 3) * 200;
	}
	if (sim_profiles[profile].datagrams)
		choices.lose_in = nm_rng_below(seed, 2, 3) * 40;
	else if (sim_profiles[profile].n_slaves)
		choices.lose_resets_in = nm_rng_below(key, 7, 3) * 20;
	if (fails)
		sim_fault_choose(&choices);
	return choices;
}

/* The engines of both ends, or a whole run, half of which have a fault. */
struct sim_choices sim_choices_of_seed(uint64_t seed)
{
	const uint64_t half = seed / 2, n_whole = sim_n_profiles - sim_n_ends;

	if (seed % 2)
		return sim_choices_of(seed, half % sim_n_ends, false);
	return sim_choices_of(seed, sim_n_ends + half % n_whole, half / n_whole % 2);
}

void sim_choices_print(const struct sim_choices *choices, char line[SIM_LINE_BYTES])
{
	struct sim_choices copy = *choices;
	size_t used = (size_t)snprintf(line, SIM_LINE_BYTES, "seed=%" PRIu64, choices->seed);

	for (const struct sim_choice *choice = sim_choice_list() + 1; choice->name; choice++)
		if (*sim_choice_in(&copy, choice) != choice->plain)
			used += (size_t)snprintf(line + used, SIM_LINE_BYTES - used, " %s=%" PRIu64,
						 choice->name, *sim_choice_in(&copy, choice));
}

static bool read_one(const char *word, size_t length, struct sim_choices *ret, char *why,
		     size_t room)
{
	const char *equals = memchr(word, '=', length);
	const struct sim_choice *choice = sim_choice_list();
	size_t name = equals ? (size_t)(equals - word) : length;
	char *end;

	while (choice->name &&
	       (strlen(choice->name) != name || strncmp(choice->name, word, name) != 0))
		choice++;
	if (!choice->name || !equals) {
		(void)snprintf(why, room, "\"%.*s\" is no NAME=NUMBER of a world", (int)length,
			       word);
		return false;
	}
	errno = 0;
	uint64_t number = strtoull(equals + 1, &end, 10);

	if (equals[1] < '0' || equals[1] > '9' || end != word + length || errno ||
	    number > choice->most) {
		(void)snprintf(why, room, "\"%.*s\": the number is from 0 to %" PRIu64, (int)length,
			       word, choice->most);
		return false;
	}
	*sim_choice_in(ret, choice) = number;
	return true;
}

bool sim_choices_read(const char *line, struct sim_choices *ret, char *why, size_t room)
{
	*ret = sim_choices_plain();
	for (size_t length; *(line += strspn(line, " \n")); line += length) {
		length = strcspn(line, " \n");
		if (!read_one(line, length, ret, why, room))
			return false;
	}
	return true;
}
