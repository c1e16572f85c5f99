/* SPDX-License-Identifier: Apache-2.0 */
/* How many of the requests that were recorded a transaction has made. */
#ifndef NM_RESULT_REPLAYED_H
#define NM_RESULT_REPLAYED_H

#include <stdbool.h>
#include <stdint.h>

struct nm_result_phase;

struct nm_replayed {
	uint64_t lines;	   /* requests of the file */
	uint64_t left_out; /* those whose verb no flowop of the mix is */
	uint64_t made;	   /* more than there are, where the file is replayed again */
	uint64_t unmade; /* of one round of those that could be made, or of as many as asked for */
};

/* False: the transaction replays nothing. */
bool nm_phase_replayed(const struct nm_result_phase *phase, struct nm_replayed *ret);

#endif
