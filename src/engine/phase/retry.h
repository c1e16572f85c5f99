/* SPDX-License-Identifier: Apache-2.0 */
/* Servers that are not netmodel: what a flow does when its connection to one ends or fails, or when
 * no answer comes. All on the worker's thread, unless said otherwise. */
#ifndef NM_ENGINE_PHASE_RETRY_H
#define NM_ENGINE_PHASE_RETRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nm_flow;
struct nm_instr;
struct nm_retry;
struct nm_worker;

/* How a number of flows have tried, none of which has begun to: owned, for free(). NULL: out of
 * memory. Any thread. */
struct nm_retry *nm_retry_new(uint32_t n_flows);
/* The flow is about to open a connection anew that has not failed. */
void nm_retry_begin(const struct nm_worker *worker, struct nm_flow *flow);
/* Limits one attempt to open a connection anew, where the profile does not. Any thread. */
void nm_retry_limit(struct nm_instr *opening);
/* When the attempt that the flow makes now, and that is to end at due_ns, has to end. */
uint64_t nm_retry_due_ns(const struct nm_worker *worker, const struct nm_flow *flow,
			 uint64_t due_ns);
/* Whether the instruction opens a connection to such a server, or asks one. */
bool nm_retry_concerns(const struct nm_worker *worker, const struct nm_instr *instr);
/* Such an instruction has failed with flow->error; ended: the stream was over before the request
 * that it begins with next. True: the flow goes on over another connection. */
bool nm_retry_goes_on(struct nm_worker *worker, struct nm_flow *flow, const struct nm_instr *instr,
		      bool ended);
/* The same for one that has waited too long. */
bool nm_retry_expired(struct nm_worker *worker, struct nm_flow *flow, const struct nm_instr *instr);
/* The control thread has told the worker to stop: flows whose attempts to open a connection have
 * failed go on without it, and other attempts must not take long. */
void nm_retry_stop(struct nm_worker *worker);
/* Whether the flow goes on without a connection since the phase was told to stop: it begins no pass
 * any more. */
bool nm_retry_has_left(const struct nm_worker *worker, const struct nm_flow *flow);
/* Why the flow has failed at last; "" where it has not been tried again. */
void nm_retry_why(const struct nm_worker *worker, const struct nm_flow *flow,
		  const struct nm_instr *instr, char *why, size_t why_size);

#endif
