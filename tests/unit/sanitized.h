/* SPDX-License-Identifier: Apache-2.0 */
/* NM_SANITIZED: the address sanitizer watches, which has an allocator of its own, and is slow.
 * NM_UNWATCHED: a function that the sanitizer itself calls before it can watch. */
#ifndef NM_TESTS_UNIT_SANITIZED_H
#define NM_TESTS_UNIT_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__)
#define NM_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NM_SANITIZED 1
#endif
#endif

#define NM_UNWATCHED __attribute__((no_sanitize("address")))

#endif
