/* SPDX-License-Identifier: Apache-2.0 */
/* The alarm of a worker that is a process, which ends a phase as if the control thread told the
 * worker to stop. The process itself makes it; a worker without an alarm may set it, which does
 * nothing. */
#ifndef NM_ENGINE_ALARM_H
#define NM_ENGINE_ALARM_H

#include <stdint.h>

struct nm_worker;

/* Makes the alarm; when that fails the worker has none. */
void nm_alarm_open(struct nm_worker *worker);
/* Has the alarm go off at at_ns; 0: not any more. */
void nm_alarm_set(struct nm_worker *worker, uint64_t at_ns);

#endif
