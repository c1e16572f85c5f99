/* SPDX-License-Identifier: Apache-2.0 */
/* The time that a flow takes over an idle path, to which its slowdown compares its own. */
#ifndef NM_FLOWOP_IDEAL_H
#define NM_FLOWOP_IDEAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/units.h"

enum nm_ideal_kind {
	NM_IDEAL_NONE,	   /* flows are not measured */
	NM_IDEAL_FORMULA,  /* by the members below */
	NM_IDEAL_MEASURED, /* by solitary flows of a transaction before (stats/idle_path.h) */
	NM_IDEAL_PROBE,	   /* the flows are these */
};

/* The attribute `slowdown` of a transaction. */
struct nm_ideal {
	enum nm_ideal_kind kind;
	double link_bps;
	uint64_t base_ns; /* what a flow of no bytes takes */
};

/* Reads "link=10Gb/s base=30us", "auto" or "probe". 0, or -EINVAL with a phrase in why, and *ret is
 * as before. */
int nm_ideal_parse(const char *text, enum nm_reading reading, struct nm_ideal *ret, char *why,
		   size_t why_size);
/* As it can be written in a profile; returns buf. */
char *nm_ideal_text(const struct nm_ideal *ideal, char *buf, size_t size);

/* By formula: the base, and the time in which the link carries the bytes, in packets of TCP over
 * IPv4 on Ethernet. */
double nm_ideal_ns(const struct nm_ideal *ideal, uint64_t bytes);
/* How often an ideal time goes into ns, in units of 10^-9. */
uint64_t nm_ideal_slowdown(double ideal_ns, uint64_t ns);

#endif
