/* SPDX-License-Identifier: Apache-2.0 */
/* sim run SEED [SEED]   runs the seeds from the first to the last, and says which break one of the
 *                       invariants
 * sim trace SEED        runs one, and prints what happens in it
 * A seed is a profile of those in ends.c, a kernel and its link, and all chances. Exit code 1: an
 * invariant does not hold; 2: wrong use. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ends.h"
#include "run.h"
#include "world.h"

static bool number(const char *word, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(word, &end, 10);
	return *word >= '0' && *word <= '9' && !*end && !errno;
}

static uint64_t present;

/* What aborts, or crashes, has a seed, too. */
static void tell_seed(int number)
{
	fprintf(stderr, "sim: seed %" PRIu64 ": %s\n", present, strsignal(number));
}

static bool run_one(uint64_t seed)
{
	struct sim_outcome outcome;

	present = seed;
	if (seed % 2)
		sim_run_ends(sim_profiles[seed / 2 % sim_n_profiles], seed, NULL, &outcome);
	else
		sim_run_case(&sim_cases[seed / 2 % sim_n_cases], seed, seed / 2 % 2, &outcome);
	if (!*outcome.why)
		return true;
	printf("seed %" PRIu64 ": %s\n", seed, outcome.why);
	return false;
}

int main(int argc, char **argv)
{
	const struct sigaction tells = {.sa_handler = tell_seed, .sa_flags = (int)SA_RESETHAND};
	uint64_t first, last, failed = 0;

	if ((argc != 3 && argc != 4) || !number(argv[2], &first) ||
	    (argc == 4 && !number(argv[3], &last)) ||
	    (strcmp(argv[1], "run") != 0 && (strcmp(argv[1], "trace") != 0 || argc == 4))) {
		fprintf(stderr, "usage: sim run SEED [SEED] | sim trace SEED\n");
		return 2;
	}
	last = argc == 4 ? last : first;
	sim_show_trace = *argv[1] == 't';
	(void)sigaction(SIGABRT, &tells, NULL);
	(void)sigaction(SIGSEGV, &tells, NULL);
	clock_t begin = clock();

	for (uint64_t seed = first; seed <= last; seed++)
		failed += !run_one(seed);
	printf("%" PRIu64 " seeds, %" PRIu64 " failed, %.1f s\n", last - first + 1, failed,
	       (double)(clock() - begin) / CLOCKS_PER_SEC);
	return failed ? 1 : 0;
}
