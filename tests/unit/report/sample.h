/* SPDX-License-Identifier: Apache-2.0 */
/* A result made by hand, for the tests of reports. */
#ifndef NM_TEST_SAMPLE_H
#define NM_TEST_SAMPLE_H

#include "report/report.h"

/* Two groups, a master and two slaves, three intervals; complete, counts agree. Owned. */
struct nm_result *sample_result(void);
/* What a report writes of it; owned, never NULL. */
char *sample_write(const char *format, const struct nm_runs *series);
/* One run as a series, borrowed from *run. */
struct nm_runs sample_series(struct nm_result **run);
/* Gives the window measured flows of all sizes. */
void sample_add_flows(struct nm_window *window);

#endif
