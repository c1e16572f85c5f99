/* SPDX-License-Identifier: Apache-2.0 */
/* The agreement about phases, as the master keeps it: which hosts have begun, which are done, and
 * which commands are due.
 *
 * In each phase and group one host leads: it begins the passes, and ends the phase - by count, or
 * when it is told to stop. The others follow: they are told how many passes each worker of the
 * leader has done, and end after as many. A host that only sends ("free") is not told; the master
 * drains the bytes that it has sent beyond the passes.
 *
 * This is a pure machine: it has no clock and does no I/O. Time, messages and the progress of the
 * master's own engine come in; commands go out. Between two phases its owner sets the traits of
 * each group and part, then begins the phase. */
#ifndef NM_CONTROL_MASTER_PHASES_H
#define NM_CONTROL_MASTER_PHASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "result/window.h"
#include "stats/counters.h"

/* The host of the master, wherever hosts are numbered. */
#define NM_PHASES_HERE UINT32_MAX

/* The part of a slave in a group. */
struct nm_phase_part {
	/* Traits in the present phase. */
	bool runs;
	bool empty;	     /* no part of it crosses the network: the slave does not run it */
	bool free;	     /* the host sends without being led */
	uint64_t pass_bytes; /* bytes that it sends in a pass, if it is free */
	/* State: set when it is done. */
	bool done;
	struct nm_counts counts;
	struct nm_span span; /* its time in the phase, by the master's clock; set by the owner */
	uint64_t *totals;    /* passes of each worker */
};

struct nm_phase_host {
	bool began;
	struct nm_phase_part *parts; /* n_groups */
};

/* A group on the master. */
struct nm_phase_run {
	/* Traits in the present phase. */
	bool runs;
	bool by_agreement; /* the group ends not only by count: it is timed, or passes may fail */
	bool drains;	   /* some of its hosts are free */
	uint32_t leader;   /* the host that leads, or NM_PHASES_HERE */
	uint64_t duration_ns; /* 0: the group ends by itself */
	uint64_t backlog_ns;  /* passes that wait may begin for so long after that */
	uint32_t n_workers;   /* in all phases */
	/* When its time began, which is not before its first flow here has entered the phase; 0: it
	 * has not. Set before each step. */
	uint64_t from_ns;
	/* The progress of the master's engine; set before each step. */
	bool here_passed; /* its last pass */
	bool here_done;
	uint64_t *passes; /* of each worker; read once it has passed, or is done */
	/* State. */
	bool stopped;	  /* its leader has been told to end */
	bool interrupted; /* and told that the run is, which cuts short what waits */
	bool followed;	  /* the master has been told its leader's totals */
	bool released;	  /* the master has passed, and the free hosts have been told to end */
	bool drained;	  /* the master has been told how much they have sent */
	bool done;
};

/* A timed phase in which something moves may last this many times stall_ns beyond its time, or
 * since data has last flowed in it: bytes that the kernel holds for a slow receiver may arrive long
 * after the end; but a slave may also report progress without end. */
#define NM_PHASES_MOST_STALLS 5u
/* Data flows when at least so much moves in a second, which is less than any link carries... */
#define NM_PHASES_LEAST_FLOW 100u
/* ...and it is waited for so many times stall_ns at most. */
#define NM_PHASES_MOST_FLOW 360u

/* A phase without progress is waited for until so many times stall_ns are over, while a kernel is
 * going to send again what was lost. */
#define NM_PHASES_MOST_QUIET 5u

struct nm_phases {
	struct nm_phase_run *groups;
	uint32_t n_groups;
	struct nm_phase_host *hosts;
	uint32_t n_hosts;
	uint64_t *memory;  /* room for all totals; owned */
	uint64_t *owed;	   /* room for the bytes of the widest group */
	uint64_t stall_ns; /* a phase without progress for so long fails */
	/* after so long without progress in the present phase its connections are asked for; 0:
	 * never */
	uint64_t quiet_ns;
	/* A timed phase that lasts too long beyond its time fails, too: see above. */
	bool bounded;
	uint64_t patience_ns; /* how long a phase may last after an interrupt */
	/* State. */
	uint32_t phase;
	uint64_t begin_ns;
	uint64_t own_progress, progress, own_at_ns, progress_at_ns;
	uint64_t flow_own, flow_told; /* as they were when data has last flowed: */
	uint64_t flow_at_ns;
	uint64_t late_by_ns;   /* with NM_PHASE_LATE: how long its time is over */
	uint64_t duration_ns;  /* of its longest timed group */
	uint32_t waits;	       /* times that it was waited for a kernel since the last progress */
	bool was_late;	       /* NM_PHASE_LATE has been told */
	bool was_quiet;	       /* NM_PHASE_QUIET has been told, and nothing has moved since */
	uint64_t interrupt_ns; /* UINT64_MAX: the phase was not interrupted */
};

