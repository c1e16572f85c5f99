# SPDX-License-Identifier: Apache-2.0
# Engines, and whole runs, in a simulated world. libc.c defines the calls of the C library; the sources that make system calls
# themselves are compiled once more so that they go through the library, too.
SIM_PRODUCT = \
	src/control/slave/daemon.c \
	src/control/slave/session.c \
	src/engine/loop/loop.c \
	src/engine/phase/drain.c \
	src/engine/wait/defer.c \
	src/engine/wait/epoll.c \
	src/engine/wait/poll.c \
	src/engine/wait/uring.c \
	src/flowop/abandoned.c \
	src/flowop/ask.c \
	src/flowop/ask_message.c \
	src/flowop/connect.c \
	src/flowop/copy_modes.c \
	src/flowop/datagram.c \
	src/flowop/exchange.c \
	src/flowop/greet.c \
	src/flowop/queue.c \
	src/flowop/read.c \
	src/flowop/recvfile.c \
	src/flowop/sendfile.c \
	src/flowop/serve.c \
	src/flowop/window.c \
	src/flowop/write.c \
	src/transport/errqueue.c \
	src/transport/handshake.c \
	src/transport/io.c
SIM = \
	tests/sim/choices.c \
	tests/sim/choices.def \
	tests/sim/choices.h \
	tests/sim/datagram.c \
	tests/sim/ends.c \
	tests/sim/ends.h \
	tests/sim/fault.c \
	tests/sim/fault.h \
	tests/sim/kernel.c \
	tests/sim/kernel.h \
	tests/sim/lateness.c \
	tests/sim/libc.c \
	tests/sim/libc.h \
	tests/sim/machine.c \
	tests/sim/memory.c \
	tests/sim/memory.h \
	tests/sim/object.h \
	tests/sim/process.c \
	tests/sim/process.h \
	tests/sim/profile.c \
	tests/sim/profile.h \
	tests/sim/run.c \
	tests/sim/run.h \
	tests/sim/socket.c \
	tests/sim/stream.c \
	tests/sim/wait.c \
	tests/sim/world.c \
	tests/sim/world.h
SIM_CPPFLAGS = $(AM_CPPFLAGS) $(NL_CFLAGS) $(XML_CFLAGS) -DNM_SYSCALLS_BY_LIBC=1 -DNM_FORK_SIMULATED=1 \
	-DSIM_PROFILES='"$(abs_top_srcdir)/profiles"'

# Compiled once for all programs, each of which has the whole of it: the calls of the C library are to be those of libc.c.
EXTRA_LIBRARIES = tests/sim/libsim.a
CLEANFILES += tests/sim/libsim.a
tests_sim_libsim_a_SOURCES = $(SIM) $(SIM_PRODUCT)
tests_sim_libsim_a_CPPFLAGS = $(SIM_CPPFLAGS)

tests_sim_test_ends_CPPFLAGS = $(SIM_CPPFLAGS)
tests_sim_test_run_SOURCES = tests/sim/test_run.c tests/sim/shrink.c tests/sim/shrink.h
tests_sim_test_run_CPPFLAGS = $(SIM_CPPFLAGS) -DSIM_KEPT='"$(abs_top_srcdir)/tests/sim/kept.txt"'
EXTRA_DIST += tests/sim/kept.txt
SIM_CONFORM = \
	tests/sim/conform.c \
	tests/sim/conform.h \
	tests/sim/perform.c \
	tests/sim/say.c \
	tests/sim/say.h \
	tests/sim/script.c \
	tests/sim/script.h \
	tests/sim/shrink.c \
	tests/sim/shrink.h
tests_sim_test_conform_SOURCES = tests/sim/test_conform.c $(SIM_CONFORM)
tests_sim_test_conform_CPPFLAGS = $(SIM_CPPFLAGS)
tests_sim_sim_SOURCES = tests/sim/sim.c $(SIM_CONFORM)
tests_sim_sim_CPPFLAGS = $(SIM_CPPFLAGS)
EXTRA_PROGRAMS = tests/sim/sim

SIM_TESTS = tests/sim/test_run tests/sim/test_ends tests/sim/test_conform
tests/sim/sim $(SIM_TESTS): LINK = $(link)
tests/sim/sim $(SIM_TESTS): LDADD = -Wl,--wrap=nm_timers_add,--wrap=nm_timers_take \
	-Wl,--whole-archive,tests/sim/libsim.a,--no-whole-archive \
	$(CHECK_LIBS) $(call archives,$(LIB_LIBS))
tests/sim/sim $(SIM_TESTS): tests/sim/libsim.a $(filter %.la,$(LIB_LIBS))

if HAVE_CHECK
check_PROGRAMS += $(SIM_TESTS)
TESTS += $(SIM_TESTS)
endif
