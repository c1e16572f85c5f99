/* SPDX-License-Identifier: Apache-2.0 */
/* A connect whose connections last as long as a law says (life.h). */
#ifndef NM_FLOWOP_LIVING_H
#define NM_FLOWOP_LIVING_H

#include "flowop/flow.h"

/* The step of such a connect. Its connections have the state of those that ask (ask.h). */
enum nm_step nm_living_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *connect);

#endif
