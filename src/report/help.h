/* SPDX-License-Identifier: Apache-2.0 */
/* The help of options that concern reports. It stands here, since only this room knows which other
 * tool has a form. */
#ifndef NM_REPORT_HELP_H
#define NM_REPORT_HELP_H

#define NM_REPORT_THROUGHPUT_HELP                                                                  \
	"unit of the throughput of a stream in the reports neper and kv: Mb, GiB, auto-b and "     \
	"others of neper's"
#define NM_REPORT_STIME_HELP                                                                       \
	"stime in the report neper is the time that the whole host spends in the system"
#define NM_REPORT_IOSTAT_HELP                                                                      \
	"print a line of what was sent and received to standard output, in the form of neper, "    \
	"each time so much has passed; 0 for none"
#define NM_REPORT_RTT_HELP                                                                         \
	"write how long each of the first passes of each flow took, in the columns of neper"

#endif
