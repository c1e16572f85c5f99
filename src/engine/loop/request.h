/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a request: its outcome is counted and its times are recorded here, and, for the plain
 * request, in the few inline lines of the interpreter. On the worker's thread. */
#ifndef NM_ENGINE_LOOP_REQUEST_H
#define NM_ENGINE_LOOP_REQUEST_H

#include <stdint.h>

struct nm_flow;
struct nm_worker;

/* Ends the flow's request at now_ns (0: passes are not timed): counts it by its outcome, records
 * service time, whole pass and response time where they are kept, and the statistics of the flow.
 * Then the flow's request is the next one, sent at now_ns; the schedule sets when it is due. */
void nm_request_end(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns);

#endif
