/* SPDX-License-Identifier: Apache-2.0 */
/* Draws how long connections last. */
#include "flowop/life.h"

#include "base/rng.h"
#include "host/clock.h"

/* Tells the draws of the two laws apart. */
enum { REQUESTS, LIFETIME };

bool nm_lives(const struct nm_opts_open *open)
{
	return open->requests.max || open->lifetime.max;
}

/* Both numbers are functions of the seed, the flow, the connect and the connection's number in its
 * place; those of steps are made otherwise (nm_step_key). */
void nm_life_draw(const struct nm_io *io, const struct nm_flow *flow,
		  const struct nm_instr *connect, struct nm_life *life)
{
	const struct nm_opts_open *opts = connect->opts;
	uint64_t key = nm_rng(~nm_rng(io->seed, flow->index), connect->opening);
	uint32_t n = life->drawn++;

	nm_counter_add(&io->count->retired, life->end_ns == NM_LIFE_ENDED);

	life->opening = connect->opening;
	life->left = (uint32_t)nm_law_draw(&opts->requests, nm_rng(key, REQUESTS), n);
	life->end_ns = nm_law_draw(&opts->lifetime, nm_rng(key, LIFETIME), n);
	if (life->end_ns)
		life->end_ns += nm_clock_ns();
}

bool nm_life_ends(const struct nm_conn *conn, struct nm_life *life)
{
	bool ends = nm_life_may_be_over(conn, life) && nm_clock_ns() >= life->end_ns;

	if (ends)
		nm_life_end(life);
	return ends;
}
