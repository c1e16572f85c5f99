/* SPDX-License-Identifier: Apache-2.0 */
/* The choices that make a world: a number for each name of choices.def. A line names those that are
 * not plain, as in "seed=7 profile=3 delay_ns=20000", and is all that is needed to have the same
 * world again. */
#ifndef NM_TESTS_SIM_CHOICES_H
#define NM_TESTS_SIM_CHOICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_choices {
#define SIM_CHOICE(name, plain, least, most, help) uint64_t name;
#include "choices.def"
#undef SIM_CHOICE
};

#define SIM_LINE_BYTES 1024

struct sim_choice {
	const char *name;
	size_t offset;
	uint64_t plain, least, most;
	const char *help;
};

/* In their order; the last one has no name. */
const struct sim_choice *sim_choice_list(void);
/* The number of that choice, to be changed. */
uint64_t *sim_choice_in(struct sim_choices *choices, const struct sim_choice *choice);

/* All plain. */
struct sim_choices sim_choices_plain(void);
/* What follows from a seed. */
struct sim_choices sim_choices_of_seed(uint64_t seed);
/* The same with the profile of that number, and with a fault or without. */
struct sim_choices sim_choices_of(uint64_t seed, size_t profile, bool fails);

void sim_choices_print(const struct sim_choices *choices, char line[SIM_LINE_BYTES]);
/* False: `why` says what is wrong with the line. */
bool sim_choices_read(const char *line, struct sim_choices *ret, char *why, size_t room);

#endif
