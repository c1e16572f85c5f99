/* SPDX-License-Identifier: Apache-2.0 */
/* Mean, spread and confidence interval of a few values. */
#include "stats/summary.h"

#include <math.h>

double nm_student_t95(size_t df)
{
	static const double table[] = {12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912,
				       2.364624,  2.306004, 2.262157, 2.228139, 2.200985, 2.178813,
				       2.160369,  2.144787, 2.131450, 2.119905, 2.109816, 2.100922,
				       2.093024,  2.085963, 2.079614, 2.073873, 2.068658, 2.063899,
				       2.059539,  2.055529, 2.051831, 2.048407, 2.045230, 2.042272};
	const double z = 1.959963985;

	if (df <= sizeof table / sizeof *table)
		return table[df - 1];
	/* Cornish-Fisher expansion about the normal quantile; off by less than 1e-5 from here
	 * on. */
	double n = (double)df, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;

	return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
	       (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

void nm_summary_compute(const double *values, size_t n, struct nm_summary *ret_summary)
{
	struct nm_summary s = {.n = n};
	double squares = 0;

	for (size_t i = 0; i < n; i++)
		s.mean += values[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (values[i] - s.mean) * (values[i] - s.mean);
	if (n > 1) {
		s.stddev = sqrt(squares / (double)(n - 1));
		s.has_ci = true;
		s.ci95 = nm_student_t95(n - 1) * s.stddev / sqrt((double)n);
	}
	*ret_summary = s;
}

void nm_summary_of_known(double *values, size_t n, struct nm_summary *ret_summary)
{
	size_t known = 0;

	for (size_t i = 0; i < n; i++)
		if (isfinite(values[i]))
			values[known++] = values[i];
	nm_summary_compute(values, known, ret_summary);
}

void nm_confidence(double whole, const double *parts, size_t n, double *ret_low, double *ret_high)
{
	struct nm_summary summary;
	double half = NAN;

	nm_summary_compute(parts, n, &summary);
	/* Of a part without an end nothing is known. */
	if (summary.has_ci)
		half = isfinite(summary.ci95) ? summary.ci95 : INFINITY;
	*ret_low = isinf(half) ? -INFINITY : whole - half;
	*ret_high = whole + half;
}
