/* SPDX-License-Identifier: Apache-2.0 */
/* A connect to a server whose connections begin with requests of their own (app/session.h): it ends
 * when all of them have been answered. */
#ifndef NM_FLOWOP_GREET_H
#define NM_FLOWOP_GREET_H

#include "flowop/flow.h"
#include "flowop/flowop.h"

/* Whether the connect asks for such requests. */
bool nm_greets(const struct nm_opts_open *connect);
/* The step of a connect that does. Its connections have the state of those that ask (ask.h). */
enum nm_step nm_greet_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *connect);
/* Why it has failed, in a phrase that has nothing of a password. False: for no cause of these
 * requests. */
bool nm_greet_why(const struct nm_io *io, const struct nm_flow *flow,
		  const struct nm_instr *connect, char *buf, size_t size);

#endif
