/* SPDX-License-Identifier: Apache-2.0 */
/* Units in which a throughput may be shown, by the words that neper has for them. */
#ifndef NM_REPORT_THROUGHPUT_H
#define NM_REPORT_THROUGHPUT_H

/* The word for no unit. */
#define NM_THROUGHPUT_DEFAULT "Mb"

struct nm_throughput_unit {
	const char *word;    /* "Mb" */
	const char *printed; /* "Mbit/s" */
	double bytes_per_s;
};

/* The unit of a word, NULL when there is none of that name (upper and lower case differ). An
 * "auto-" word stands for the unit of its family in which the rate reads best, at worst the
 * smallest or the largest. */
const struct nm_throughput_unit *nm_throughput_unit(const char *word, double bytes_per_s);
/* All words, with blanks between; static. */
const char *nm_throughput_words(void);

#endif
