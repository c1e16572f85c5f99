/* SPDX-License-Identifier: Apache-2.0 */
/* The alarm of a worker that is a process, as if the control thread told it to stop. In the process
 * itself; elsewhere there is none, and to set it does nothing. */
#ifndef NM_ENGINE_ALARM_H
#define NM_ENGINE_ALARM_H

#include <stdint.h>

struct nm_worker;

/* Makes the alarm; where that fails there is none. */
void nm_alarm_open(struct nm_worker *worker);
/* It goes off at that time; 0: not any more. */
void nm_alarm_set(struct nm_worker *worker, uint64_t at_ns);

#endif
