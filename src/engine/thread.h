/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that takes no signals: the program's own threads take them. */
#ifndef NM_ENGINE_THREAD_H
#define NM_ENGINE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Zero-initialised: no thread. */
struct nm_thread {
	pthread_t id;
	bool started;
};

/* 0 or -errno. stack_bytes 0: the system's choice. */
int nm_thread_start(struct nm_thread *thread, size_t stack_bytes, void *(*run)(void *arg),
		    void *arg);
/* Waits for the end of the thread. Does nothing when there is none. */
void nm_thread_join(struct nm_thread *thread);

#endif