enum nm_phase_command_kind {
	/* the host ends the phase of the group, which it leads or in which it is free */
	NM_PHASE_STOP,
	NM_PHASE_FOLLOW, /* the host ends after totals[n_workers] passes */
	NM_PHASE_DRAIN,	 /* the master takes the rest: totals[n_workers] bytes */
};

struct nm_phase_command {
	enum nm_phase_command_kind kind;
	uint32_t host; /* the slave to get the command, or NM_PHASES_HERE */
	uint32_t group;
	bool interrupted;	/* of STOP: the run is */
	const uint64_t *totals; /* valid during the call */
};

enum nm_phase_verdict {
	NM_PHASE_GOES_ON,
	NM_PHASE_QUIET,	  /* nothing has moved for quiet_ns; told once */
	NM_PHASE_STALLED, /* nothing has moved for stall_ns; told once */
	NM_PHASE_LATE,	  /* its time and stall_ns are over; told once */
	NM_PHASE_OVERDUE, /* the phase was interrupted, and has not ended in time */
};

/* n_workers[n_groups]: the workers of each group, equally many on all hosts. 0 or -ENOMEM;
 * nm_phases_fini may be called either way. */
int nm_phases_init(struct nm_phases *phases, const uint32_t *n_workers, uint32_t n_groups,
		   uint32_t n_hosts);
void nm_phases_fini(struct nm_phases *phases);
/* A phase begins, with the traits that groups and parts have now. */
void nm_phases_begin(struct nm_phases *phases, uint32_t phase, uint64_t now_ns);

/* A slave has begun the phase. 0, or -EPROTO when that is impossible. */
int nm_phases_began(struct nm_phases *phases, uint32_t host, uint32_t phase);
/* A slave is done with its part, and has told its totals[n_workers] and counts, which are copied.
 * 0, or -EPROTO when that is impossible. */
int nm_phases_done(struct nm_phases *phases, uint32_t host, uint32_t phase, uint32_t group,
		   const uint64_t *totals, const struct nm_counts *counts);
/* Takes numbers that change while anything moves: the master's own, and the one that its slaves
 * tell, which may not be true: where a group that ends by count is waited for, or the time of all
 * is over, that keeps a phase from being stalled only while data flows; by count, no more than has
 * moved here. */
void nm_phases_progress(struct nm_phases *phases, uint64_t own, uint64_t told, uint64_t now_ns);
/* The run is to end: all groups are stopped from now on, or stopped again whose passes may wait. */
void nm_phases_interrupt(struct nm_phases *phases, uint64_t now_ns);

/* Gives the commands that are due to `command`, which may not call the machine. Returns the number
 * of commands: after any, the engine may have gone on. */
unsigned nm_phases_step(struct nm_phases *phases, uint64_t now_ns,
			void (*command)(void *arg, const struct nm_phase_command *command),
			void *arg);
/* Whether the phase takes too long, and then the first group that is waited for. */
enum nm_phase_verdict nm_phases_check(struct nm_phases *phases, uint64_t now_ns,
				      uint32_t *ret_group);
/* After NM_PHASE_STALLED: whether it is told once more, after another stall_ns, as a kernel is to
 * send again in so long what was lost (0: none is). Never after an interrupt. */
bool nm_phases_wait(struct nm_phases *phases, uint64_t again_ns);
/* How long nothing has moved when NM_PHASE_STALLED is told. */
uint64_t nm_phases_still_ns(const struct nm_phases *phases);
/* Whether a host, or NM_PHASES_HERE, is not yet done with a group. */
bool nm_phases_waits_for(const struct nm_phases *phases, uint32_t host, uint32_t group);
/* Whether any host is not yet done with the phase; the first group for which that is so. */
bool nm_phases_waits(const struct nm_phases *phases, uint32_t *ret_group);
/* When the next step is due without news from anywhere. */
uint64_t nm_phases_next_ns(const struct nm_phases *phases, uint64_t now_ns);

#endif
