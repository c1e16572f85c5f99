/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker does on the control thread's commands. On the worker's thread. */
#ifndef NM_ENGINE_LOOP_COMMANDS_H
#define NM_ENGINE_LOOP_COMMANDS_H

struct nm_worker;

/* Does what has been told since the last time; nothing when there is nothing new. */
void nm_worker_commands(struct nm_worker *worker);

#endif
