/* SPDX-License-Identifier: Apache-2.0 */
/* What netmodel's own server does to requests instead of answering them well, where it is asked
 * to. */
#ifndef NM_APP_FAULT_H
#define NM_APP_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nm_app;
struct nm_app_served;

enum nm_fault {
	NM_FAULT_NONE,
	NM_FAULT_STALL,	  /* no answer, and the connection stays; or a late one */
	NM_FAULT_CLOSE,	  /* the end of the connection instead of the answer */
	NM_FAULT_RESET,	  /* its reset */
	NM_FAULT_SHORT,	  /* its end behind the first half of the answer */
	NM_FAULT_HANGUP,  /* its end behind the answer */
	NM_FAULT_LONG,	  /* an answer with a byte more than it says */
	NM_FAULT_GARBAGE, /* bytes that are no answer */
	NM_FAULT_ERROR,	  /* an answer that says that the server has failed */
	NM_FAULT__COUNT
};

/* Shares are in units of 10^-9. */
#define NM_FAULT_ALL 1000000000u

struct nm_faults {
	uint64_t stall_ns; /* 0: for ever */
	struct nm_fault_when {
		uint64_t share; /* of all requests */
		uint64_t every; /* each so-manieth of a connection; 0: none */
	} when[NM_FAULT__COUNT];
};

/* How they are written, in one phrase. */
#define NM_FAULTS_FORM "NAME(SHARE), NAME(every=N) or stall(..., DURATION), with commas between"

/* Reads "close(0.01),stall(every=100,200ms)". Returns 0, or -EINVAL with one phrase in why. */
int nm_faults_read(const char *text, struct nm_faults *ret, char *why, size_t why_size);

static inline bool nm_faults_has(const struct nm_faults *faults, enum nm_fault fault)
{
	return faults->when[fault].share || faults->when[fault].every;
}

/* What happens to the n-th request of a connection, counted from 0; key: of a stream of random
 * numbers (base/rng.h). */
enum nm_fault nm_fault_draw(const struct nm_faults *faults, uint64_t key, uint64_t n);

/* Makes an answer, of which nothing is sent, what the fault wants it to be. */
void nm_fault_spoil(enum nm_fault fault, const struct nm_app *app, struct nm_app_served *served);

#endif
