/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that grows while a file is read. */
#ifndef NM_PLAN_GROW_H
#define NM_PLAN_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Makes room for twice as many items, or for the first 4096. False when out of memory: what is
 * there stays. */
static inline bool nm_grow(void **at, size_t item, size_t *room)
{
	size_t more = *room ? 2 * *room : 4096;
	void *grown = realloc(*at, more * item);

	if (!grown)
		return false;
	*at = grown;
	*room = more;
	return true;
}

#endif
