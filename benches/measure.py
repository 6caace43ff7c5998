"""usage: measure.py PROGRAM ARGS...

Runs a program; prints its exit code, seconds, seconds of processor time and peak memory in bytes, of it alone.
"""

import os
import shutil
import sys
import time

program = shutil.which(sys.argv[1])
silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
began = time.perf_counter()
child = os.posix_spawn(program, sys.argv[1:], os.environ, file_actions=silent)
_, status, used = os.wait4(child, 0)
took = time.perf_counter() - began
print(os.waitstatus_to_exitcode(status), took, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
