/* SPDX-License-Identifier: Apache-2.0 */
/* Lets one thread go before the others of this process. */
#include "host/priority.h"

#include <sys/resource.h>

#define STEP 10 /* of nice(1): some nine times the share */

/* Linux has a nice value for each thread: setpriority(2), C library/kernel differences. */
int nm_priority_raise(void)
{
	int before = getpriority(PRIO_PROCESS, 0);

	(void)setpriority(PRIO_PROCESS, 0, before - STEP);
	return before;
}

void nm_priority_restore(int before)
{
	(void)setpriority(PRIO_PROCESS, 0, before);
}
