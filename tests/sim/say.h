/* SPDX-License-Identifier: Apache-2.0 */
/* What a call says, which is added to a text of SIM_SAY_BYTES in words that both kernels share. */
#ifndef NM_TESTS_SIM_SAY_H
#define NM_TESTS_SIM_SAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define SIM_NOBODY 1 /* a port that nobody has; all others are numbered */

/* Of another script. */
void sim_say_begin(void);
__attribute__((format(printf, 2, 3))) void sim_say(char *say, const char *format, ...);
void sim_say_error(char *say, int error);
/* A number, or the error of errno. True: the call has succeeded. */
bool sim_say_result(char *say, int64_t result);
/* Of what has no number, when it succeeds, that both kernels share. */
bool sim_say_whether(char *say, int64_t result);
void sim_say_bytes(char *say, const char *data, size_t size);
/* Events of epoll or poll. */
void sim_say_mask(char *say, uint32_t mask);
/* Ports are free ones: both kernels number them as they come. */
void sim_say_address(char *say, const struct sockaddr_storage *addr, socklen_t size);

#endif
