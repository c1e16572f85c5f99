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

/* X(id, name, help): where several come to one request, the first of them happens. */
#define NM_FAULTS(X)                                                                               \
	X(STALL, "stall", "no answer, or one that is late by DURATION")                            \
	X(CLOSE, "close", "the end of the connection instead of the answer")                       \
	X(RESET, "reset", "its reset instead of the answer")                                       \
	X(SHORT, "short", "half of the answer, and the end of the connection")                     \
	X(HANGUP, "hangup", "the end of the connection behind the answer")                         \
	X(LONG, "long", "a byte more than the answer says")                                        \
	X(GARBAGE, "garbage", "what is no answer")                                                 \
	X(ERROR, "error", "the answer that the server has failed")
#define NM_FAULT_ID(id, name, help) NM_FAULT_##id,
enum nm_fault { NM_FAULT_NONE, NM_FAULTS(NM_FAULT_ID) NM_FAULT__COUNT };
#undef NM_FAULT_ID

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
