/* SPDX-License-Identifier: Apache-2.0 */
/* The meanings that throughput may have in a profile. */
#ifndef NM_PLAN_THROUGHPUT_H
#define NM_PLAN_THROUGHPUT_H

enum nm_throughput {
	NM_THROUGHPUT_AUTO, /* bits, when all the data goes one way */
	NM_THROUGHPUT_BITS,
	NM_THROUGHPUT_TRANSACTIONS,
};

#endif
