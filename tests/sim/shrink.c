/* SPDX-License-Identifier: Apache-2.0 */
/* Smaller worlds that fail alike. */
#include "shrink.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profile.h"
#include "run.h"

#define MOST_TRIES 1000
#define LIMIT_S	   60 /* of the machine's time, for one world */

const struct sim_kind sim_worlds = {
	.run = sim_run, .elements = sim_profile_elements, .has_numbers = true};

/* Libraries tell of memory that they do not get. */
static void silence(void)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		(void)dup2(fd, STDERR_FILENO);
}

static _Noreturn void be_world(const struct sim_kind *kind, const struct sim_choices *choices,
			       int fd)
{
	struct sim_outcome outcome;

	(void)alarm(LIMIT_S);
	silence();
	kind->run(choices, &outcome);
	(void)!write(fd, &outcome, sizeof outcome);
	_exit(0);
}

void sim_try(const struct sim_kind *kind, const struct sim_choices *choices,
	     struct sim_outcome *ret)
{
	int fds[2], status = 0;

	if (pipe2(fds, 0) < 0)
		abort();
	pid_t pid = fork();

	if (pid == 0)
		be_world(kind, choices, fds[1]);
	(void)close(fds[1]);
	*ret = (struct sim_outcome){.hash = 0};
	(void)!read(fds[0], ret, sizeof *ret);
	(void)close(fds[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		abort();
	if (WIFSIGNALED(status))
		(void)snprintf(ret->why, sizeof ret->why, "signal %d (%s)", WTERMSIG(status),
			       strsignal(WTERMSIG(status)));
}

/* The same words; numbers may differ, but for those of signals. */
static bool are_alike(const char *a, const char *b)
{
	if (strncmp(a, "signal", 6) == 0)
		return strcmp(a, b) == 0;
	for (; *a && *b; a++, b++) {
		while (isdigit(*a))
			a++;
		while (isdigit(*b))
			b++;
		if (*a != *b)
			return false;
		if (!*a)
			return true;
	}
	return *a == *b;
}

static struct {
	const struct sim_kind *kind;
	struct sim_choices best;
	char first[SIM_WHY_BYTES], *why;
	unsigned tries;
} shrinking;

/* Whether the world fails alike with that number; then it is kept. */
static bool take(const struct sim_choice *choice, uint64_t number)
{
	struct sim_choices choices = shrinking.best;
	struct sim_outcome outcome;
	uint64_t *place = sim_choice_in(&choices, choice);

	if (*place == number || shrinking.tries == MOST_TRIES)
		return false;
	*place = number;
	shrinking.tries++;
	sim_try(shrinking.kind, &choices, &outcome);
	if (!are_alike(outcome.why, shrinking.first))
		return false;
	shrinking.best = choices;
	memcpy(shrinking.why, outcome.why, SIM_WHY_BYTES);
	return true;
}

/* The least number, or one of those between it and the present one. */
static void lower(const struct sim_choice *choice)
{
	const uint64_t *now = sim_choice_in(&shrinking.best, choice);
	uint64_t lowest = choice->least; /* with which it does not fail alike */

	if (take(choice, lowest))
		return;
	while (*now > lowest && *now - lowest > 1 + *now / 16) {
		uint64_t middle = lowest + (*now - lowest) / 2;

		if (!take(choice, middle))
			lowest = middle;
	}
}

/* Takes elements out of the profile, one after the other. */
static void drop_elements(const struct sim_choice *choice)
{
	unsigned n = shrinking.kind->elements(&shrinking.best);

	for (unsigned i = 0; i < n; i++)
		(void)take(choice, shrinking.best.without | UINT64_C(1) << i);
}

static bool make_smaller(void)
{
	const struct sim_choices before = shrinking.best;

	for (const struct sim_choice *choice = sim_choice_list(); choice->name; choice++) {
		if (strcmp(choice->name, "seed") == 0 || strcmp(choice->name, "profile") == 0)
			continue;
		if (strcmp(choice->name, "without") == 0)
			drop_elements(choice);
		else if (shrinking.kind->has_numbers)
			lower(choice);
	}
	return memcmp(&before, &shrinking.best, sizeof before) != 0;
}

unsigned sim_shrink(const struct sim_kind *kind, struct sim_choices *choices,
		    char why[SIM_WHY_BYTES])
{
	struct sim_outcome outcome;

	sim_warm_up();
	shrinking.kind = kind;
	shrinking.best = *choices;
	shrinking.why = why;
	shrinking.tries = 1;
	sim_try(kind, choices, &outcome);
	memcpy(why, outcome.why, SIM_WHY_BYTES);
	memcpy(shrinking.first, outcome.why, SIM_WHY_BYTES);
	if (!*why)
		return 0;
	while (make_smaller())
		;
	*choices = shrinking.best;
	return shrinking.tries;
}
