/* SPDX-License-Identifier: Apache-2.0 */
/* The options of connect and accept. */
#ifndef NM_FLOWOP_OPEN_OPTS_H
#define NM_FLOWOP_OPEN_OPTS_H

#include "base/opt.h"

struct nm_conn;
struct nm_instr;

extern const struct nm_opt nm_open_opts[];

/* Goes on with a connection that is not ready yet: 0 when it is, -EINPROGRESS to wait for output,
 * -EAGAIN for input. */
int nm_open_continue(struct nm_conn *conn, const struct nm_instr *instr);

#endif
