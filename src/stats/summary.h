/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of a figure that was measured several times. */
#ifndef NM_STATS_SUMMARY_H
#define NM_STATS_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>

struct nm_summary {
	size_t n;
	double mean;
	double stddev; /* of the sample (n - 1); 0 with one value */
	bool has_ci;   /* two values at least */
	double ci95;   /* half width of the 95 % confidence interval of the mean, by Student's t */
};

/* Sums up n values; 0 values give an empty summary. */
void nm_summary_compute(const double *values, size_t n, struct nm_summary *ret_summary);
/* The same of those that are numbers, which it moves to the front. */
void nm_summary_of_known(double *values, size_t n, struct nm_summary *ret_summary);

/* Where a figure of the whole is with a confidence of 95 %, by the same figure of n parts of it,
 * one after the other: what lies close together in time is alike, and only parts that are long tell
 * how far it may be off. NaN: not known, of fewer than two parts. */
void nm_confidence(double whole, const double *parts, size_t n, double *ret_low, double *ret_high);

/* The lesser of two figures, of which 0 is one that is not known. */
static inline double nm_least_known(double a, double b)
{
	return b > 0 && (a <= 0 || b < a) ? b : a;
}

/* The two-sided 95 % quantile of Student's t, for df >= 1. */
double nm_student_t95(size_t degrees_of_freedom);

#endif
