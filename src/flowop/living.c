/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a connection, and says how long it lasts. */
#include "flowop/living.h"

#include "flowop/ask.h"
#include "flowop/greet.h"

enum nm_step nm_living_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *connect)
{
	bool greets =
		nm_flowop_is_to_server(connect->op, connect->opts) && nm_greets(connect->opts);
	enum nm_step answer = (greets ? nm_greet_step : nm_flowop_connect.step)(io, flow, connect);

	if (answer == NM_STEP_NEXT) {
		nm_life_draw(io, flow, connect, nm_ask_life(io, flow));
		flow->conn->traits |= NM_CONN_LIVES;
	}
	return answer;
}
