/* SPDX-License-Identifier: Apache-2.0 */
/* One fault of a world, which strikes once, and never the first process. */
#ifndef NM_TESTS_SIM_FAULT_H
#define NM_TESTS_SIM_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "choices.h"

enum sim_fault_kind {
	SIM_NO_FAULT,
	SIM_KILL,      /* the process that makes the nth call dies of it */
	SIM_ERROR,     /* the nth of those calls fails */
	SIM_NO_MEMORY, /* the nth allocation finds nothing */
	SIM_PARTITION, /* from the nth call on nothing comes from one host to another for a while */
};

#define SIM_FAULT_CALLS 17 /* that may fail */

/* The number of that call, which may fail. */
uint64_t sim_fault_call(const char *name);
/* The fault that follows from the seed of the choices. */
void sim_fault_choose(struct sim_choices *choices);
/* Begins to count. */
void sim_fault_arm(const struct sim_choices *choices);
/* Nothing fails any more. False: nothing has failed. */
bool sim_fault_disarm(void);
/* By each call: 0, or -errno. */
int sim_fault_of_call(const char *what);
/* By each allocation: whether there is no memory. */
bool sim_fault_of_memory(void);
/* When the network between hosts is whole again; the past: it is. */
uint64_t sim_fault_heals_ns(void);

#endif
