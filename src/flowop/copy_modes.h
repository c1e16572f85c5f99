/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of write and read over TCP where their options ask for more than send(2) and
 * recv(2). */
#ifndef NM_FLOWOP_COPY_MODES_H
#define NM_FLOWOP_COPY_MODES_H

#include "flowop/flow.h"

/* The step that the options of a flowop that moves a message ask for; NULL: the usual. sends: it is
 * the end that sends. */
nm_step_fn nm_copy_modes_step(const void *opts, bool sends);
/* Counts what the kernel has told about sends without a copy. True when there was something. */
bool nm_copy_modes_drain(const struct nm_io *io, struct nm_conn *conn);
/* What a step answers when a send without a copy is refused (ENOBUFS) and the kernel has nothing to
 * tell about the connection: it tries again, for a second. */
enum nm_step nm_copy_modes_nobufs(struct nm_io *io, struct nm_flow *flow);

#endif
