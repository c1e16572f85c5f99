/* SPDX-License-Identifier: Apache-2.0 */
/* The option --warmup: how long, or until which figure has settled. */
#ifndef NM_PLAN_WARMUP_H
#define NM_PLAN_WARMUP_H

#include <stddef.h>
#include <stdint.h>

#include "plan/plateau.h"

struct nm_node;

struct nm_warmup {
	uint64_t ns;		   /* a part of each measured transaction; 0: none */
	struct nm_plateau plateau; /* a transaction of its own before each; figure 0: none */
	uint64_t max_ns;	   /* with a plateau: the longest */
};

/* Reads "5s" or "plateau(latency.p50,5%,max=60s)". 0, or -EINVAL with a phrase in why, and *ret is
 * as before. */
int nm_warmup_parse(const char *text, struct nm_warmup *ret, char *why, size_t why_size);

/* Puts a warm-up that ends by a plateau before each transaction of the substituted tree that is
 * measured and has a duration: how many these are, or -ENOMEM. */
int nm_plan_add_warmups(struct nm_node *root, const struct nm_warmup *warmup);

#endif
