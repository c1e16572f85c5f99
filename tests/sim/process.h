/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of the simulated kernel: the owners of tasks. Each has its descriptors and lives on one
 * host. Its memory is that of its parent: a child must change nothing that the parent reads. */
#ifndef NM_TESTS_SIM_PROCESS_H
#define NM_TESTS_SIM_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SIM_MOST 4096 /* descriptors of a process, and objects */

struct block;

struct sim_process {
	pid_t pid;
	struct sim_process *parent; /* NULL: none, or gone */
	unsigned host;
	unsigned places[SIM_MOST];   /* of the objects of its descriptors; 0: it is free */
	void (*on_term)(int number); /* NULL: SIGTERM kills */
	bool term_is_due;
	char own[64];	       /* the variables of NM_OF_PROCESS, while others run */
	int parent_end_signal; /* PR_SET_PDEATHSIG; 0: none */
	struct block *blocks;  /* its memory */
	bool ended, reaped;
	int status; /* as waitpid has it */
	struct sim_process *next;
};

/* The present task becomes the first process. */
void sim_processes_begin(void);
/* All are gone. False: another than the first one had not ended. */
bool sim_processes_end(void);

/* Whether all but the first one have ended. */
bool sim_is_alone(void);

/* Whether one is there that another than the first has started. */
bool sim_has_sessions(void);

/* That of the present task. */
struct sim_process *sim_process(void);
/* What the clock of its host says at a time of the world. */
uint64_t sim_clock_at(uint64_t ns);
/* The world's time when so much will have passed by that clock, from now on; negative: never. */
uint64_t sim_until(int64_t timeout_ns);
/* How many descriptors the process has; pid 0: the present one. */
unsigned sim_n_descriptors(pid_t pid);
/* Starts run(arg) as a child of the present process, on another host. It has its turn at once. */
pid_t sim_start(unsigned host, void (*run)(const void *arg), const void *arg);
pid_t sim_getppid(void);
pid_t sim_waitpid(pid_t pid, int *ret_status, int options);
int sim_kill(pid_t pid, int number);
_Noreturn void sim_process_exit(int code);
_Noreturn void sim_process_die(void);
/* Handles the signal that is due. False: none is. */
bool sim_signal_handle(void);

#endif
