/* SPDX-License-Identifier: Apache-2.0 */
/* Open arrivals: free flows are run through the passes that are due. On the worker's thread. */
#ifndef NM_ENGINE_LOOP_ARRIVALS_H
#define NM_ENGINE_LOOP_ARRIVALS_H

#include <stdint.h>

struct nm_worker;

/* The timer of open arrivals has fired: free flows make the passes that are due. The phase may
 * end. */
void nm_worker_arrivals(struct nm_worker *worker, uint64_t now_ns);
/* The worker is told to stop a phase with open arrivals. The phase may end. */
void nm_worker_stop_arrivals(struct nm_worker *worker);

#endif
