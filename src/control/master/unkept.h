/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out what kernels were asked to do with all that is sent, took, and have not done: what is
 * missing shows in the figures, whatever the devices on the way are. */
#ifndef NM_CONTROL_MASTER_UNKEPT_H
#define NM_CONTROL_MASTER_UNKEPT_H

struct nm_plan;
struct nm_result;

/* Once the results of all hosts are in. */
void nm_warn_of_unkept(struct nm_result *result, const struct nm_plan *plan);

#endif
