/* SPDX-License-Identifier: Apache-2.0 */
/* A slave, as the master sees it. */
#ifndef NM_CONTROL_MASTER_LINK_H
#define NM_CONTROL_MASTER_LINK_H

#include <stdint.h>

#include "control/clock_sync.h"
#include "control/master/claims.h"
#include "control/master/embedded.h"
#include "control/master/losses.h"
#include "control/peer.h"
#include "engine/places.h"
#include "plan/plan.h"
#include "result/result.h"

struct nm_link {
	struct nm_peer peer; /* fd -1: not connected, or no more */
	uint32_t host;	     /* in the plan */
	const char *name;    /* borrowed from the plan */
	struct nm_addr remote, local;
	struct nm_plan *mirror; /* the plan of the slave, as it compiles it; owned */
	struct nm_embedded embedded;
	struct nm_clock_sync clock;
	uint64_t opened_ns; /* when it was greeted */
	uint64_t pinged_ns; /* the time in the ping that has not been answered yet; 0: none */
	uint64_t told_ns;   /* when the slave was told to begin the present phase */
	struct nm_claims claims;
	struct nm_counts done; /* of all phases that the slave has told to be over */
	/* The reason why the present message is wrong, if its handler can give one; static, or
	 * NULL. */
	const char *wrong;
	bool places_asked, places_told; /* where its flows are */
	struct nm_flow_places places;	/* once it has told */
	uint64_t progress;		/* as it was last told */
	uint32_t *told_renewals;	/* by group: the nm_engine_reconnects told last; owned */
	struct nm_losses_count *losses; /* by group; owned */
	struct nm_result_host *result;	/* borrowed from the result */
};

#endif
