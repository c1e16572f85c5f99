/* SPDX-License-Identifier: Apache-2.0 */
/* The result as far as it is known before anything runs: the profile, its parameters, groups and
 * hosts, the options. */
#ifndef NM_CONTROL_MASTER_DESCRIBE_H
#define NM_CONTROL_MASTER_DESCRIBE_H

#include "control/master/master.h"

/* Fills master->result, and the secret of the run. The links get their hosts of the result. 0 or
 * -errno. */
int nm_master_describe(struct nm_master *master);

#endif
