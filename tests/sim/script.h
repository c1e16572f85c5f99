/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts of system calls, each from a seed, and what the calls of one say. They are made through
 * the C library: within a world by the simulated kernel, otherwise by the machine's. */
#ifndef NM_TESTS_SIM_SCRIPT_H
#define NM_TESTS_SIM_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_SLOTS     10 /* descriptors of a script */
#define SIM_STEPS     60 /* one bit each of `without` */
#define SIM_SAY_BYTES 160

/* One call. What it makes of the numbers is its own. */
struct sim_step {
	unsigned call, slot, other;
	uint64_t number;
};

struct sim_script {
	struct sim_step steps[SIM_STEPS];
};

void sim_script_of_seed(uint64_t seed, struct sim_script *ret);
/* As a line to be read. */
void sim_step_print(const struct sim_step *step, char line[SIM_SAY_BYTES]);

typedef char sim_says[SIM_STEPS][SIM_SAY_BYTES];

/* How a kernel is waited for. */
struct sim_patience {
	void (*settle)(void); /* behind each call */
	unsigned full_ms;     /* without room, until there will be none */
};

/* Makes all calls but those of the bits, settling behind each of them, and closes what is
 * open. The slots stand for descriptors, so that both kernels say the same. Returns the first step
 * that says something else than it is expected to, which is the last one; SIM_STEPS: there is none.
 * expected NULL: anything. */
unsigned sim_script_perform(const struct sim_script *script, uint64_t without,
			    const struct sim_patience *patience, const sim_says *expected,
			    sim_says *ret_said);

/* --- of perform.c, for the script's own choice --- */

enum sim_slot_kind {
	SIM_EMPTY = 1,
	SIM_SOCKET = 2,
	SIM_LISTENER = 4,
	SIM_STREAM = 8,
	SIM_DATAGRAM = 16,
	SIM_EVENT = 32,
	SIM_EPOLL = 64,
	SIM_PIPE_OUT = 128,
	SIM_PIPE_IN = 256,
};

struct sim_script_call {
	const char *name;
	unsigned of, with;     /* the kinds of both slots; 0: it has no such slot */
	unsigned makes, gives; /* the kinds that they are then; 0: as before */
	unsigned weight;       /* how often it is chosen */
	bool takes;	       /* all that the other end has sent, if that has no room */
	bool sends;	       /* not while the other end has no room for what it has sent */
	void (*perform)(const struct sim_step *step, char say[SIM_SAY_BYTES]);
};

extern const struct sim_script_call sim_script_calls[];
extern const unsigned sim_n_script_calls;

#endif
