/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts of each vector of the interfaces; two readings are subtracted to get a window. */
#ifndef NM_HOST_VECTORS_H
#define NM_HOST_VECTORS_H

#include <stddef.h>
#include <stdint.h>

#include "base/field.h"

#define NM_VECTORS_MAX 1024

struct nm_usage;

struct nm_vector {
	char nic[32];
	uint32_t irq;	     /* its number, by which /proc/interrupts has it */
	char name[48];	     /* that its driver has given it; "": not known */
	uint64_t interrupts; /* on all CPUs */
};

struct nm_vectors {
	size_t count; /* 0 too where there are more than NM_VECTORS_MAX */
	struct nm_vector items[NM_VECTORS_MAX];
};

extern const struct nm_field nm_vector_fields[];

/* Reads the vectors of each interface, a file or two for each of these, and adds their sum to the
 * interface: of all interfaces that are up; after another reading, of those that have moved packets
 * since. */
void nm_vectors_read(struct nm_usage *usage, const struct nm_usage *before,
		     struct nm_vectors *ret_vectors);
/* after - before, of the interfaces of which `delta`, that of the usage, knows the sum. */
void nm_vectors_delta(const struct nm_vectors *before, const struct nm_vectors *after,
		      const struct nm_usage *delta, struct nm_vectors *ret_delta);

#endif
