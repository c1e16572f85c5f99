/* SPDX-License-Identifier: Apache-2.0 */
/* Simulated worlds from the command line; `sim` alone tells how. Exit code 1: an invariant does not
 * hold; 2: wrong use. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conform.h"
#include "run.h"
#include "shrink.h"
#include "world.h"

/* The worlds of a command: from one seed to another, or one of a line. */
struct worlds {
	uint64_t first, last;
	bool is_line;
	struct sim_choices choices;
};

static char present[SIM_LINE_BYTES]; /* the world that runs */

/* What aborts, or crashes, has a line, too. */
static void tell_line(int number)
{
	fprintf(stderr, "sim: %s: %s\n", present, strsignal(number));
}

static bool run_one(const struct sim_choices *choices)
{
	struct sim_outcome outcome;

	sim_choices_print(choices, present);
	sim_run(choices, &outcome);
	if (!*outcome.why)
		return true;
	printf("%s: %s\n", present, outcome.why);
	(void)fflush(stdout);
	return false;
}

static struct sim_choices choices_of(const struct worlds *worlds)
{
	return worlds->is_line ? worlds->choices : sim_choices_of_seed(worlds->first);
}

static int run(const struct worlds *worlds)
{
	uint64_t failed = 0;
	clock_t begin = clock();

	if (worlds->is_line)
		return run_one(&worlds->choices) ? 0 : 1;
	for (uint64_t seed = worlds->first; seed <= worlds->last; seed++) {
		const struct sim_choices choices = sim_choices_of_seed(seed);

		failed += !run_one(&choices);
	}
	printf("%" PRIu64 " seeds, %" PRIu64 " failed, %.1f s of CPU time\n",
	       worlds->last - worlds->first + 1, failed,
	       (double)(clock() - begin) / CLOCKS_PER_SEC);
	return failed ? 1 : 0;
}

static int trace(const struct worlds *worlds)
{
	sim_show_trace = true;
	return run(worlds);
}

static int shrink(const struct worlds *worlds)
{
	struct sim_choices choices = choices_of(worlds);
	char why[SIM_WHY_BYTES], line[SIM_LINE_BYTES];
	unsigned tries = sim_shrink(&sim_worlds, &choices, why);

	if (!tries) {
		printf("no invariant is broken\n");
		return 0;
	}
	sim_choices_print(&choices, line);
	printf("%s # %s; %u worlds were tried\n", line, why, tries);
	return 1;
}

/* One that differs is printed with as few steps as still differ. */
static bool conform_one(struct sim_choices choices)
{
	struct sim_outcome outcome;
	char why[SIM_WHY_BYTES];

	sim_choices_print(&choices, present);
	sim_conform(&choices, &outcome);
	if (!*outcome.why)
		return true;
	if (!sim_shrink(&sim_scripts, &choices, why)) /* it has not differed again */
		memcpy(why, outcome.why, sizeof why);
	sim_choices_print(&choices, present);
	printf("%s: %s\n", present, why);
	sim_conform_print(&choices);
	(void)fflush(stdout);
	return false;
}

static int conform(const struct worlds *worlds)
{
	struct sim_choices choices = sim_choices_plain();
	uint64_t differ = 0;

	if (worlds->is_line)
		return conform_one(worlds->choices) ? 0 : 1;
	for (choices.seed = worlds->first; choices.seed <= worlds->last; choices.seed++)
		differ += !conform_one(choices);
	printf("%" PRIu64 " scripts, %" PRIu64 " differ\n", worlds->last - worlds->first + 1,
	       differ);
	return differ ? 1 : 0;
}

static const struct {
	const char *name, *takes;
	bool takes_range;
	int (*run)(const struct worlds *worlds);
	const char *help;
} commands[] = {
	{.name = "run",
	 .takes = "SEED | SEED..SEED | LINE",
	 .takes_range = true,
	 .run = run,
	 .help = "runs worlds, and prints the line of each that breaks an invariant"},
	{.name = "trace",
	 .takes = "SEED | LINE",
	 .run = trace,
	 .help = "runs one, and prints what happens in it"},
	{.name = "shrink",
	 .takes = "SEED | LINE",
	 .run = shrink,
	 .help = "makes one that fails as small as can be, and prints its line"},
	{.name = "conform",
	 .takes = "SEED | SEED..SEED | LINE",
	 .takes_range = true,
	 .run = conform,
	 .help = "runs scripts of calls on the simulated kernel and on the machine's"},
};
#define N_COMMANDS (sizeof commands / sizeof *commands)

static int help(void)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(stderr, "sim %-7s%-26s%s\n", commands[i].name, commands[i].takes,
			commands[i].help);
	fprintf(stderr, "A LINE is NAME=NUMBER..., of:\n");
	for (const struct sim_choice *choice = sim_choice_list(); choice->name; choice++)
		fprintf(stderr, "  %-12s %-10" PRIu64 "%s\n", choice->name, choice->plain,
			choice->help);
	return 2;
}

static bool read_seed(const char *word, char **ret_end, uint64_t *ret)
{
	errno = 0;
	*ret = strtoull(word, ret_end, 10);
	return *word >= '0' && *word <= '9' && !errno;
}

static bool read_seeds(const char *word, bool takes_range, struct worlds *ret)
{
	char *end;

	if (!read_seed(word, &end, &ret->first))
		return false;
	ret->last = ret->first;
	if (!*end)
		return true;
	return takes_range && strncmp(end, "..", 2) == 0 && read_seed(end + 2, &end, &ret->last) &&
	       !*end && ret->last >= ret->first && ret->last < UINT64_MAX;
}

static bool read_line(char **words, struct worlds *ret)
{
	char line[SIM_LINE_BYTES] = "", why[SIM_WHY_BYTES];
	size_t used = 0;

	for (; *words && used < sizeof line; words++)
		used += (size_t)snprintf(line + used, sizeof line - used, "%s ", *words);
	ret->is_line = true;
	if (sim_choices_read(line, &ret->choices, why, sizeof why))
		return true;
	fprintf(stderr, "sim: %s\n", why);
	return false;
}

int main(int argc, char **argv)
{
	const struct sigaction tells = {.sa_handler = tell_line, .sa_flags = (int)SA_RESETHAND};
	struct worlds worlds = {.first = 0};
	size_t i = 0;

	while (argc > 2 && i < N_COMMANDS && strcmp(commands[i].name, argv[1]) != 0)
		i++;
	if (argc < 3 || i == N_COMMANDS)
		return help();
	if ((argc > 3 || !read_seeds(argv[2], commands[i].takes_range, &worlds)) &&
	    !read_line(argv + 2, &worlds))
		return 2;
	(void)sigaction(SIGABRT, &tells, NULL);
	(void)sigaction(SIGSEGV, &tells, NULL);
	return commands[i].run(&worlds);
}
