/* SPDX-License-Identifier: Apache-2.0 */
/* The share of the CPU that a thread gets when there are more than it can run. */
#ifndef NM_HOST_PRIORITY_H
#define NM_HOST_PRIORITY_H

/* Lets this thread go before the threads that it has started, which keep their priority; without
 * the right to, nothing happens. It is for a thread that watches over the others and hardly ever
 * runs itself. Returns the priority before, for nm_priority_restore. */
int nm_priority_raise(void);
void nm_priority_restore(int before); /* this thread */

#endif
