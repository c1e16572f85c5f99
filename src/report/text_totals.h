/* SPDX-License-Identifier: Apache-2.0 */
/* The totals in the summary for people, and forms that its tables share. */
#ifndef NM_REPORT_TEXT_TOTALS_H
#define NM_REPORT_TEXT_TOTALS_H

#include <stdint.h>
#include <stdio.h>

#include "result/result.h"

#define NM_TEXT_BYTES 32 /* room for one value */

/* So much in so many seconds, as a rate a second; "-" where there was no time. Returns buf, of
 * NM_TEXT_BYTES, or a constant. */
const char *nm_text_rate(uint64_t count, double seconds, char *buf);
/* Bits a second of a way that need not be used: "-" when nothing has gone there. As above. */
const char *nm_text_way(uint64_t bytes, double seconds, char *buf);
/* Prints the lines of the totals; width as of a table. */
void nm_text_totals_print(const struct nm_result *result, unsigned width, FILE *out);

#endif
