/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the facts of a host, for tests. */
#ifndef NM_HOST_FACTS_PRIV_H
#define NM_HOST_FACTS_PRIV_H

#include <stdbool.h>

enum host__built_in { HOST__NOT_KNOWN, HOST__LEFT_OUT, HOST__BUILT_IN };

/* Whether a kernel can measure the time of interrupts, by a file with its configuration, compressed
 * or not. */
enum host__built_in host__irq_time_built_in(const char *path);
/* Whether it does: "on", "off", or "" where that is not known. stat: of /proc/stat. */
const char *host__irq_accounting(enum host__built_in built_in, const char *command_line,
				 const char *stat);
const char *host__read_irq_accounting(void); /* of this machine */

#endif
