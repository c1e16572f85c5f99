/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of write and read over TCP where their options ask for more than send(2) and
 * recv(2). */
#ifndef NM_FLOWOP_COPY_MODES_H
#define NM_FLOWOP_COPY_MODES_H

#include "flowop/flow.h"

/* The step for which the options of a flowop that moves a message ask; NULL: the usual one. sends:
 * of the end that sends. */
nm_step_fn nm_copy_modes_step(const void *opts, bool sends);
/* Counts the sends without a copy that the kernel reports as done. True: there was a report. */
bool nm_copy_modes_drain(const struct nm_io *io, struct nm_conn *conn);
/* The answer of a step whose send without a copy is refused (ENOBUFS) while the kernel has no
 * report for the connection: for a second it tries again. */
enum nm_step nm_copy_modes_nobufs(struct nm_io *io, struct nm_flow *flow);

#endif
