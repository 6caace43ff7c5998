"""usage: measure.py PROGRAM ARGS...

Runs a program; prints its exit code, seconds, seconds of processor time and peak memory in bytes.
"""

import resource
import subprocess
import sys
import time

began = time.perf_counter()
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
took = time.perf_counter() - began
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(code, took, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
