/* SPDX-License-Identifier: Apache-2.0 */
/* The worker obeys the control thread's commands. On the worker's thread. */
#ifndef NM_ENGINE_LOOP_COMMANDS_H
#define NM_ENGINE_LOOP_COMMANDS_H

struct nm_worker;

/* Obeys the commands that have come since the last time. */
void nm_worker_commands(struct nm_worker *worker);

#endif
