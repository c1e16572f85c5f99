/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the load of a transaction with open arrivals was as asked for, and if not, why. */
#ifndef NM_RESULT_LOAD_H
#define NM_RESULT_LOAD_H

#include <stdbool.h>
#include <stdint.h>

struct nm_result;
struct nm_result_group;
struct nm_result_phase;
struct nm_result_step;

/* From the best to the worst. */
enum nm_load_verdict {
	NM_LOAD_OK,
	NM_LOAD_CONNECTIONS, /* all connections were busy, though the other end answers as ever */
	NM_LOAD_GENERATOR,   /* this end came too late to send */
	NM_LOAD_OVERLOAD,    /* the other end does not answer so many */
	NM_LOAD_ERRORS,	     /* too many failed */
	NM_LOAD__COUNT
};

struct nm_load {
	uint64_t due;		  /* passes, in the time of the transaction */
	uint64_t unsent;	  /* those that had not begun some time after that */
	uint64_t dropped_queue;	  /* those that came while too many waited */
	uint64_t dropped_late;	  /* those that had waited too long */
	uint64_t tardy;		  /* those that ended after that time */
	uint64_t failed;	  /* those without an answer, and flowops that failed */
	uint64_t outstanding_max; /* passes that were at once: of each worker the most, added up */
	double outstanding_mean;  /* passes, over the time of the transaction */
	/* How many have been by Little's law: the rate of passes by their mean time, less what lies
	 * behind the time of the transaction. */
	double outstanding_by_law;
	bool keeps_law; /* the two are alike */
	bool grows;	/* so does the backlog to the end, and with it response times */
	double offered_per_s, achieved_per_s; /* due; ended within the time */
	/* due within the time, and ended after it, or never begun; without those that were
	 * dropped */
	double backlog_per_s;
	/* The mean time for which a pass that was due had to wait: for a flow to be free, of which
	 * the kernel did take what it had sent; for the kernel to take that; and for this end to
	 * begin it. */
	double busy_s, kernel_s, generator_s;
	enum nm_load_verdict verdict;
	const char *name; /* of the verdict, static */
	char advice[256]; /* a sentence */
};

/* False: the transaction has no open arrivals, is not measured, or did not come to its end. */
bool nm_phase_judge(const struct nm_result *result, const struct nm_result_group *group,
		    const struct nm_result_phase *phase, struct nm_load *ret_load);
/* The same, of a run that has not failed. */
bool nm_phase_load(const struct nm_result *result, const struct nm_result_group *group,
		   const struct nm_result_phase *phase, struct nm_load *ret_load);
/* The same two of the passes that were due in a step of a transaction: what is late is so at the
 * end of the step. How many were outstanding is not known of it, and it has no advice. False: it
 * was not held in the measured window, either. */
bool nm_step_judge(const struct nm_result_group *group, const struct nm_result_step *step,
		   struct nm_load *ret_load);
bool nm_step_load(const struct nm_result *result, const struct nm_result_group *group,
		  const struct nm_result_step *step, struct nm_load *ret_load);
/* The worst verdict of all measured transactions. False: none has open arrivals. */
bool nm_result_load(const struct nm_result *result, struct nm_load *ret_load);

#endif
