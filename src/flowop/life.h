/* SPDX-License-Identifier: Apache-2.0 */
/* How long a connection that asks lasts, by the options `requests` and `lifetime` of its connect:
 * when it is over, the connection is closed before the next request, and opened anew. Used by the
 * flow's worker. */
#ifndef NM_FLOWOP_LIFE_H
#define NM_FLOWOP_LIFE_H

#include <stdbool.h>
#include <stdint.h>

#include "flowop/flow.h"
#include "flowop/flowop.h"

/* Of one connection after the other in the same place. */
struct nm_life {
	uint64_t end_ns;  /* 0: no time ends it; NM_LIFE_OVER: its last request has been answered */
	uint32_t left;	  /* requests until then; 0: no number of them ends it */
	uint32_t drawn;	  /* connections so far */
	uint32_t opening; /* the one that it was opened by: see struct nm_instr */
};
#define NM_LIFE_OVER  1u
#define NM_LIFE_ENDED 2u /* it is being replaced */

/* Whether connections last as long as a law says. */
bool nm_lives(const struct nm_opts_open *open);
/* A connection has been opened: draws how long it lasts, and counts the one before it if its life
 * was over: in the same window as the opening. */
void nm_life_draw(const struct nm_io *io, const struct nm_flow *flow,
		  const struct nm_instr *connect, struct nm_life *life);

/* A request has been answered. */
static inline void nm_life_spend(struct nm_life *life)
{
	if (life->left && !--life->left)
		life->end_ns = NM_LIFE_OVER;
}

/* Whether a further request may be sent over the connection, where so many have no answer, as the
 * number of its requests says. */
static inline bool nm_life_allows(const struct nm_life *life, uint32_t outstanding)
{
	return !life->left || outstanding < life->left;
}

/* Whether the connection is to be replaced from end_ns on. One that has carried no request is not:
 * where lives are shorter than a round over the flows, no request would ever be sent. */
static inline bool nm_life_may_be_over(const struct nm_conn *conn, const struct nm_life *life)
{
	const uint32_t used = NM_CONN_LIVES | NM_CONN_ANSWERED;

	return (conn->traits & used) == used && life->end_ns;
}

/* The connection is replaced now, by the caller. */
static inline void nm_life_end(struct nm_life *life)
{
	life->end_ns = NM_LIFE_ENDED;
}

/* Whether it is to be replaced now, which the caller does. */
bool nm_life_ends(const struct nm_conn *conn, struct nm_life *life);

#endif
