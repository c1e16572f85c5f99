/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NM_FLOWOP_DISCONNECT_H
#define NM_FLOWOP_DISCONNECT_H

#include <stdbool.h>

struct nm_instr;

/* Whether instr is a disconnect at which the end that has connected sends a reset, without waiting,
 * and the end that has accepted waits for it. */
bool nm_disconnect_resets(const struct nm_instr *instr);

/* Whether instr is a disconnect at which the end that has connected closes first, in order: its
 * port stays in TIME_WAIT. */
bool nm_disconnect_keeps_port(const struct nm_instr *instr);

/* Whether instr is a disconnect at which the end that has accepted the connection, or the other
 * one, waits for a reset that may be lost. */
bool nm_disconnect_awaits_reset(const struct nm_instr *instr, bool accepted);

#endif
