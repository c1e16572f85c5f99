/* SPDX-License-Identifier: Apache-2.0 */
/* One fault of a world, which strikes once, and never the first process. */
#ifndef NM_TESTS_SIM_FAULT_H
#define NM_TESTS_SIM_FAULT_H

#include <stdbool.h>
#include <stdint.h>

enum sim_fault_kind {
	SIM_NO_FAULT,
	SIM_KILL,      /* the process that makes the nth call dies of it */
	SIM_ERROR,     /* the nth call of that name fails */
	SIM_NO_MEMORY, /* the nth allocation finds nothing */
	SIM_PARTITION, /* from the nth call on nothing comes from one host to another for a while */
};

struct sim_fault {
	enum sim_fault_kind kind;
	uint64_t nth;
	const char *call; /* SIM_ERROR: as sim_call is told */
	int error;
	uint64_t length_ns; /* SIM_PARTITION */
};

/* The fault that follows from a seed. */
struct sim_fault sim_fault_of(uint64_t seed);
/* Begins to count. */
void sim_fault_arm(const struct sim_fault *fault);
/* Nothing fails any more. False: nothing has failed. */
bool sim_fault_disarm(void);
/* By each call: 0, or -errno. */
int sim_fault_of_call(const char *what);
/* By each allocation: whether there is no memory. */
bool sim_fault_of_memory(void);
/* When the network between hosts is whole again; the past: it is. */
uint64_t sim_fault_heals_ns(void);

#endif
