/* SPDX-License-Identifier: Apache-2.0 */
/* The share of the CPU that a thread gets when there are more than it can run. */
#ifndef NM_HOST_PRIORITY_H
#define NM_HOST_PRIORITY_H

/* Lets this thread go before those that it has started, which keep what they have; without the
 * right to, nothing happens. It is for who watches over them and hardly ever runs itself. Returns
 * what nm_priority_restore takes. */
int nm_priority_raise(void);
void nm_priority_restore(int before); /* this thread */

#endif
