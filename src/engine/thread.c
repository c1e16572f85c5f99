/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that take no signals. */
#include "engine/thread.h"

#include "host/signals.h"

int nm_thread_start(struct nm_thread *thread, size_t stack_bytes, void *(*run)(void *arg),
		    void *arg)
{
	pthread_attr_t attr;
	sigset_t before;
	int r = pthread_attr_init(&attr);

	if (r != 0)
		return -r;
	if (stack_bytes)
		r = pthread_attr_setstacksize(&attr, stack_bytes);
	if (r == 0) {
		nm_signals_block(&before);
		r = pthread_create(&thread->id, &attr, run, arg);
		nm_signals_restore(&before);
	}
	(void)pthread_attr_destroy(&attr);
	thread->started = r == 0;
	return -r;
}

void nm_thread_join(struct nm_thread *thread)
{
	if (thread->started)
		(void)pthread_join(thread->id, NULL);
	thread->started = false;
}
