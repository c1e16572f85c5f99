/* SPDX-License-Identifier: Apache-2.0 */
/* Faults by their seed. */
#include "fault.h"

#include <errno.h>
#include <string.h>

#include "../unit/sanitized.h"
#include "base/rng.h"
#include "memory.h"
#include "process.h"
#include "world.h"

static const struct {
	const char *call;
	int errors[4];
	uint64_t most; /* the last call that may fail */
} calls[SIM_FAULT_CALLS] = {
	{.call = "socket", .errors = {EMFILE, ENFILE, ENOBUFS, ENOMEM}, .most = 20},
	{.call = "bind", .errors = {EADDRINUSE, EACCES, ENOMEM, EADDRINUSE}, .most = 4},
	{.call = "listen", .errors = {EADDRINUSE, EADDRINUSE, EADDRINUSE, EADDRINUSE}, .most = 4},
	{.call = "connect", .errors = {EADDRNOTAVAIL, ENETUNREACH, EAGAIN, ENOBUFS}, .most = 20},
	{.call = "accept", .errors = {EMFILE, ECONNABORTED, ENOBUFS, EINTR}, .most = 20},
	{.call = "fork", .errors = {EAGAIN, ENOMEM, EAGAIN, ENOMEM}, .most = 2},
	{.call = "eventfd", .errors = {EMFILE, ENFILE, ENOMEM, EMFILE}, .most = 8},
	{.call = "epoll_create", .errors = {EMFILE, ENFILE, ENOMEM, EMFILE}, .most = 8},
	{.call = "epoll_add", .errors = {ENOMEM, ENOSPC, ENOMEM, ENOSPC}, .most = 20},
	{.call = "epoll_wait", .errors = {EINTR, EINTR, EINTR, EINTR}, .most = 200},
	{.call = "poll", .errors = {EINTR, EINTR, EINTR, ENOMEM}, .most = 60},
	{.call = "send", .errors = {ENOBUFS, ECONNRESET, EPIPE, ETIMEDOUT}, .most = 200},
	{.call = "recv", .errors = {ENOMEM, ECONNRESET, EHOSTUNREACH, ETIMEDOUT}, .most = 200},
	{.call = "setsockopt", .errors = {ENOMEM, ENOBUFS, EPERM, EINVAL}, .most = 40},
	{.call = "getsockname", .errors = {ENOBUFS, ENOBUFS, ENOBUFS, ENOBUFS}, .most = 10},
	{.call = "read", .errors = {EINTR, EINTR, EINTR, EIO}, .most = 60},
	{.call = "write", .errors = {EINTR, EINTR, EINTR, EIO}, .most = 60},
};

static struct {
	const struct sim_choices *choices; /* NULL: nothing fails */
	uint64_t seen;
	bool struck;
	uint64_t heals_ns;
} state;

/* Small numbers, which are of the setup, as often as great ones. */
static uint64_t number_to(uint64_t key, uint64_t most)
{
	uint64_t limit = 1 + nm_rng_below(key, 10, most);

	return 1 + nm_rng_below(key, 11, limit);
}

uint64_t sim_fault_call(const char *name)
{
	uint64_t i = 0;

	while (strcmp(calls[i].call, name) != 0)
		i++;
	return i;
}

void sim_fault_choose(struct sim_choices *choices)
{
	uint64_t key = nm_rng(choices->seed, 77);
	size_t call = (size_t)nm_rng_below(key, 1, SIM_FAULT_CALLS);

	choices->fault = nm_rng_below(key, 0, 5);
	switch ((enum sim_fault_kind)choices->fault) {
	case SIM_NO_FAULT:
		break;
	case SIM_KILL:
#ifdef NM_SANITIZED /* what the process had would count as leaked */
		choices->fault = SIM_NO_FAULT;
#endif
		choices->nth = number_to(key, 3000);
		break;
	case SIM_ERROR:
		choices->call = call;
		choices->error = (uint64_t)calls[call].errors[nm_rng_below(key, 2, 4)];
		choices->nth = number_to(key, calls[call].most);
		break;
	case SIM_NO_MEMORY:
		choices->nth = number_to(key, 8000);
		break;
	case SIM_PARTITION:
		choices->nth = number_to(key, 2000);
		choices->length_ns = UINT64_C(1000000) << nm_rng_below(key, 3, 16);
		break;
	}
}

void sim_fault_arm(const struct sim_choices *choices)
{
	memset(&state, 0, sizeof state);
	state.choices = choices;
}

bool sim_fault_disarm(void)
{
	state.choices = NULL;
	return state.struck;
}

/* Whether this is the one that fails. */
static bool strikes(void)
{
	uint64_t side = state.choices->side;

	if (sim_process()->pid == 1 || (side && side != sim_process()->host + 1) ||
	    ++state.seen != state.choices->nth)
		return false;
	state.struck = true;
	sim_trace("fault", (int64_t)state.choices->fault, (int64_t)state.seen);
	return true;
}

static bool is(enum sim_fault_kind kind)
{
	return state.choices && state.choices->fault == kind;
}

int sim_fault_of_call(const char *what)
{
	if (is(SIM_KILL) && strikes())
		sim_process_die();
	if (is(SIM_PARTITION) && strikes())
		state.heals_ns = sim_now() + state.choices->length_ns;
	if (is(SIM_ERROR) && strcmp(what, calls[state.choices->call].call) == 0 && strikes())
		return -(int)state.choices->error;
	return 0;
}

bool sim_fault_of_memory(void)
{
	return is(SIM_NO_MEMORY) && strikes();
}

uint64_t sim_fault_heals_ns(void)
{
	return state.heals_ns;
}
