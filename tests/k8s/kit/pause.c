// SPDX-License-Identifier: Apache-2.0
// What holds the namespaces of a pod: waits until it is told to end.
#include <signal.h>
#include <unistd.h>

static void end(int number)
{
	(void)number;
	_exit(0);
}

int main(void)
{
	signal(SIGTERM, end);
	signal(SIGINT, end);
	for (;;)
		pause();
}
