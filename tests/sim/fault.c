/* SPDX-License-Identifier: Apache-2.0 */
/* Faults by their seed. */
#include "fault.h"

#include <errno.h>
#include <string.h>

#include "base/rng.h"
#include "memory.h"
#include "process.h"
#include "world.h"

static const struct {
	const char *call;
	int errors[4];
	uint64_t most; /* the last call that may fail */
} calls[] = {
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
};
#define N_CALLS (sizeof calls / sizeof *calls)

static struct {
	struct sim_fault fault;
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

struct sim_fault sim_fault_of(uint64_t seed)
{
	uint64_t key = nm_rng(seed, 77);
	size_t call = (size_t)nm_rng_below(key, 1, N_CALLS);
	struct sim_fault fault = {.kind = (enum sim_fault_kind)nm_rng_below(key, 0, 5)};

	switch (fault.kind) {
	case SIM_NO_FAULT:
		break;
	case SIM_KILL:
#ifdef SIM_SANITIZED /* what the process had would count as leaked */
		fault.kind = SIM_NO_FAULT;
#endif
		fault.nth = number_to(key, 3000);
		break;
	case SIM_ERROR:
		fault.call = calls[call].call;
		fault.error = calls[call].errors[nm_rng_below(key, 2, 4)];
		fault.nth = number_to(key, calls[call].most);
		break;
	case SIM_NO_MEMORY:
		fault.nth = number_to(key, 8000);
		break;
	case SIM_PARTITION:
		fault.nth = number_to(key, 2000);
		fault.length_ns = 1000000 << nm_rng_below(key, 3, 16);
		break;
	}
	return fault;
}

void sim_fault_arm(const struct sim_fault *fault)
{
	memset(&state, 0, sizeof state);
	state.fault = *fault;
}

bool sim_fault_disarm(void)
{
	state.fault.kind = SIM_NO_FAULT;
	return state.struck;
}

/* Whether this is the one that fails. */
static bool strikes(void)
{
	if (sim_process()->pid == 1 || ++state.seen != state.fault.nth)
		return false;
	state.struck = true;
	return true;
}

int sim_fault_of_call(const char *what)
{
	switch (state.fault.kind) {
	case SIM_KILL:
		if (strikes())
			sim_process_die();
		return 0;
	case SIM_ERROR:
		if (strcmp(what, state.fault.call) != 0 || !strikes())
			return 0;
		sim_trace("fault", state.fault.error, 0);
		return -state.fault.error;
	case SIM_PARTITION:
		if (strikes())
			state.heals_ns = sim_now() + state.fault.length_ns;
		return 0;
	case SIM_NO_FAULT:
	case SIM_NO_MEMORY:
		break;
	}
	return 0;
}

bool sim_fault_of_memory(void)
{
	return state.fault.kind == SIM_NO_MEMORY && strikes();
}

uint64_t sim_fault_heals_ns(void)
{
	return state.heals_ns;
}
